// The backward passes of a step. A gradient overwrites the output of a convolution that is no longer needed
// (memory.h).
#include <algorithm>

#include "longtail/nn/simd/backend_impl.h"
#include "longtail/nn/simd/pad_skip.h"

namespace longtail::nn::simd {

Activation SimdBackend::output_gradient(const ConvUnit& unit, const float* d, int image) {
  const Norm<float>& n = norm(unit);
  return {.form = Activation::kGradient,
          .z = d,
          .scale = n.a,
          .shift = n.c,
          .other = activations_->z(unit, image),
          .other_scale = n.b};
}

InputGradient SimdBackend::input_gradient(std::size_t b, int image, const Slice<float>& slice) {
  const ConvUnit& main = main_unit(b);
  InputGradient g{.gate = activations_->x(b, image),
                  .z = activations_->z(main, image),
                  .mean = norm(main).mean,
                  .d = activations_->x_gradient(b, image),
                  .sum = slice.sums.sum[0],
                  .product = slice.sums.product[0]};
  if (const ConvUnit* side = side_unit(b)) {
    g.other = activations_->z(*side, image);
    g.other_mean = norm(*side).mean;
    g.other_product = slice.sums.product[1];
  }
  return g;
}

// Both batch norms receive the same gradient, so its sum is copied.
void SimdBackend::finish_sums(std::size_t b, const Slice<float>& slice) const {
  if (side_unit(b) != nullptr) std::copy_n(slice.sums.sum[0], main_unit(b).out, slice.sums.sum[1]);
}

void SimdBackend::features_backward(const Slice<float>& slice, const float* gradients) {
  const std::size_t last = plan_.blocks.size();
  for (int image = slice.first; image < slice.last; ++image) {
    kernels_.spread_gradient(plan_.final_side, plan_.features,
                             gradients + std::ptrdiff_t{image} * plan_.features,
                             input_gradient(last, image, slice));
  }
  finish_sums(last, slice);
}

void SimdBackend::second_backward(std::size_t b, const Slice<float>& slice) {
  const BlockPlan& block = plan_.blocks[b];
  const ConvUnit& unit = block.second;
  const Norm<float>& n = norm(block.first);
  const int first = slice.first;
  Scratch& s = scratch(slice);
  const float* z = activations_->z(block.first, first);
  const Activation input{.form = Activation::kNorm, .z = z, .scale = n.scale, .shift = n.shift};
  const InputGradient to{.z = z,
                         .mean = n.mean,
                         .scale = n.scale,
                         .shift = n.shift,
                         .d = activations_->z(unit, first),
                         .sum = slice.sums.sum[0],
                         .product = slice.sums.product[0]};
  std::fill_n(s.weight_sums.data(), packed_floats(unit), 0.0f);
  kernels_.backward(same_conv(unit), slice.count(),
                    output_gradient(unit, activations_->x_gradient(b + 1, first), first), input,
                    backward_weights(unit), s.weight_sums.data(), to, s.kernel.data());
  kernels_.weight_gradient(unit.in, s.weight_sums.data(), slice.weight_sums);
}

void SimdBackend::first_backward(std::size_t b, const Slice<float>& slice) {
  const BlockPlan& block = plan_.blocks[b];
  const ConvUnit& unit = block.first;
  const int first = slice.first;
  if (!is_same(unit)) {
    down_backward(b, slice);
  } else {
    Scratch& s = scratch(slice);
    InputGradient to = input_gradient(b, first, slice);
    to.skip = activations_->x_gradient(b + 1, first);
    std::fill_n(s.weight_sums.data(), packed_floats(unit), 0.0f);
    kernels_.backward(same_conv(unit), slice.count(),
                      output_gradient(unit, activations_->z(block.second, first), first),
                      {.form = Activation::kCopy, .z = activations_->x(b, first)}, backward_weights(unit),
                      s.weight_sums.data(), to, s.kernel.data());
    kernels_.weight_gradient(unit.in, s.weight_sums.data(), slice.weight_sums);
  }
  finish_sums(b, slice);
}

void SimdBackend::down_backward(std::size_t b, const Slice<float>& slice) {
  const BlockPlan& block = plan_.blocks[b];
  const ConvUnit& unit = block.first;
  const bool projected = block.skip == Skip::kProjection;
  Scratch& s = scratch(slice);
  std::fill_n(slice.weight_sums, unit.weight_size(), 0.0f);
  if (projected) std::fill_n(slice.projection_sums, block.projection.weight_size(), 0.0f);
  for (int image = slice.first; image < slice.last; ++image) {
    const float* d = activations_->x_gradient(b + 1, image);
    InputGradient to = input_gradient(b, image, slice);
    DirectGradient from{.grid = s.gradient_grid.data(), .weights = backward_weights(unit)};
    kernels_.fill_grid(unit.out_side(), unit.out,
                       output_gradient(unit, activations_->z(block.second, image), image),
                       s.gradient_grid.data());
    if (projected) {
      kernels_.fill_grid(unit.out_side(), unit.out, output_gradient(block.projection, d, image),
                         s.side_grid.data());
      from.side_grid = s.side_grid.data();
      from.side_weights = backward_weights(block.projection);
    } else {
      pad_skip_gradient(unit, d, s.skip.data());
      to.skip = s.skip.data();
    }
    kernels_.direct_backward(direct_conv(unit), from, to);
    kernels_.fill_grid(unit.side, unit.in, {.form = Activation::kCopy, .z = activations_->x(b, image)},
                       s.grid.data());
    kernels_.direct_weights(direct_conv(unit), s.grid.data(), s.gradient_grid.data(), slice.weight_sums);
    if (!projected) continue;
    kernels_.direct_weights(direct_conv(block.projection), s.grid.data(), s.side_grid.data(),
                            slice.projection_sums);
  }
}

void SimdBackend::stem_backward(const Slice<float>& slice) {
  Scratch& s = scratch(slice);
  std::fill_n(slice.weight_sums, plan_.stem.weight_size(), 0.0f);
  for (int image = slice.first; image < slice.last; ++image) {
    kernels_.fill_grid(plan_.stem.out_side(), plan_.stem.out,
                       output_gradient(plan_.stem, activations_->x_gradient(0, image), image),
                       s.gradient_grid.data());
    fill_stem_grid(image, s.grid.data());
    kernels_.direct_weights(direct_conv(plan_.stem), s.grid.data(), s.gradient_grid.data(),
                            slice.weight_sums);
  }
}

}  // namespace longtail::nn::simd
