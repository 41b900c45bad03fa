// Passes over channel-blocked slices of activations: batch norm, ReLU, residual sums and their gradients. A
// slice is a few images of [block][pixel][lane]; coefficients are one float a channel. AVX2 and AVX-512 give
// the same bits (older CPUs lack the fused multiply-add): sums run lane by lane in a fixed order.
#pragma once

#include <cstddef>
#include <string_view>

namespace longtail::nn::onednn {

struct SliceShape {
  int images = 0;
  int channels = 0;
  int pixels = 0;
};

// Sums of a slice, one a channel: for statistics, of x and of x squared; for gradients, of d and of d (x -
// mean).
struct Sums {
  double* first = nullptr;
  double* second = nullptr;
};

// y = max(scale x + shift, 0)
struct Affine {
  const float* scale = nullptr;
  const float* shift = nullptr;
};

// What turns the gradient d of a batch norm's output into that of its input x:
// scale (d - mean_d - (x - mean) slope).
struct NormBackward {
  const float* mean = nullptr;
  const float* scale = nullptr;
  const float* mean_d = nullptr;
  const float* slope = nullptr;
};

struct Kernels {
  std::string_view name;
  void (*statistics)(const SliceShape& s, const float* x, Sums out);
  void (*affine_relu)(const SliceShape& s, const float* x, Affine a, float* y);
  // y = max(scale x + shift + skip, 0)
  void (*affine_add_relu)(const SliceShape& s, const float* x, Affine a, const float* skip, float* y);
  // y = max(scale x + shift + (scale2 x2 + shift2), 0)
  void (*affine_pair_relu)(const SliceShape& s, const float* x, Affine a, const float* x2, Affine a2,
                           float* y);
  // Sums of d and d (x - mean).
  void (*gradient_sums)(const SliceShape& s, const float* d, const float* x, const float* mean, Sums out);
  // The same where y > 0 only.
  void (*masked_sums)(const SliceShape& s, const float* d, const float* y, const float* x, const float* mean,
                      Sums out);
  // result = (y > 0 ? d + skip : 0), and its sums against x.
  void (*join_sums)(const SliceShape& s, const float* d, const float* skip, const float* y, const float* x,
                    const float* mean, float* result, Sums out);
  void (*norm_backward)(const SliceShape& s, const float* d, const float* x, NormBackward b, float* result);
  // The same with d taken as 0 where scale x + shift of the forward pass was not above 0.
  void (*masked_norm_backward)(const SliceShape& s, const float* d, const float* x, Affine forward,
                               NormBackward b, float* result);
};

// The fastest of the three (AVX-512, AVX2, any x86-64) that this CPU runs, for blocks of 8 or 16 channels.
const Kernels& kernels(int channel_block);

// One by name ("avx512", "avx2", "baseline"), or null where this CPU lacks it. For tests.
const Kernels* kernels(int channel_block, std::string_view name);

}  // namespace longtail::nn::onednn
