// What a report is made of: the results of runs, from our logs, the paper's logs or a CSV, sorted into a grid
// of series x conditions (keys.h) x seeds. A file that cannot be used is named in a warning and left out; the
// rest is reported.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "longtail/report/keys.h"
#include "longtail/report/names.h"
#include "longtail/report/stats.h"
#include "longtail/train/run_log.h"

namespace longtail::report {

enum class Metric { kOverall = 0, kHead = 1, kMedium = 2, kTail = 3, kBalanced = 4 };
// The paper's, in the order of its tables.
inline constexpr std::array<Metric, 4> kMetrics = {Metric::kOverall, Metric::kHead, Metric::kMedium,
                                                   Metric::kTail};
std::string_view metric_name(Metric metric);   // "overall"
std::string_view metric_title(Metric metric);  // "Overall"

// Accuracies in percent; NaN for a group without classes. Balanced is the mean over classes.
using Accuracies = std::array<double, 5>;

enum class At { kBest, kLast };  // the epoch with the best accuracy (the paper's protocol), or the last one

struct RunResult {
  std::string source{};    // the file it came from
  std::string strategy{};  // as in the log
  double rho = 0;
  std::int64_t seed = 0;
  Accuracies best{};
  std::optional<Accuracies> last{};             // a CSV has only one result per run
  std::map<std::string, std::string> config{};  // empty from a CSV
  std::shared_ptr<const train::RunLog> log{};   // null from a CSV
  bool under_way = false;                       // not finished yet
  // The accuracy that chose the best epoch; `chosen_on_test` says on which images. None: the log calls the
  // last epoch the best, or the run came from a CSV.
  std::optional<Metric> chosen_by{};
  bool chosen_on_test = true;

  Series series{};
  Condition condition{};
};

// Which epoch of a run counts as its best: the one its log says, or the first with the highest overall,
// balanced or tail accuracy on the test images.
enum class Select { kAsLogged, kOverall, kBalanced, kTail };
std::string_view select_name(Select select);  // "log", "overall"

struct ReadOptions {
  Select select = Select::kAsLogged;
  // Runs are compared only at the same number of epochs: the most common one, or this one. 0: each number of
  // epochs is its own series.
  std::optional<int> epochs;
  bool unfinished = false;  // also read the logs of runs that are under way
  Names names{};            // (names.h)
};

class Results {
 public:
  std::vector<RunResult> runs;
  std::vector<Series> series;         // in the paper's order, then by name
  Series plainest;                    // of the first strategy, the one nearest to the default parameters
  std::vector<Condition> conditions;  // ascending rho; each has a slug of its own
  std::vector<std::int64_t> seeds;    // ascending
  Select select = Select::kAsLogged;  // how the best epoch of the runs was chosen, if not by their logs
  std::vector<std::string> varying;   // parameters other than the strategy that differ between runs
  std::vector<std::string> warnings;
  // One number for each series in a condition, as in family.h: those with the same number share a training.
  std::map<Condition, std::vector<int>> trainings;

  const RunResult* find(const Series& series, const Condition& condition, std::int64_t seed) const;
  // The series that have a run in the condition.
  std::vector<Series> series_in(const Condition& condition) const;
  // Any run of the condition that has a log; null if all came from a CSV.
  const RunResult* example(const Condition& condition) const;
  // The values over seeds; seeds without a value are left out.
  std::vector<double> values(const Series& series, const Condition& condition, Metric metric, At at) const;
  // The mean of the best epochs minus that of the last, over seeds that have both; none without such a seed.
  std::optional<double> gap(const Series& series, const Condition& condition, Metric metric) const;
  // Whether the group (head, medium or tail) has classes with training images but none of them has a test
  // image; false where no log tells.
  bool untested(const Condition& condition, Metric group) const;
  // Whether the mean over classes differs from the overall accuracy: not so if every class has the same
  // number of test images. False where it is not known.
  bool balanced_apart() const;
  // The metrics that differ: the paper's, and balanced accuracy second if balanced_apart().
  std::vector<Metric> metrics() const;
  bool has_logs() const;
  int epochs() const;  // of the runs reported; 0 without logs
};

// Folders (a study with runs/*/log.json, or a folder of *.json), single logs and CSV files. An Error only if
// nothing at all can be read.
Results read_results(std::span<const std::filesystem::path> paths, const ReadOptions& options = {});

// The CSV `rho,strategy,seed,overall,head,medium,tail`, with a last column `data` if there are several data
// sets or groups; an empty cell is an empty group. `warnings` name the lines that are wrong.
std::vector<RunResult> read_csv(std::string_view text, const std::string& source,
                                std::vector<std::string>& warnings);

double accuracy(const RunResult& run, Metric metric, At at);

// The part of the name of a series after the strategy, from the settings that vary: "mixup:alpha=1,
// rebalance=crt".
std::string beside_strategy(const std::map<std::string, std::string>& settings);

namespace detail {
// Sets the accuracies to those of the selected epoch, or of the log's own best epoch if the log lacks them.
// (selection.cc)
void select_epoch(RunResult& run, Select select, std::vector<std::string>& warnings);
// Names series and conditions, drops duplicates and odd epochs, sorts: everything after reading.
Results arrange(std::vector<RunResult> runs, std::vector<std::string> warnings, const ReadOptions& options);
// The value of a run for a parameter, or its engine, or the epochs of its training; empty if that is not
// known.
std::string value_of(const RunResult& run, const std::string& key);
// Warns of runs of a condition that differ in more than their series. (pairs.cc)
void check_pairs(const Results& results, std::vector<std::string>& warnings);
// Which series of a condition share a training, by what their logs say. (trainings.cc)
std::vector<int> trainings_in(const Results& results, const Condition& condition);
}  // namespace detail

}  // namespace longtail::report
