// What a strategy means for one batch: how many images of a class to expect, and the chance of none.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "longtail/sampling/strategy.h"

namespace longtail::sampling {

struct BatchOdds {
  double probability = 0;  // of a draw
  double expected = 0;     // images in a batch
  double absent = 0;       // chance that a batch has none
};

// For a class with `count` of `total` images and this probability of a draw. Without replacement the draws of
// a batch are different images (hypergeometric), and the chance of none is smaller.
BatchOdds batch_odds(double probability, std::int64_t count, std::int64_t total, int batch, bool replacement);

// For every class in a situation.
std::vector<BatchOdds> batch_odds(const Strategy& strategy, std::span<const std::int64_t> counts,
                                  const Situation& situation, int batch);

}  // namespace longtail::sampling
