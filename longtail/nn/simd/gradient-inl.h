// The end of a backward pass at a pixel: skip, ReLU and the sums for the batch norms below.
#if defined(LONGTAIL_NN_SIMD_GRADIENT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LONGTAIL_NN_SIMD_GRADIENT_INL_H_
#undef LONGTAIL_NN_SIMD_GRADIENT_INL_H_
#else
#define LONGTAIL_NN_SIMD_GRADIENT_INL_H_
#endif

#include <algorithm>

#include "longtail/nn/simd/kernels.h"
#include "longtail/nn/simd/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace longtail::nn::simd::HWY_NAMESPACE {

// How the gradient of an input is finished.
enum GradientForm {
  kInner,   // gate from z; no skip
  kOuter,   // gate, skip
  kStart,   // gate, no skip
  kOuter2,  // gate, skip, a second unit
  kStart2,  // gate, no skip, a second unit
};
constexpr bool has_skip(int form) { return form == kOuter || form == kOuter2; }
constexpr bool has_second(int form) { return form == kOuter2 || form == kStart2; }

// Calls run(FormConstant of the form of g).
template <int kForm>
struct FormConstant {
  static constexpr int value = kForm;
};
template <class Run>
HWY_INLINE void with_gradient_form(const InputGradient& g, const Run& run) {
  if (g.gate == nullptr) return run(FormConstant<kInner>());
  if (g.other != nullptr) {
    return g.skip != nullptr ? run(FormConstant<kOuter2>()) : run(FormConstant<kStart2>());
  }
  return g.skip != nullptr ? run(FormConstant<kOuter>()) : run(FormConstant<kStart>());
}

// Sums of a few pixels, in registers.
struct PixelSums {
  // Written out, since the compiler would generate its own without the instructions of the target.
  HWY_INLINE PixelSums() {}
  HWY_INLINE PixelSums(Vec s, Vec p, Vec o) : sum(s), product(p), other(o) {}
  Vec sum, product, other;
};
template <int kForm, bool kFirst>
HWY_INLINE void finish_pixel(const InputGradient& g, Vec d, Vec mean, std::ptrdiff_t i, int c,
                             PixelSums& sums) {
  if (has_skip(kForm)) d = add(d, load(g.skip + i));
  const Vec z = load(g.z + i);
  const Vec gate = kForm == kInner ? fma(z, load(g.scale + c), load(g.shift + c)) : load(g.gate + i);
  d = where_positive(gate, d);
  const Vec centred = sub(z, mean);
  sums.sum = kFirst ? d : add(sums.sum, d);
  sums.product = kFirst ? mul(d, centred) : fma(d, centred, sums.product);
  if (has_second(kForm)) {
    const Vec other = sub(load(g.other + i), load(g.other_mean + c));
    sums.other = kFirst ? mul(d, other) : fma(d, other, sums.other);
  }
  store(d, g.d + i);
}

// The sums of many pixels in memory: three rows of `channels` floats.
template <int kForm>
HWY_INLINE void add_sums(const PixelSums& sums, int c, int channels, float* total) {
  store(add(load(total + c), sums.sum), total + c);
  store(add(load(total + channels + c), sums.product), total + channels + c);
  if (has_second(kForm)) {
    store(add(load(total + 2 * channels + c), sums.other), total + 2 * channels + c);
  }
}
inline void collect_sums(const InputGradient& g, int channels, float* total) {
  for (int c = 0; c < channels; ++c) {
    g.sum[c] += static_cast<double>(total[c]);
    g.product[c] += static_cast<double>(total[channels + c]);
    if (g.other != nullptr) g.other_product[c] += static_cast<double>(total[2 * channels + c]);
  }
  std::fill_n(total, 3 * channels, 0.0f);
}

}  // namespace longtail::nn::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
