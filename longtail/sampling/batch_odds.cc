#include "longtail/sampling/batch_odds.h"

#include <cmath>
#include <numeric>

#include "longtail/sampling/strata.h"

namespace longtail::sampling {

BatchOdds batch_odds(double probability, std::int64_t count, std::int64_t total, int batch,
                     bool replacement) {
  BatchOdds odds{probability, batch * probability, 0};
  if (replacement) {
    odds.absent = std::pow(1 - probability, batch);
    return odds;
  }
  // The i-th draw misses the class with probability (other images left) / (all images left).
  odds.absent = 1;
  for (int i = 0; i < batch && odds.absent > 0; ++i) {
    const auto others = static_cast<double>(total - count - i);
    odds.absent *= others > 0 ? others / static_cast<double>(total - i) : 0;
  }
  return odds;
}

std::vector<BatchOdds> batch_odds(const Strategy& strategy, std::span<const std::int64_t> counts,
                                  const Situation& situation, int batch) {
  const std::vector<double> p = strategy.probabilities(counts, situation);
  const std::int64_t total = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
  std::vector<BatchOdds> odds;
  if (strategy.stratified(situation)) {
    const Strata strata(p, batch);
    for (int k = 0; k < static_cast<int>(p.size()); ++k) {
      const double share = p[static_cast<std::size_t>(k)];
      odds.push_back({share, batch * share, strata.absence(std::span(&k, 1))});
    }
    return odds;
  }
  for (std::size_t k = 0; k < counts.size(); ++k) {
    odds.push_back(batch_odds(p[k], counts[k], total, batch, !strategy.without_replacement(situation)));
  }
  return odds;
}

}  // namespace longtail::sampling
