// What is asked of results once they are read (results.cc): names, titles and values.
#include <algorithm>
#include <array>
#include <cmath>

#include "longtail/report/results.h"
#include "longtail/sampling/shown.h"

namespace longtail::report {

std::string_view metric_name(Metric metric) {
  return std::array<std::string_view, 5>{"overall", "head", "medium", "tail",
                                         "balanced"}[static_cast<std::size_t>(metric)];
}

std::string_view metric_title(Metric metric) {
  return std::array<std::string_view, 5>{"Overall", "Head", "Medium", "Tail",
                                         "Balanced"}[static_cast<std::size_t>(metric)];
}

double accuracy(const Run& run, Metric metric, At at) {
  if (at == At::kLast && !run.last) return std::nan("");
  return (at == At::kBest ? run.best : *run.last)[static_cast<std::size_t>(metric)];
}

std::string series_title(std::string_view series) {
  const std::string title = sampling::strategy_title(series);
  // Parameters of the strategy and of the run go into one pair of brackets.
  std::string rest(series.substr(sampling::strategy_name(series).size()));
  if (!rest.starts_with(':')) return title + rest;
  const std::size_t more = rest.find(" (");
  if (more == std::string::npos) return title + " (" + rest.substr(1) + ")";
  return title + " (" + rest.substr(1, more - 1) + ", " + rest.substr(more + 2);
}

std::string condition_title(std::string_view condition) {
  const std::size_t comma = condition.rfind(", ");
  if (comma == std::string_view::npos) return "ρ = " + std::string(condition);
  return std::string(condition.substr(0, comma + 2)) + "ρ = " + std::string(condition.substr(comma + 2));
}

std::string Results::strategy_of(std::string_view series_name) const {
  if (const auto found = strategies.find(series_name); found != strategies.end()) return found->second;
  for (const Run& run : runs) {
    if (run.series == series_name) return run.strategy;
  }
  return "";
}

const Run* Results::find(std::string_view series_name, std::string_view condition, std::int64_t seed) const {
  for (const Run& run : runs) {
    if (run.seed == seed && run.series == series_name && run.condition == condition) return &run;
  }
  return nullptr;
}

const Run* Results::example(std::string_view condition) const {
  for (const Run& run : runs) {
    if (run.log && run.condition == condition) return &run;
  }
  return nullptr;
}

std::vector<double> Results::values(std::string_view series_name, std::string_view condition, Metric metric,
                                    At at) const {
  std::vector<double> all;
  for (std::int64_t seed : seeds) {
    const Run* run = find(series_name, condition, seed);
    if (run && std::isfinite(accuracy(*run, metric, at))) all.push_back(accuracy(*run, metric, at));
  }
  return all;
}

bool Results::balanced_apart() const {
  return std::any_of(runs.begin(), runs.end(), [](const Run& run) {
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
  return std::any_of(runs.begin(), runs.end(), [](const Run& run) { return run.log != nullptr; });
}

int Results::epochs() const {
  int most = 0;
  for (const Run& run : runs) most = std::max(most, run.log ? run.log->epochs() : 0);
  return most;
}

}  // namespace longtail::report
