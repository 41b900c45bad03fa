// The layouts in which consumers want their pixels; the augmentation writes straight into them.
#pragma once

#include <cstddef>

#include "longtail/data/dataset.h"
#include "longtail/data/image_shape.h"

namespace longtail::data {

enum class PixelLayout {
  kNchwF32,   // [channel][side][side] float
  kNhwcBf16,  // [side][side][channel] bfloat16, rounded to nearest even
};

constexpr std::size_t bytes_per_image(PixelLayout layout, const ImageShape& shape) {
  return shape.values() * (layout == PixelLayout::kNchwF32 ? 4 : 2);
}

}  // namespace longtail::data
