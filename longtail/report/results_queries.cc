// What is asked of results once they are read (results.cc): names and values.
#include <algorithm>
#include <array>
#include <cmath>

#include "longtail/report/results.h"

namespace longtail::report {

std::string_view metric_name(Metric metric) {
  return std::array<std::string_view, 5>{"overall", "head", "medium", "tail",
                                         "balanced"}[static_cast<std::size_t>(metric)];
}

std::string_view metric_title(Metric metric) {
  return std::array<std::string_view, 5>{"Overall", "Head", "Medium", "Tail",
                                         "Balanced"}[static_cast<std::size_t>(metric)];
}

std::string_view select_name(Select select) {
  return std::array<std::string_view, 4>{"log", "overall", "balanced",
                                         "tail"}[static_cast<std::size_t>(select)];
}

double accuracy(const RunResult& run, Metric metric, At at) {
  if (at == At::kLast && !run.last) return std::nan("");
  return (at == At::kBest ? run.best : *run.last)[static_cast<std::size_t>(metric)];
}

const RunResult* Results::find(const Series& one, const Condition& condition, std::int64_t seed) const {
  for (const RunResult& run : runs) {
    if (run.seed == seed && run.series == one && run.condition == condition) return &run;
  }
  return nullptr;
}

std::vector<Series> Results::series_in(const Condition& condition) const {
  std::vector<Series> there;
  for (const Series& one : series) {
    if (std::any_of(seeds.begin(), seeds.end(), [&](auto seed) { return find(one, condition, seed); }))
      there.push_back(one);
  }
  return there;
}

const RunResult* Results::example(const Condition& condition) const {
  const RunResult* found = nullptr;
  for (const RunResult& run : runs) {
    if (!run.log || run.condition != condition) continue;
    if (!run.log->parent) return &run;  // a rebalanced one has no training to show
    if (!found) found = &run;
  }
  return found;
}

std::vector<double> Results::values(const Series& one, const Condition& condition, Metric metric,
                                    At at) const {
  std::vector<double> all;
  for (std::int64_t seed : seeds) {
    const RunResult* run = find(one, condition, seed);
    if (run && std::isfinite(accuracy(*run, metric, at))) all.push_back(accuracy(*run, metric, at));
  }
  return all;
}

bool Results::balanced_apart() const {
  return std::any_of(runs.begin(), runs.end(), [](const RunResult& run) {
    // Published numbers are rounded to two decimals.
    return std::abs(accuracy(run, Metric::kBalanced, At::kBest) -
                    accuracy(run, Metric::kOverall, At::kBest)) > 0.011;
  });
}

std::vector<Metric> Results::metrics() const {
  std::vector<Metric> all(kMetrics.begin(), kMetrics.end());
  if (balanced_apart()) all.insert(all.begin() + 1, Metric::kBalanced);
  return all;
}

bool Results::has_logs() const {
  return std::any_of(runs.begin(), runs.end(), [](const RunResult& run) { return run.log != nullptr; });
}

int Results::epochs() const {
  int most = 0;
  for (const RunResult& run : runs) most = std::max(most, run.log ? run.log->epochs() : 0);
  return most;
}

}  // namespace longtail::report
