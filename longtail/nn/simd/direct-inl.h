// The product inside every direct convolution: a few neighbouring pixels times 16 channels, over a list of
// taps.
#if defined(LONGTAIL_NN_SIMD_DIRECT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LONGTAIL_NN_SIMD_DIRECT_INL_H_
#undef LONGTAIL_NN_SIMD_DIRECT_INL_H_
#else
#define LONGTAIL_NN_SIMD_DIRECT_INL_H_
#endif

#include "longtail/nn/simd/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace longtail::nn::simd::HWY_NAMESPACE {

constexpr int kMaxChannels = 256;

// One tap of the kernel: its source for pixel 0 of a row, its weights [depth][16], and the step between
// pixels.
struct Tap {
  const float* source;
  const float* weights;
  int depth;
  std::ptrdiff_t step;
};

template <int kCount>
HWY_INLINE void gather_product(const Tap* taps, int count, int first, Vec (&sum)[kCount][kVectors]) {
  for (int p = 0; p < kCount; ++p) {
    for (int v = 0; v < kVectors; ++v) sum[p][v] = zero();
  }
  for (int t = 0; t < count; ++t) {
    const std::ptrdiff_t step = taps[t].step;
    const float* source = taps[t].source + first * step;
    const float* weights = taps[t].weights;
    for (int k = 0; k < taps[t].depth; ++k, weights += kBlock) {
      Vec w[kVectors];
      for (int v = 0; v < kVectors; ++v) w[v] = load(weights + v * kLanes);
      for (int p = 0; p < kCount; ++p) {
        const Vec x = all(source[p * step + k]);
        for (int v = 0; v < kVectors; ++v) sum[p][v] = fma(x, w[v], sum[p][v]);
      }
    }
  }
}

template <int kCount>
struct Count {
  static constexpr int value = kCount;
};
// Sums over pixels are taken by groups of four pixels of a row, the rest of a row one by one, on every CPU.
constexpr int kGroup = 4;
// Pixels in registers at a time: vectors of 16 channels need two groups to keep both multiply-add units busy.
constexpr int kPixels = kVectors == 1 ? 2 * kGroup : kGroup;
// Calls body(first, Count) for Count pixels from `first`: whole groups or a single pixel.
template <class Body>
HWY_INLINE void each_group(int pixels, const Body& body) {
  int x = 0;
  for (; x + kPixels <= pixels; x += kPixels) body(x, Count<kPixels>());
  for (; x + kGroup <= pixels; x += kGroup) body(x, Count<kGroup>());
  for (; x < pixels; ++x) body(x, Count<1>());
}
// When `count` pixels are taken together, how many of them are a group.
constexpr int group_of(int count) { return count < kGroup ? count : kGroup; }

}  // namespace longtail::nn::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
