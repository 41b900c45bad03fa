// The index stream of an epoch: position in, image out, as a pure function of (seed, epoch, position).
// Classes come from an alias table over K entries, the instance is uniform inside the class; a permutation is
// a keyed bijection. Cost and memory do not grow with the number of images.
//
//   IndexStream stream(*strategy, counts, {.epoch = 3, .epochs = 200}, seed);
//   std::int64_t image = stream.at(17);   // position in the subset: class after class
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "longtail/base/cpu.h"
#include "longtail/sampling/alias.h"
#include "longtail/sampling/fill.h"
#include "longtail/sampling/permutation.h"
#include "longtail/sampling/strata.h"
#include "longtail/sampling/strategy.h"

namespace longtail::sampling {

class IndexStream {
 public:
  // An Error if there are no images, or no such epoch.
  IndexStream(const Strategy& strategy, std::span<const std::int64_t> counts, const Situation& situation,
              std::uint64_t seed);

  // The part of this stream for one of several machines: its positions rank, rank + world, rank + 2 world,
  // ... The parts of all ranks are disjoint and together are this stream.
  IndexStream shard(int rank, int world) const;

  // Draws in an epoch: the number of images, or this part of it.
  std::int64_t size() const;
  // The position in the whole epoch of the i-th draw of this stream: i itself unless this is a part.
  // Augmentation is keyed by it.
  std::int64_t position(std::int64_t i) const { return offset_ + i * stride_; }

  // The image of the i-th draw: an index into the subset, whose images are ordered class after class. Draws
  // with replacement may continue beyond size(); a permutation may not (an Error).
  std::int64_t at(std::int64_t i) const;
  // Many draws at once, i = first, first + 1, ...; the fast way.
  void fill(std::int64_t first, std::span<std::int64_t> out) const { fill(first, out, cpu_); }
  // The same values with the instructions of a chosen CPU, for tests and benchmarks.
  void fill(std::int64_t first, std::span<std::int64_t> out, base::Cpu cpu) const;

  // The class an image index belongs to.
  int class_of(std::int64_t image) const;
  const std::vector<double>& probabilities() const { return probabilities_; }
  // True if every image is drawn exactly once.
  bool is_permutation() const { return is_permutation_; }

 private:
  void check_range(std::int64_t first, std::int64_t count) const;
  std::int64_t draw(std::uint64_t position) const;
  std::size_t fill_vectors(std::uint64_t position, std::span<std::int64_t> out, base::Cpu cpu) const;
  void walk_on(std::span<std::int64_t> images) const;

  std::vector<double> probabilities_;
  std::vector<std::int64_t> counts_;
  std::vector<std::int64_t> first_;  // the first image of each class
  AliasTable classes_;
  std::vector<std::uint64_t> places_;  // see DrawTask; empty if there are too many images for it
  Permutation permutation_;
  Strata strata_;
  base::Cpu cpu_ = base::chosen_cpu();
  std::int64_t total_ = 0;
  std::int64_t offset_ = 0;
  std::int64_t stride_ = 1;
  std::uint64_t seed_ = 0;
  std::uint32_t epoch_ = 0;
  bool is_permutation_ = false;
  bool is_stratified_ = false;
};

}  // namespace longtail::sampling
