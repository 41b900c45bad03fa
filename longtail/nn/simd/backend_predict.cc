// Prediction: a few images go through the network in one worker's scratch memory; bias, skip and ReLU are
// part of the convolutions.
#include <algorithm>

#include "longtail/nn/simd/backend_impl.h"
#include "longtail/nn/simd/pad_skip.h"

namespace longtail::nn::simd {

void SimdBackend::predict_stem(const Slice<float>& slice) {
  Scratch& s = scratch(slice);
  for (int image = slice.first; image < slice.last; ++image) {
    fill_stem_grid(image, s.grid.data());
    kernels_.direct_forward(
        direct_conv(plan_.stem), s.grid.data(), forward_weights(plan_.stem),
        {.z = s.x.data() + static_cast<std::size_t>(image - slice.first) * out_floats(plan_.stem),
         .bias = norm(plan_.stem).shift});
  }
}

void SimdBackend::predict_same(const ConvUnit& unit, int images, const float* in, const float* skip,
                               float* out, Scratch& s) {
  kernels_.forward(same_conv(unit), images, {.form = Activation::kCopy, .z = in}, forward_weights(unit),
                   {.z = out, .bias = norm(unit).shift, .skip = skip}, s.kernel.data());
}

void SimdBackend::predict_down(const BlockPlan& block, int images, Scratch& s) {
  const ConvUnit& unit = block.first;
  for (int i = 0; i < images; ++i) {
    const float* x = s.x.data() + static_cast<std::size_t>(i) * in_floats(unit);
    const std::size_t at = static_cast<std::size_t>(i) * out_floats(unit);
    kernels_.fill_grid(unit.side, unit.in, {.form = Activation::kCopy, .z = x}, s.grid.data());
    kernels_.direct_forward(direct_conv(unit), s.grid.data(), forward_weights(unit),
                            {.z = s.inner.data() + at, .bias = norm(unit).shift});
    if (block.skip == Skip::kProjection) {
      kernels_.direct_forward(direct_conv(block.projection), s.grid.data(), forward_weights(block.projection),
                              {.z = s.side.data() + at, .bias = norm(block.projection).shift, .relu = false});
    } else {
      pad_skip(unit, x, s.side.data() + at);
    }
  }
}

void SimdBackend::predict_block(std::size_t b, const Slice<float>& slice) {
  const BlockPlan& block = plan_.blocks[b];
  Scratch& s = scratch(slice);
  if (is_same(block.first)) {
    predict_same(block.first, slice.count(), s.x.data(), nullptr, s.inner.data(), s);
    predict_same(block.second, slice.count(), s.inner.data(), s.x.data(), s.x.data(), s);
  } else {
    predict_down(block, slice.count(), s);
    predict_same(block.second, slice.count(), s.inner.data(), s.side.data(), s.x.data(), s);
  }
}

void SimdBackend::predict_features(const Slice<float>& slice, float* features) {
  Scratch& s = scratch(slice);
  const std::size_t image = out_floats(plan_.blocks.back().second);
  for (int i = 0; i < slice.count(); ++i) {
    kernels_.mean_pixels(plan_.final_side, plan_.features,
                         {.form = Activation::kCopy, .z = s.x.data() + static_cast<std::size_t>(i) * image},
                         features + std::ptrdiff_t{slice.first + i} * plan_.features);
  }
}

}  // namespace longtail::nn::simd
