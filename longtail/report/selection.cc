// Which epoch of a run counts as its best, and what selected it.
#include <fmt/format.h>

#include <cmath>

#include "longtail/report/results.h"

namespace longtail::report {
namespace {

// Balanced accuracy by epoch. If a log lacks it, the overall accuracy serves where the two are equal.
std::vector<double> balanced_curve(const train::RunLog& log) {
  if (!log.balanced_acc.empty()) return log.balanced_acc;
  return std::abs(log.best.balanced - log.best.accuracy.overall) < 0.011 ? log.test_acc
                                                                         : std::vector<double>{};
}

std::optional<Metric> metric_called(std::string_view name) {
  for (const Metric metric : {Metric::kOverall, Metric::kBalanced, Metric::kTail}) {
    if (metric_name(metric) == name) return metric;
  }
  return std::nullopt;  // the last epoch
}

}  // namespace

void detail::select_epoch(RunResult& run, Select select, std::vector<std::string>& warnings) {
  if (!run.log) return;
  const train::RunLog& log = *run.log;
  run.chosen_by = metric_called(log.selected_by);
  run.chosen_on_test = log.selected_on == "test";
  if (select == Select::kAsLogged) return;
  const std::vector<double> balanced = balanced_curve(log);
  const std::vector<double>& by = select == Select::kOverall    ? log.test_acc
                                  : select == Select::kBalanced ? balanced
                                                                : log.tail_acc;
  std::size_t best = by.size();
  for (std::size_t e = 0; e < by.size(); ++e) {
    if (std::isfinite(by[e]) && (best == by.size() || by[e] > by[best])) best = e;
  }
  if (best == by.size()) {
    warnings.push_back(fmt::format("{}: does not tell {} accuracy by epoch; its own best epoch is taken.",
                                   run.source, select == Select::kBalanced ? "balanced" : "tail"));
    return;
  }
  run.chosen_by = metric_called(select_name(select));
  run.chosen_on_test = true;
  run.best = {log.test_acc[best], log.head_acc[best], log.medium_acc[best], log.tail_acc[best],
              balanced.empty() ? std::nan("") : balanced[best]};
}

}  // namespace longtail::report
