// Series that come from the same trainings: rebalanced from one network, or identical up to some epoch.
// Chance moves them together, and the analysis of differences has to know.
#include <algorithm>
#include <optional>

#include "longtail/base/error.h"
#include "longtail/report/results.h"
#include "longtail/train/alike.h"

namespace longtail::report {
namespace {

// The configuration of a series in a condition; none without a log, or if the log lacks something needed.
std::optional<train::RunConfig> config_of(const Results& results, const Series& series,
                                          const Condition& condition) {
  const auto run = std::find_if(results.runs.begin(), results.runs.end(), [&](const RunResult& one) {
    return one.log && one.series == series && one.condition == condition;
  });
  if (run == results.runs.end()) return std::nullopt;
  try {
    train::RunConfig config = train::config_from_map(run->config);
    config.engine = run->log->fingerprint.engine;
    train::same_beginning(config, config);  // throws for a strategy or a loss that only its trainer knows
    return config;
  } catch (const base::Error&) {
    return std::nullopt;
  }
}

}  // namespace

std::vector<int> detail::trainings_in(const Results& results, const Condition& condition) {
  std::vector<int> numbers;
  std::vector<train::RunConfig> configs;
  std::vector<std::size_t> places;
  for (const Series& series : results.series_in(condition)) {
    numbers.push_back(-1 - static_cast<int>(numbers.size()));  // a training of its own
    if (auto config = config_of(results, series, condition)) {
      places.push_back(numbers.size() - 1);
      configs.push_back(std::move(*config));
    }
  }
  const std::vector<int> shared = train::shared_trainings(configs);
  for (std::size_t i = 0; i < places.size(); ++i) numbers[places[i]] = shared[i];
  return numbers;
}

}  // namespace longtail::report
