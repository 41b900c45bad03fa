// Augmentation as a pure function of (seed, epoch, position): zero-padded random crop by an eighth of the
// side (4 of 32 pixels) and horizontal flip, then normalisation, written straight into the layout the
// consumer asks for. As torchvision's RandomCrop(32, padding=4), RandomHorizontalFlip(), ToTensor(),
// Normalize(mean, deviation): the padding is black before normalisation.
#pragma once

#include <cstdint>
#include <span>

#include "longtail/base/philox.h"
#include "longtail/base/threads.h"
#include "longtail/data/dataset.h"
#include "longtail/data/layout.h"

namespace longtail::data {

// The largest shift of an image of this side.
constexpr int max_shift(int side) { return side / 8; }

// What happens to an image of side s: pixel (y, x) comes from (y + dy, x + dx), or with a flip from (y + dy,
// s - 1 - x + dx); outside the image it is black. Shifts are in [-s/8, s/8]. The default leaves the image as
// it is.
struct Transform {
  int dx = 0;
  int dy = 0;
  bool flip = false;

  bool operator==(const Transform&) const = default;
};

// The transform at a position of an epoch for images of this side; it is the same for every strategy.
Transform transform_at(std::uint64_t seed, std::uint32_t epoch, std::uint64_t position, int side = kSide);

// Writes one image into `out` (bytes_per_image(layout, data.shape()) bytes), pixel by pixel: the plain
// counterpart of write_batch.
void write_image(const Dataset& data, std::span<const std::uint8_t> image, Transform transform,
                 PixelLayout layout, void* out);

// write_batch writes the images `rows` of a split, position by position, in parallel. With augmentation the
// transform of row i is transform_at(seed, epoch, first_position + i * position_step).
struct Augmentation {
  bool on = false;
  std::uint64_t seed = 0;
  std::uint32_t epoch = 0;
  std::uint64_t first_position = 0;
  std::uint64_t position_step = 1;                // more than 1 for a part of a stream (IndexStream::shard)
  std::span<const std::uint64_t> positions = {};  // if not empty: the position of each row, instead of these
};
void write_batch(const Dataset& data, const Split& split, std::span<const std::int32_t> rows,
                 const Augmentation& augmentation, PixelLayout layout, void* out, base::ThreadPool& pool);

// float to bfloat16, to nearest, ties to even; NaN stays NaN.
std::uint16_t to_bf16(float value);

}  // namespace longtail::data
