// How a consumer wants its pixels: the augmentation writes straight into it.
#pragma once

#include <cstddef>

#include "longtail/data/dataset.h"

namespace longtail::data {

enum class PixelLayout {
  kNchwF32,   // [channel][32][32] float
  kNhwcBf16,  // [32][32][channel] bfloat16, rounded to nearest even
};

constexpr std::size_t bytes_per_image(PixelLayout layout, int channels) {
  return static_cast<std::size_t>(channels) * kPixels * (layout == PixelLayout::kNchwF32 ? 4 : 2);
}

}  // namespace longtail::data
