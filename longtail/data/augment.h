// Augmentation as a pure function of (seed, epoch, position): zero-padded random crop by 4 and horizontal flip, then
// normalisation, written straight into the layout the consumer asks for.
#pragma once

#include <cstdint>
#include <span>

#include "longtail/base/philox.h"
#include "longtail/base/threads.h"
#include "longtail/data/dataset.h"
#include "longtail/data/layout.h"

namespace longtail::data {

// What happens to an image: shifts in [-4, 4] and a flip. The default leaves it as it is.
struct Transform {
  int dx = 0;
  int dy = 0;
  bool flip = false;
};

// The transform of a position of an epoch; strategies share it.
Transform transform_at(std::uint64_t seed, std::uint32_t epoch, std::uint64_t position);

// One image into `out` (bytes_per_image(layout, channels) bytes).
void write_image(const Dataset& data, std::span<const std::uint8_t> image, Transform transform, PixelLayout layout,
                 void* out);

// Images `rows` of a split, position by position, in parallel. With augmentation the transform of row i is
// transform_at(seed, epoch, first_position + i).
struct Augmentation {
  bool on = false;
  std::uint64_t seed = 0;
  std::uint32_t epoch = 0;
  std::uint64_t first_position = 0;
};
void write_batch(const Dataset& data, const Split& split, std::span<const std::int32_t> rows,
                 const Augmentation& augmentation, PixelLayout layout, void* out, base::ThreadPool& pool);

}  // namespace longtail::data
