// The shortcut without parameters: every other pixel, its channels in the middle between the added ones.
#pragma once

#include <algorithm>
#include <cstddef>

#include "longtail/nn/simd/memory.h"

namespace longtail::nn::simd {

// visit(offset in the large image, offset in the small one) for every pixel that is kept.
template <class Visit>
void each_kept_pixel(const ConvUnit& first, const Visit& visit) {
  const int side = first.out_side(), middle = (first.out - first.in) / 2;
  for (int y = 0; y < side; ++y) {
    for (int x = 0; x < side; ++x) {
      visit((std::ptrdiff_t{y} * first.stride * first.side + x * first.stride) * first.in,
            (std::ptrdiff_t{y} * side + x) * first.out + middle);
    }
  }
}

inline void pad_skip(const ConvUnit& first, const float* x, float* skip) {
  std::fill_n(skip, out_floats(first), 0.0f);
  each_kept_pixel(first, [&](std::ptrdiff_t large, std::ptrdiff_t small) {
    std::copy_n(x + large, first.in, skip + small);
  });
}

inline void pad_skip_gradient(const ConvUnit& first, const float* d, float* gradient) {
  std::fill_n(gradient, in_floats(first), 0.0f);
  each_kept_pixel(first, [&](std::ptrdiff_t large, std::ptrdiff_t small) {
    std::copy_n(d + small, first.in, gradient + large);
  });
}

}  // namespace longtail::nn::simd
