// Transforms weights into Winograd's form, and the gradient of that form back into one of weights.
#include "longtail/nn/simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "longtail/nn/simd/winograd_weights.cc"
#include <hwy/foreach_target.h>
#include "longtail/nn/simd/points.h"
#include "longtail/nn/simd/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace longtail::nn::simd::HWY_NAMESPACE {
namespace {

// 1 over the product of a point's distances from the others.
constexpr float kOfZero = 1 / kProduct;
constexpr float kOfA = 1 / (2 * kA2 * (kA2 - kB2)), kOfB = 1 / (2 * kB2 * (kB2 - kA2));

// u = G g.
HWY_INLINE void expand(Vec g0, Vec g1, Vec g2, Vec (&u)[6]) {
  const Vec even = mul(all(kOfA), fma(all(kA2), g2, g0)), even2 = mul(all(kOfB), fma(all(kB2), g2, g0));
  u[0] = mul(all(kOfZero), g0);
  u[1] = fma(all(kOfA * kA), g1, even);
  u[2] = fnma(all(kOfA * kA), g1, even);
  u[3] = fma(all(kOfB * kB), g1, even2);
  u[4] = fnma(all(kOfB * kB), g1, even2);
  u[5] = g2;
}

// g = G^T u.
HWY_INLINE void contract(const Vec (&u)[6], Vec (&g)[3]) {
  const Vec s = add(u[1], u[2]), d = sub(u[1], u[2]), s2 = add(u[3], u[4]), d2 = sub(u[3], u[4]);
  g[0] = fma(all(kOfZero), u[0], fma(all(kOfB), s2, mul(all(kOfA), s)));
  g[1] = fma(all(kOfA * kA), d, mul(all(kOfB * kB), d2));
  g[2] = fma(all(kOfA * kA2), s, fma(all(kOfB * kB2), s2, u[5]));
}

void transform_weights(int channels, const float* weights, float* transformed) {
  const std::ptrdiff_t plane = std::ptrdiff_t{channels} * channels;
  for (int from = 0; from < channels; ++from) {
    for (int to = 0; to < channels; to += kLanes) {
      const float* w = weights + std::ptrdiff_t{from} * channels + to;
      Vec columns[3][6];
      for (int x = 0; x < 3; ++x) {
        expand(load(w + x * plane), load(w + (3 + x) * plane), load(w + (6 + x) * plane), columns[x]);
      }
      float* out = transformed + (std::ptrdiff_t{to / kBlock} * channels + from) * kBlock + to % kBlock;
      for (int i = 0; i < 6; ++i) {
        Vec u[6];
        expand(columns[0][i], columns[1][i], columns[2][i], u);
        for (int j = 0; j < 6; ++j) store(u[j], out + (6 * i + j) * plane);
      }
    }
  }
}

void weight_gradient(int channels, const float* transformed, float* weights) {
  const std::ptrdiff_t plane = std::ptrdiff_t{channels} * channels;
  for (std::ptrdiff_t at = 0; at < plane; at += kLanes) {
    Vec rows[6][3];
    for (int i = 0; i < 6; ++i) {
      Vec u[6];
      for (int j = 0; j < 6; ++j) u[j] = load(transformed + (6 * i + j) * plane + at);
      contract(u, rows[i]);
    }
    for (int x = 0; x < 3; ++x) {
      const Vec u[6] = {rows[0][x], rows[1][x], rows[2][x], rows[3][x], rows[4][x], rows[5][x]};
      Vec g[3];
      contract(u, g);
      for (int y = 0; y < 3; ++y) store(g[y], weights + (3 * y + x) * plane + at);
    }
  }
}

}  // namespace

void set_winograd_weights(Kernels& kernels) {
  kernels.transform_weights = transform_weights;
  kernels.weight_gradient = weight_gradient;
}

}  // namespace longtail::nn::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace longtail::nn::simd {

void set_winograd_weights(Cpu cpu, Kernels& kernels) { LONGTAIL_FOR_CPU(cpu, set_winograd_weights(kernels)); }

}  // namespace longtail::nn::simd
#endif
