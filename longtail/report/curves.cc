#include "longtail/report/curves.h"

#include <algorithm>
#include <cmath>

#include "longtail/base/error.h"
#include "longtail/base/text.h"
#include "longtail/sampling/strategy.h"

namespace longtail::report {
namespace {

std::vector<const train::RunLog*> logs_of(const Results& results, const Series& series,
                                          const Condition& condition) {
  std::vector<const train::RunLog*> logs;
  for (std::int64_t seed : results.seeds) {
    const RunResult* run = results.find(series, condition, seed);
    if (run && run->log) logs.push_back(run->log.get());
  }
  return logs;
}

}  // namespace

std::string_view track_name(Track track) {
  return std::array<std::string_view, 7>{"test_acc", "train_loss", "head_acc", "medium_acc",
                                         "tail_acc", "train_acc",  "test_loss"}[static_cast<std::size_t>(
      track)];
}

const std::vector<double>& track_of(const train::RunLog& log, Track track) {
  switch (track) {
    case Track::kTestAccuracy:
      return log.test_acc;
    case Track::kTrainLoss:
      return log.train_loss;
    case Track::kHead:
      return log.head_acc;
    case Track::kMedium:
      return log.medium_acc;
    case Track::kTail:
      return log.tail_acc;
    case Track::kTrainAccuracy:
      return log.train_acc;
    case Track::kTestLoss:
      return log.test_loss;
  }
  base::fail("no such curve");
}

Curve curve(const Results& results, const Series& series, const Condition& condition, Track track,
            Deviation kind) {
  const auto logs = logs_of(results, series, condition);
  Curve result;
  if (logs.empty()) return result;
  std::vector<double> values(logs.size());
  for (std::size_t e = 0; e < track_of(*logs[0], track).size(); ++e) {
    for (std::size_t i = 0; i < logs.size(); ++i) values[i] = track_of(*logs[i], track)[e];
    result.mean.push_back(mean(values));
    result.deviation.push_back(logs.size() > 1 ? deviation(values, kind) : 0);
  }
  if (std::none_of(result.mean.begin(), result.mean.end(), [](double v) { return std::isfinite(v); }))
    return {};
  return result;
}

std::vector<double> per_class(const Results& results, const Series& series, const Condition& condition,
                              At at) {
  std::vector<double> sum;
  int runs = 0;
  for (const train::RunLog* log : logs_of(results, series, condition)) {
    const std::vector<double>& one = at == At::kBest ? log->best.per_class : log->last.per_class;
    if (one.empty()) continue;
    sum.resize(one.size());
    for (std::size_t k = 0; k < one.size(); ++k) sum[k] += one[k];
    ++runs;
  }
  for (double& value : sum) value /= runs;
  return sum;
}

std::vector<int> milestones(const Results& results, const Condition& condition) {
  const RunResult* run = results.example(condition);
  if (!run) return {};
  // Where the rate itself falls to a half or less: works for every schedule, whether the log names it or not.
  std::vector<int> epochs;
  const std::vector<double>& rate = run->log->lr_history;
  for (std::size_t e = 1; e < rate.size(); ++e) {
    if (rate[e] <= rate[e - 1] / 2) epochs.push_back(static_cast<int>(e));
  }
  return epochs;
}

std::vector<double> lambda_of(const std::string& strategy, int epochs) {
  if (epochs < 1) return {};
  try {
    const auto made = sampling::make_strategy(strategy);
    sampling::refuse_feedback(*made);
    const std::array<std::int64_t, 2> counts = {3, 1};  // any unequal pair shows the mixture
    std::vector<double> lambda;
    for (int e = 0; e < epochs; ++e) {
      const double p = made->probabilities(counts, {e, epochs})[0];
      lambda.push_back((0.75 - p) / 0.25);
    }
    const auto [low, high] = std::minmax_element(lambda.begin(), lambda.end());
    if (*high - *low < 1e-9) return {};
    return lambda;
  } catch (const base::Error&) {
    return {};
  }
}

}  // namespace longtail::report
