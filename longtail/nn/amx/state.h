// What the amx engine keeps between and during steps: a batch norm's coefficients, a worker's operands, the
// activations and sums of a batch.
#pragma once

#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "longtail/nn/buffer.h"
#include "longtail/nn/amx/network.h"

namespace longtail::nn::amx {

constexpr int kMaxChannels = 64;

// Sums over a slice of the batch, one pair for each of the two batch norms that a pass may feed.
struct alignas(64) SliceSums {
  double sum[2][kMaxChannels];
  double product[2][kMaxChannels];
};

// A batch norm as multiply-adds: y = z * scale + shift; backward dz = d * a + z * b + c.
struct alignas(64) Norm {
  float scale[kMaxChannels];
  float shift[kMaxChannels];
  float mean[kMaxChannels];
  float inverse[kMaxChannels];  // 1 / sqrt(variance + epsilon)
  float a[kMaxChannels];
  float b[kMaxChannels];
  float c[kMaxChannels];

  // From the statistics of `count` values, which it also blends into the running ones.
  void from_batch(const Layer& layer, std::span<const SliceSums> slices, int which, double count,
                  std::span<const float> parameters, std::span<float> buffers);
  void from_running(const Layer& layer, std::span<const float> parameters, std::span<const float> buffers);
  // Coefficients of the backward pass and the gradient of scale and shift, from the sums of a pass.
  void backward(const Layer& layer, std::span<const SliceSums> slices, int which, double count, bool frozen,
                std::span<float> gradient);

 private:
  void set(int channel, double mean, double variance, const Layer& layer, std::span<const float> parameters);
};

// The operands of one worker; borders of the grids stay zero for good.
struct Scratch {
  static constexpr int kGroup = 4;  // images whose weight gradients of 64 channels are taken together

  explicit Scratch(const Network& network);
  Bf16* grid(Kind kind) { return grids.data() + grid_offset[static_cast<std::size_t>(kind)]; }
  Bf16* pair_grid(Kind kind) { return pairs.data() + pair_offset[static_cast<std::size_t>(kind)]; }

  std::size_t grid_offset[kKinds];
  std::size_t pair_offset[kKinds];
  Buffer<Bf16> grids;
  Buffer<Bf16> pairs;
  Buffer<Bf16> transposed;   // kGroup images
  Buffer<Bf16> transposed2;  // of the projection
  Buffer<Bf16> values;       // activations of one image
  Buffer<Bf16> values2;
  Buffer<Bf16> values3;
  Buffer<Low> values3_low;
  Buffer<Bf16> padded;  // the input with its border
  Buffer<Bf16> padded_low;
  Buffer<float> sums;  // of a strip
};

}  // namespace longtail::nn::amx
