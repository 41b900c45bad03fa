// The statistics of a report: means over seeds, paired differences against a baseline, and what they
// establish, said in sentences. Pairs are formed only where both runs of a seed exist.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "longtail/report/results.h"
#include "longtail/report/stats.h"

namespace longtail::report {

struct SummaryOptions {
  std::string baseline;  // a series; empty: uniform, or the first one
  Deviation deviation = Deviation::kPopulation;
  At at = At::kBest;
};

struct Average {
  double mean = 0;
  double deviation = 0;
  int seeds = 0;
};

// One series against the baseline, in one condition, by one metric.
struct Comparison {
  std::string series{};
  std::string condition{};
  Metric metric = Metric::kOverall;
  std::vector<std::int64_t> seeds{};
  std::vector<double> differences{};  // series minus baseline, one a seed
  double mean = 0;
  int agreement = 0;  // seeds that share the sign most have
  // Only from kSeedsForTests pairs on.
  std::optional<double> p{};
  std::optional<double> holm_p{};
  std::optional<Interval> interval{};

  int pairs() const { return static_cast<int>(differences.size()); }
  bool unanimous() const { return agreement == pairs(); }
  // The direction is supported: by every seed where there are too few for a test (and at least three), by the
  // corrected p-value otherwise.
  bool established() const;
};

struct Finding {
  std::string sentence{};
  bool established = false;
  std::string condition{};
  Metric metric = Metric::kOverall;
  std::string series{};
};

struct Summary {
  SummaryOptions options;
  std::string baseline;
  std::vector<Comparison> comparisons;  // by condition, series, metric
  std::vector<std::string> leads;       // who is first where, in a sentence a condition
  std::vector<Finding> findings;        // a sentence a comparison, in the same order
  std::vector<std::string> remarks;     // about the statistics themselves
};

Average average(const Results& results, const std::string& series, const std::string& condition,
                Metric metric, const SummaryOptions& options);

// The series with the highest mean, more than one if they share it.
std::vector<std::string> leaders(const Results& results, const std::string& condition, Metric metric,
                                 const SummaryOptions& options);

// Throws an Error if the baseline is not a series of the results.
Summary summarise(const Results& results, const SummaryOptions& options);

const Comparison* find_comparison(const Summary& summary, const std::string& series,
                                  const std::string& condition, Metric metric);

}  // namespace longtail::report
