// The tables of a report. Each function gives a table, or none where the results cannot fill it (a CSV has no
// class counts, no epochs and no configuration).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "longtail/report/results.h"
#include "longtail/report/summary.h"
#include "longtail/report/table.h"

namespace longtail::report {

// The result of a run with a log, at the epoch that counts.
const train::FullResult& result_of(const RunResult& run, At at);
// What the log calls a class; "class 7" where it has no name.
std::string class_name(const train::RunLog& log, std::size_t k);

std::optional<Table> dataset_table(const Results& results);
std::optional<Table> group_counts_table(const Results& results);
Table overall_table(const Results& results, const SummaryOptions& options);
// The same for balanced accuracy; none where that equals overall accuracy.
std::optional<Table> balanced_table(const Results& results, const SummaryOptions& options);
// Every difference from the baseline and from the best with its simultaneous interval.
std::optional<Table> intervals_table(const Summary& summary, const Condition& condition);
// Seed noise and test-set noise of one run, by metric; none without confusion matrices. (tables_noise.cc)
std::optional<Table> noise_table(const Results& results, const Summary& summary, const Condition& condition);
// The standard deviation, in points, of an accuracy due to the choice of test images. NaN if the log does not
// say how many there were.
double test_noise(const train::RunLog& log, const train::FullResult& result, Metric metric);
// Every class with Wilson's interval; none for more than 30 classes or five series, which classes_csv still
// lists. (tables_images.cc)
std::optional<Table> classes_table(const Results& results, const Summary& summary,
                                   const Condition& condition);
std::string classes_csv(const Results& results, At at);
// The strategies against the baseline on the same test images; none without files of predictions.
std::optional<Table> image_pairs_table(const Results& results, const Summary& summary,
                                       const Condition& condition);
// Wilson's 95% interval of a share seen in `count` images.
Interval wilson(double share, double count);
Table groups_table(const Results& results, const Condition& condition, const SummaryOptions& options,
                   bool deviations);
Table per_seed_table(const Results& results, const SummaryOptions& options);
Table per_seed_groups_table(const Results& results, const Condition& condition,
                            const SummaryOptions& options);
// The differences from the baseline by seed: of one series, or of all in one condition. (tables_paired.cc)
std::optional<Table> paired_table(const Results& results, const Summary& summary, const Series& series);
std::optional<Table> all_pairs_table(const Results& results, const Summary& summary,
                                     const Condition& condition);
// One line per series, the best first, with half the width of the intervals: still readable when there are
// many series.
std::optional<Table> differences_table(const Results& results, const Summary& summary,
                                       const Condition& condition);
// More series than get sentences and tables of their own.
inline bool many_series(const Results& results) { return results.series.size() > 7; }
std::optional<Table> best_final_table(const Results& results, const SummaryOptions& options);
std::optional<Table> calibration_table(const Results& results, const SummaryOptions& options);
// The accuracy of every class, the most frequent first. The three tables of classes are in tables_classes.cc;
// they need logs, and the last two need confusion matrices.
std::optional<Table> every_class_table(const Results& results, const Condition& condition,
                                       const SummaryOptions& options);
// Where the images of head, medium and tail go.
std::optional<Table> group_confusion_table(const Results& results, const Condition& condition,
                                           const SummaryOptions& options);
// The classes that are most often mistaken for one other class.
std::optional<Table> worst_pairs_table(const Results& results, const Condition& condition,
                                       const SummaryOptions& options);
// The confusion matrices of all seeds added up.
struct Confusion {
  int runs = 0;
  std::vector<std::vector<std::int64_t>> counts{};  // [true][predicted]; empty if no log has one
};
Confusion confusion_of(const Results& results, const Series& series, const Condition& condition, At at);
std::optional<Table> training_table(const Results& results);
std::optional<Table> bias_variance_table(const Results& results);

// All tables that can be made, in the order of a paper.
std::vector<Table> all_tables(const Results& results, const Summary& summary);

}  // namespace longtail::report
