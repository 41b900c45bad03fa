// Vectors of floats on the instruction set that is being compiled; as in Highway, the file is included once
// for each. A vector holds neighbouring channels, never neighbouring pixels, and no operation runs across its
// lanes. Every operation below rounds once, the same way on every CPU; so the width of a vector, and with it
// the CPU, does not show in any bit of a result.
#if defined(LONGTAIL_NN_SIMD_VECTOR_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LONGTAIL_NN_SIMD_VECTOR_INL_H_
#undef LONGTAIL_NN_SIMD_VECTOR_INL_H_
#else
#define LONGTAIL_NN_SIMD_VECTOR_INL_H_
#endif

#include <hwy/highway.h>

#include <cmath>
#include <cstddef>

HWY_BEFORE_NAMESPACE();
namespace longtail::nn::simd::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using Tag = hn::CappedTag<float, 16>;
using Vec = hn::Vec<Tag>;

// Channels come in blocks of 16: one vector of AVX-512, two of AVX2, four of NEON.
constexpr int kBlock = 16;
constexpr int kLanes = HWY_LANES(float) < kBlock ? HWY_LANES(float) : kBlock;
constexpr int kVectors = kBlock / kLanes;

HWY_INLINE Vec load(const float* p) { return hn::LoadU(Tag(), p); }
HWY_INLINE void store(Vec v, float* p) { hn::StoreU(v, Tag(), p); }
HWY_INLINE Vec all(float value) { return hn::Set(Tag(), value); }
HWY_INLINE Vec zero() { return hn::Zero(Tag()); }
HWY_INLINE Vec add(Vec a, Vec b) { return hn::Add(a, b); }
HWY_INLINE Vec sub(Vec a, Vec b) { return hn::Sub(a, b); }
HWY_INLINE Vec mul(Vec a, Vec b) { return hn::Mul(a, b); }

#if HWY_TARGET == HWY_SCALAR
// Highway's multiply-add rounds twice where there is no instruction for it.
HWY_INLINE Vec fma(Vec a, Vec b, Vec c) { return Vec(std::fma(a.raw, b.raw, c.raw)); }
HWY_INLINE Vec fnma(Vec a, Vec b, Vec c) { return Vec(std::fma(-a.raw, b.raw, c.raw)); }
#elif HWY_TARGET == HWY_EMU128
HWY_INLINE Vec fma(Vec a, Vec b, Vec c) {
  for (int i = 0; i < kLanes; ++i) a.raw[i] = std::fma(a.raw[i], b.raw[i], c.raw[i]);
  return a;
}
HWY_INLINE Vec fnma(Vec a, Vec b, Vec c) {
  for (int i = 0; i < kLanes; ++i) a.raw[i] = std::fma(-a.raw[i], b.raw[i], c.raw[i]);
  return a;
}
#else
HWY_INLINE Vec fma(Vec a, Vec b, Vec c) { return hn::MulAdd(a, b, c); }      // a b + c
HWY_INLINE Vec fnma(Vec a, Vec b, Vec c) { return hn::NegMulAdd(a, b, c); }  // c - a b
#endif

// Lets NaN and the sign of zero pass: x86's maximum does so if the value comes second.
HWY_INLINE Vec relu(Vec v) {
#if HWY_ARCH_X86 && HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128
  return hn::Max(zero(), v);
#else
  return hn::IfThenElse(hn::Lt(v, zero()), zero(), v);
#endif
}

// v where gate > 0, else 0.
HWY_INLINE Vec where_positive(Vec gate, Vec v) { return hn::IfThenElseZero(hn::Gt(gate, zero()), v); }

}  // namespace longtail::nn::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
