// The statistics of a report: means over seeds, differences from a baseline with simultaneous intervals
// (family.h), what they establish, in sentences, and the recommendation. The paired differences of the
// paper's tables are kept too; pairs are formed only where both runs of a seed exist.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "longtail/report/family.h"
#include "longtail/report/recommendation.h"
#include "longtail/report/results.h"
#include "longtail/report/stats.h"

namespace longtail::report {

struct SummaryOptions {
  std::string baseline;  // the text of a series; empty: uniform, or the first one
  Deviation deviation = Deviation::kPopulation;
  At at = At::kBest;
  Goal goal = Goal::kBalanced;
  std::optional<LookPlan> looks{};  // the runs are those of a race: the recommendation says what it decided
};

struct Average {
  double mean = 0;
  double deviation = 0;
  int seeds = 0;
};

// One series against the baseline, in one condition, by one metric.
struct Comparison {
  Series series{};
  Condition condition{};
  Metric metric = Metric::kOverall;
  std::vector<std::int64_t> seeds{};
  std::vector<double> differences{};  // series minus baseline, one per seed
  double mean = 0;
  int agreement = 0;  // seeds with the most common sign
  // By least squares over all runs of the condition, with the interval of its family's method. If no run is
  // missing, the difference is the mean.
  double difference = 0, low = 0, high = 0;
  Method method = Method::kNone;
  Judgement judgement = Judgement::kCannotTell;
  // An extra check, only with kSeedsForTests pairs or more.
  std::optional<double> p{};
  std::optional<double> holm_p{};
  std::optional<Interval> interval{};

  int pairs() const { return static_cast<int>(differences.size()); }
  bool unanimous() const { return agreement == pairs(); }
  bool established() const { return judgement == Judgement::kEstablished; }
};

struct Finding {
  std::string sentence{};
  bool established = false;
  Condition condition{};
  Metric metric = Metric::kOverall;
  Series series{};
};

// What is recommended in a condition.
struct Answer {
  Condition condition{};
  Recommendation recommendation{};
};

// A family of comparisons and what it is about.
struct FamilyOf {
  Condition condition{};
  Metric metric = Metric::kOverall;
  std::vector<Series> series{};  // in the order of the family's standings
  Family family{};
};

struct Summary {
  SummaryOptions options;
  Series baseline;
  bool balanced_apart = false;          // balanced accuracy differs from overall
  Goal goal = Goal::kBalanced;          // used for the answers: overall if balanced accuracy is not known
  std::vector<FamilyOf> families;       // by condition, metric
  std::map<Condition, Family> worst;    // for the goal `worst`, which is no metric: its own families
  std::vector<Comparison> comparisons;  // by condition, series, metric
  std::vector<Answer> answers;          // the most imbalanced condition first
  std::vector<std::string> leads;       // their sentences; none if there is one series only
  std::vector<Finding> findings;        // one sentence per comparison, in the same order
  std::vector<std::string> remarks;     // about the statistics themselves

  // Whether the report shows a metric: balanced accuracy not where it is the same as overall accuracy.
  bool shows(Metric metric) const { return metric != Metric::kBalanced || balanced_apart; }
};

Average average(const Results& results, const Series& series, const Condition& condition, Metric metric,
                const SummaryOptions& options);

// The series with the highest mean, more than one if they share it.
std::vector<Series> leaders(const Results& results, const Condition& condition, Metric metric,
                            const SummaryOptions& options);

// The table that a family of comparisons is made from: the series that have a run in the condition.
SeedTable seed_table(const Results& results, const Condition& condition, Metric metric, At at);
// What `recommend` is asked: the goal's table and the groups' in one condition.
Question question_of(const Results& results, const Condition& condition, const Series& baseline,
                     const SummaryOptions& options);

// One sentence per comparison; remarks about the statistics themselves. (findings.cc)
Finding finding_of(const Comparison& comparison, const Series& baseline);
std::vector<std::string> remarks_of(const Results& results, const Summary& summary);

// Throws an Error if the baseline is not a series of the results.
Summary summarise(const Results& results, const SummaryOptions& options);

const Comparison* find_comparison(const Summary& summary, const Series& series, const Condition& condition,
                                  Metric metric);

}  // namespace longtail::report
