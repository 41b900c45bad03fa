#include <algorithm>

#include "longtail/nn/simd/backend_impl.h"
#include "longtail/nn/simd/pad_skip.h"
#include "longtail/nn/simd/simd_backend.h"
#include "longtail/nn/simd/targets.h"

namespace longtail::nn {
namespace simd {

SimdBackend::SimdBackend(const ResNetSpec& spec, int max_batch, int workers, const Kernels& kernels)
    : plan_(network_plan(spec)), max_batch_(max_batch), kernels_(kernels) {
  std::size_t total = 0;
  plan_.each_unit([&](const ConvUnit& unit) {
    units_.push_back(&unit);
    weight_offset_.push_back(total);
    total += (packed_floats(unit) + 15) / 16 * 16;
  });
  forward_weights_ = Buffer<float>(total);
  backward_weights_ = Buffer<float>(total);
  for (int worker = 0; worker < workers; ++worker) scratch_.emplace_back(plan_, kSliceImages, kPredictImages);
}

void SimdBackend::allocate_training() {
  if (!activations_) activations_ = std::make_unique<Activations>(plan_, max_batch_);
}

namespace {

// PyTorch's [out][in][tap] to [tap][from][to].
void order_by_taps(const ConvUnit& unit, const float* weights, bool exchanged, float* ordered) {
  const std::size_t in = static_cast<std::size_t>(unit.in), out = static_cast<std::size_t>(unit.out);
  const std::size_t taps = static_cast<std::size_t>(unit.kernel * unit.kernel);
  for (std::size_t o = 0; o < out; ++o) {
    for (std::size_t i = 0; i < in; ++i) {
      for (std::size_t t = 0; t < taps; ++t) {
        ordered[t * in * out + (exchanged ? o * in + i : i * out + o)] = weights[(o * in + i) * taps + t];
      }
    }
  }
}

// [tap][from][to] to [to / 16][tap][from][16].
void order_by_blocks(std::size_t taps, std::size_t from, std::size_t to, const float* weights,
                     float* blocks) {
  for (std::size_t block = 0; block < to; block += 16) {
    for (std::size_t t = 0; t < taps; ++t) {
      for (std::size_t i = 0; i < from; ++i, blocks += 16) {
        std::copy_n(weights + (t * from + i) * to + block, 16, blocks);
      }
    }
  }
}

}  // namespace

int SimdBackend::pack_pieces(Packing packing) const {
  return static_cast<int>(units_.size()) * (packing == Packing::kTraining ? 2 : 1);
}

void SimdBackend::pack(Packing, int piece, int worker, std::span<const float> parameters) {
  // The last and largest layers first.
  const int count = static_cast<int>(units_.size());
  const bool exchanged = piece >= count;
  const ConvUnit& unit = *units_[static_cast<std::size_t>(count - 1 - piece % count)];
  if (exchanged && unit.index == 0) return;  // the gradient at the images is not needed
  float* ordered = scratch_[static_cast<std::size_t>(worker)].weights.data();
  order_by_taps(unit, parameters.data() + unit.weight, exchanged, ordered);
  float* packed = exchanged ? backward_weights(unit) : forward_weights(unit);
  if (is_same(unit)) return kernels_.transform_weights(unit.in, ordered, packed);
  const auto from = static_cast<std::size_t>(exchanged ? unit.out : unit.in);
  const auto to = static_cast<std::size_t>(exchanged ? unit.in : unit.out);
  order_by_blocks(static_cast<std::size_t>(unit.kernel * unit.kernel), from, to, ordered, packed);
}

void SimdBackend::unpack_weights(const ConvUnit& unit, const float* sums, int first, int last,
                                 float* weights) {
  const auto in = static_cast<std::size_t>(unit.in), out = static_cast<std::size_t>(unit.out);
  const auto taps = static_cast<std::size_t>(unit.kernel * unit.kernel);
  for (auto o = static_cast<std::size_t>(first); o < static_cast<std::size_t>(last); ++o) {
    for (std::size_t i = 0; i < in; ++i) {
      for (std::size_t t = 0; t < taps; ++t) weights[(o * in + i) * taps + t] = sums[(t * in + i) * out + o];
    }
  }
}

const ConvUnit& SimdBackend::main_unit(std::size_t b) const {
  return b == 0 ? plan_.stem : plan_.blocks[b - 1].second;
}
const ConvUnit* SimdBackend::side_unit(std::size_t b) const {
  return b > 0 && plan_.blocks[b - 1].skip == Skip::kProjection ? &plan_.blocks[b - 1].projection : nullptr;
}

Activation SimdBackend::block_input(std::size_t b, int first, int count, Scratch& s) {
  const ConvUnit& main = main_unit(b);
  Activation a{.form = Activation::kNorm,
               .z = activations_->z(main, first),
               .scale = norm(main).scale,
               .shift = norm(main).shift,
               .keep = activations_->x(b, first)};
  if (b == 0) return a;
  if (const ConvUnit* side = side_unit(b)) {
    a.form = Activation::kNormNorm;
    a.other = activations_->z(*side, first);
    a.other_scale = norm(*side).scale;
    a.other_shift = norm(*side).shift;
    return a;
  }
  a.form = Activation::kNormSkip;
  a.other = activations_->x(b - 1, first);
  const BlockPlan& previous = plan_.blocks[b - 1];
  if (previous.skip == Skip::kPad) {
    for (int i = 0; i < count; ++i) {
      pad_skip(previous.first, activations_->x(b - 1, first + i),
               s.skip.data() + static_cast<std::size_t>(i) * out_floats(previous.first));
    }
    a.other = s.skip.data();
  }
  return a;
}

Output SimdBackend::statistics(const ConvUnit& unit, int image, const Slice<float>& slice, int which) {
  return {
      .z = activations_->z(unit, image), .sum = slice.sums.sum[which], .square = slice.sums.product[which]};
}

void SimdBackend::fill_stem_grid(int image, float* grid) const {
  const int side = plan_.side, channels = plan_.channels();
  const std::size_t plane = static_cast<std::size_t>(side) * static_cast<std::size_t>(side);
  const float* from = static_cast<const float*>(step_.images) +
                      static_cast<std::size_t>(image) * plane * static_cast<std::size_t>(channels);
  std::fill_n(grid, grid_floats(side, channels), 0.0f);
  for (int y = 0; y < side; ++y) {
    float* row = grid + (std::ptrdiff_t{y + 1} * (side + 2) + 1) * channels;
    for (int x = 0; x < side; ++x) {
      for (int c = 0; c < channels; ++c) {
        *row++ = from[static_cast<std::size_t>(c) * plane + static_cast<std::size_t>(y * side + x)];
      }
    }
  }
}

void SimdBackend::stem_forward(const Slice<float>& slice) {
  Scratch& s = scratch(slice);
  for (int image = slice.first; image < slice.last; ++image) {
    fill_stem_grid(image, s.grid.data());
    kernels_.direct_forward(direct_conv(plan_.stem), s.grid.data(), forward_weights(plan_.stem),
                            statistics(plan_.stem, image, slice, 0));
  }
}

void SimdBackend::first_forward(std::size_t b, const Slice<float>& slice) {
  const ConvUnit& unit = plan_.blocks[b].first;
  if (!is_same(unit)) return down_forward(b, slice);
  Scratch& s = scratch(slice);
  kernels_.forward(same_conv(unit), slice.count(), block_input(b, slice.first, slice.count(), s),
                   forward_weights(unit), statistics(unit, slice.first, slice, 0), s.kernel.data());
}

void SimdBackend::down_forward(std::size_t b, const Slice<float>& slice) {
  const BlockPlan& block = plan_.blocks[b];
  Scratch& s = scratch(slice);
  for (int image = slice.first; image < slice.last; ++image) {
    kernels_.fill_grid(block.first.side, block.first.in, block_input(b, image, 1, s), s.grid.data());
    kernels_.direct_forward(direct_conv(block.first), s.grid.data(), forward_weights(block.first),
                            statistics(block.first, image, slice, 0));
    if (block.skip != Skip::kProjection) continue;
    kernels_.direct_forward(direct_conv(block.projection), s.grid.data(), forward_weights(block.projection),
                            statistics(block.projection, image, slice, 1));
  }
}

void SimdBackend::second_forward(std::size_t b, const Slice<float>& slice) {
  const BlockPlan& block = plan_.blocks[b];
  const Activation input{.form = Activation::kNorm,
                         .z = activations_->z(block.first, slice.first),
                         .scale = norm(block.first).scale,
                         .shift = norm(block.first).shift};
  kernels_.forward(same_conv(block.second), slice.count(), input, forward_weights(block.second),
                   statistics(block.second, slice.first, slice, 0), scratch(slice).kernel.data());
}

void SimdBackend::features_forward(const Slice<float>& slice, float* features) {
  for (int image = slice.first; image < slice.last; ++image) {
    kernels_.mean_pixels(plan_.final_side, plan_.features,
                         block_input(plan_.blocks.size(), image, 1, scratch(slice)),
                         features + std::ptrdiff_t{image} * plan_.features);
  }
}

}  // namespace simd

std::unique_ptr<Backend<float>> make_simd_backend(const ResNetSpec& spec, int max_batch, int workers) {
  return std::make_unique<simd::SimdBackend>(spec, max_batch, workers, simd::kernels_for(simd::kernel_cpu()));
}

}  // namespace longtail::nn
