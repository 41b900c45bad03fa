// How often each image is drawn over a whole training: the repetition that the paper blames for overfitting,
// expected from the class weights and counted in the index streams that training actually reads.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "longtail/sampling/strategy.h"

namespace longtail::theory {

struct ClassExposure {
  std::int64_t count = 0;
  double expected = 0;  // draws per image of the class
  double mean = 0;      // the same, counted
  std::int64_t fewest = 0;
  std::int64_t most = 0;
};

struct Exposure {
  std::string strategy;
  int epochs = 0;
  std::int64_t draws = 0;  // of all images together
  std::vector<ClassExposure> classes;
  std::int64_t never = 0;  // images that were not drawn once
  double effective =
      0;  // (sum c)^2 / sum c^2 over the counts c of the images (Kish): as many images used evenly
  double distinct_an_epoch = 0;  // different images per epoch, averaged over the epochs
};

// A training of `epochs` epochs with incomplete batches dropped; `seed` is the run's.
Exposure exposure(const sampling::Strategy& strategy, std::span<const std::int64_t> counts, int epochs,
                  int batch, std::uint64_t seed);

}  // namespace longtail::theory
