// The operands of one worker.
#pragma once

#include <cstddef>

#include "longtail/nn/amx/network.h"
#include "longtail/nn/buffer.h"

namespace longtail::nn::amx {

constexpr int kMaxChannels = 64;

// The borders of the grids always stay zero.
struct Scratch {
  static constexpr int kGroup = 4;  // images whose weight gradients of 64 channels are summed together

  explicit Scratch(const TileNetwork& network);
  Bf16* grid(ConvKind kind) { return grids.data() + grid_offset[static_cast<std::size_t>(kind)]; }
  Bf16* pair_grid(ConvKind kind) { return pairs.data() + pair_offset[static_cast<std::size_t>(kind)]; }

  std::size_t grid_offset[kKinds];
  std::size_t pair_offset[kKinds];
  Buffer<Bf16> grids;
  Buffer<Bf16> pairs;
  Buffer<Bf16> transposed;             // kGroup images
  Buffer<Bf16> transposed_projection;  // of the projection
  Buffer<Bf16> values;                 // activations of one image
  Buffer<Bf16> inner_values;
  Buffer<Bf16> skip_values;
  Buffer<LowBits> skip_values_low;
  Buffer<Bf16> padded;  // the input with its border
  Buffer<Bf16> padded_low;
  Buffer<float> sums;  // of a strip
};

}  // namespace longtail::nn::amx
