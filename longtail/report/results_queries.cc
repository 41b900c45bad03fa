// Queries on results that have been read (results.cc): names and values.
#include <algorithm>
#include <array>
#include <cmath>

#include "longtail/data/groups.h"
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

std::optional<double> Results::gap(const Series& one, const Condition& condition, Metric metric) const {
  std::vector<double> best, last;
  for (const std::int64_t seed : seeds) {
    const RunResult* run = find(one, condition, seed);
    if (!run) continue;
    const double first = accuracy(*run, metric, At::kBest), second = accuracy(*run, metric, At::kLast);
    if (!std::isfinite(first) || !std::isfinite(second)) continue;
    best.push_back(first);
    last.push_back(second);
  }
  if (best.empty()) return std::nullopt;
  return mean(best) - mean(last);
}

bool Results::untested(const Condition& condition, Metric group) const {
  const RunResult* run = example(condition);
  if (!run || group == Metric::kOverall || group == Metric::kBalanced) return false;
  const std::vector<std::int64_t>& counts = run->log->class_counts;
  const std::vector<double>& accuracies = run->log->best.per_class;
  const std::vector<data::Group> groups = data::Groups::parse(run->log->groups).of(counts);
  bool any = false;
  for (std::size_t k = 0; k < counts.size(); ++k) {
    if (counts[k] == 0 || data::kGroupNames[static_cast<std::size_t>(groups[k])] != metric_name(group))
      continue;
    if (k < accuracies.size() && std::isfinite(accuracies[k])) return false;
    any = true;
  }
  return any;
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
