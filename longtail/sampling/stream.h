// The index stream of an epoch: position in, image out, as a pure function of (seed, epoch, position). Classes come
// from an alias table over K entries, the instance is uniform inside the class; a permutation is a keyed bijection.
// Cost and memory do not grow with the number of images.
//
//   IndexStream stream(strategy, counts, {.epoch = 3, .epochs = 200}, seed);
//   std::int64_t image = stream.at(17);   // position in the subset: class after class
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "longtail/sampling/strategy.h"

namespace longtail::sampling {

// A part of a stream for one of several machines: positions rank, rank + world, rank + 2 world, ...
struct Shard {
  int rank = 0;
  int world = 1;
};

class IndexStream {
 public:
  IndexStream(const Strategy& strategy, std::span<const std::int64_t> counts, Moment moment, std::uint64_t seed);

  // Draws in an epoch: the number of images.
  std::int64_t size() const { return total_; }
  // The image at a position: an index into the subset, whose images are ordered class after class.
  std::int64_t at(std::int64_t position) const;
  // Many at once, positions first, first + 1, ...; the fast way.
  void fill(std::int64_t first, std::span<std::int64_t> out) const;
  // The class an image index belongs to.
  int class_of(std::int64_t image) const;
  const std::vector<double>& probabilities() const { return probabilities_; }

 private:
  struct Slot {                    // of the alias table
    std::uint64_t threshold = 0;   // below: this class, else the alias
    std::int32_t alias = 0;
  };
  std::vector<double> probabilities_;
  std::vector<std::int64_t> counts_;
  std::vector<std::int64_t> first_;
  std::vector<Slot> slots_;
  std::int64_t total_ = 0;
  std::uint64_t seed_ = 0;
  std::uint32_t epoch_ = 0;
  bool permutation_ = false;
};

}  // namespace longtail::sampling
