// The passes themselves, in vectors of one channel block. Included by kernels_{baseline,avx2,avx512}.cc,
// which are compiled for their instruction set: no standard header with inline code may be used here, or the
// linker could pick the AVX-512 copy of it for everyone.
#include <immintrin.h>

#include "longtail/nn/onednn/kernels.h"

namespace longtail::nn::onednn {
namespace {

template <int B>
struct VectorsOf;
template <>
struct VectorsOf<8> {
  using Float = float __attribute__((vector_size(32), aligned(32)));
  using Double = double __attribute__((vector_size(64), aligned(64)));
};
template <>
struct VectorsOf<16> {
  using Float = float __attribute__((vector_size(64), aligned(64)));
  using Double = double __attribute__((vector_size(128), aligned(128)));
};

// Every pass walks block by block; within a block the channel's coefficients stay in registers.
template <int B, class Visit>
inline __attribute__((always_inline)) void for_each_block(const SliceShape& s, const Visit& visit) {
  const int blocks = s.channels / B;
  for (int block = 0; block < blocks; ++block) {
    for (int image = 0; image < s.images; ++image) {
      visit(block, (static_cast<long>(image) * blocks + block) * s.pixels);
    }
  }
}

template <int B>
struct Pass {
  using Float = typename VectorsOf<B>::Float;
  using Double = typename VectorsOf<B>::Double;

  static const Float* in(const float* p) { return reinterpret_cast<const Float*>(p); }
  static Float* out(float* p) { return reinterpret_cast<Float*>(p); }

  // x scale + shift, rounded once where the CPU can: PyTorch does the same, and the sign of the result
  // decides what a ReLU lets through.
  static inline __attribute__((always_inline)) Float affine(const Float& x, const Float& scale,
                                                            const Float& shift) {
#if defined(__AVX512F__)
    if constexpr (B == 16) {
      return reinterpret_cast<Float>(_mm512_fmadd_ps(
          reinterpret_cast<__m512>(x), reinterpret_cast<__m512>(scale), reinterpret_cast<__m512>(shift)));
    }
#endif
#if defined(__FMA__)
    Float result;
    for (int half = 0; half < B; half += 8) {
      _mm256_store_ps(reinterpret_cast<float*>(&result) + half,
                      _mm256_fmadd_ps(_mm256_load_ps(reinterpret_cast<const float*>(&x) + half),
                                      _mm256_load_ps(reinterpret_cast<const float*>(&scale) + half),
                                      _mm256_load_ps(reinterpret_cast<const float*>(&shift) + half)));
    }
    return result;
#else
    return x * scale + shift;
#endif
  }

  // Two running sums over a block in double, four a lane so that additions do not wait for each other; the
  // order is always the same.
  struct Pair {
    Double first[4] = {};
    Double second[4] = {};

    inline __attribute__((always_inline)) void drain(Sums out, int block) {
      const Double one = (first[0] + first[1]) + (first[2] + first[3]);
      const Double two = (second[0] + second[1]) + (second[2] + second[3]);
      for (int lane = 0; lane < B; ++lane) {
        out.first[block * B + lane] += one[lane];
        out.second[block * B + lane] += two[lane];
      }
    }
  };

  static void clear(const SliceShape& s, Sums out) {
    for (int c = 0; c < s.channels; ++c) out.first[c] = out.second[c] = 0;
  }

  static inline __attribute__((always_inline)) Double wide(const Float& x) {
    return __builtin_convertvector(x, Double);
  }

  // Calls visit(block, position, a, b) for each pixel; it sets the two terms.
  template <class Visit>
  static inline __attribute__((always_inline)) void sum(const SliceShape& s, Sums out, const Visit& visit) {
    clear(s, out);
    for_each_block<B>(
        s, [&](int block, long base) __attribute__((always_inline)) {
          Pair pair;
          for (int p = 0; p < s.pixels; p += 4) {
            for (int i = 0; i < 4; ++i) {
              Double a, b;
              visit(block, base + p + i, a, b);
              pair.first[i] += a;
              pair.second[i] += b;
            }
          }
          pair.drain(out, block);
        });
  }

  static void statistics(const SliceShape& s, const float* x, Sums out) {
    const Float* xs = in(x);
    sum(
        s, out, [&](int, long at, Double& a, Double& b) __attribute__((always_inline)) {
          a = wide(xs[at]);
          b = a * a;
        });
  }

  static inline __attribute__((always_inline)) void positive(Float& v) { v = v > 0.0f ? v : Float{}; }

  static void affine_relu(const SliceShape& s, const float* x, Affine a, float* y) {
    const Float* xs = in(x);
    Float* ys = out(y);
    for_each_block<B>(
        s, [&](int block, long base) __attribute__((always_inline)) {
          const Float scale = in(a.scale)[block], shift = in(a.shift)[block];
          for (long at = base; at < base + s.pixels; ++at) {
            Float v = affine(xs[at], scale, shift);
            positive(v);
            ys[at] = v;
          }
        });
  }

  static void affine_add_relu(const SliceShape& s, const float* x, Affine a, const float* skip, float* y) {
    const Float* xs = in(x);
    const Float* skips = in(skip);
    Float* ys = out(y);
    for_each_block<B>(
        s, [&](int block, long base) __attribute__((always_inline)) {
          const Float scale = in(a.scale)[block], shift = in(a.shift)[block];
          for (long at = base; at < base + s.pixels; ++at) {
            Float v = affine(xs[at], scale, shift) + skips[at];
            positive(v);
            ys[at] = v;
          }
        });
  }

  static void affine_pair_relu(const SliceShape& s, const float* x, Affine a, const float* x2, Affine a2,
                               float* y) {
    const Float* xs = in(x);
    const Float* others = in(x2);
    Float* ys = out(y);
    for_each_block<B>(
        s, [&](int block, long base) __attribute__((always_inline)) {
          const Float scale = in(a.scale)[block], shift = in(a.shift)[block];
          const Float scale2 = in(a2.scale)[block], shift2 = in(a2.shift)[block];
          for (long at = base; at < base + s.pixels; ++at) {
            Float v = affine(xs[at], scale, shift) + affine(others[at], scale2, shift2);
            positive(v);
            ys[at] = v;
          }
        });
  }

  static void gradient_sums(const SliceShape& s, const float* d, const float* x, const float* mean,
                            Sums out) {
    const Float *ds = in(d), *xs = in(x), *means = in(mean);
    sum(
        s, out, [&](int block, long at, Double& a, Double& b) __attribute__((always_inline)) {
          a = wide(ds[at]);
          b = a * wide(xs[at] - means[block]);
        });
  }

  static void masked_sums(const SliceShape& s, const float* d, const float* y, const float* x,
                          const float* mean, Sums out) {
    const Float *ds = in(d), *ys = in(y), *xs = in(x), *means = in(mean);
    sum(
        s, out, [&](int block, long at, Double& a, Double& b) __attribute__((always_inline)) {
          const Float d = ys[at] > 0.0f ? ds[at] : Float{};
          a = wide(d);
          b = a * wide(xs[at] - means[block]);
        });
  }

  static void join_sums(const SliceShape& s, const float* d, const float* skip, const float* y,
                        const float* x, const float* mean, float* result, Sums sums) {
    const Float *ds = in(d), *skips = in(skip), *ys = in(y), *xs = in(x), *means = in(mean);
    Float* results = out(result);
    sum(
        s, sums, [&](int block, long at, Double& a, Double& b) __attribute__((always_inline)) {
          Float d = ds[at] + skips[at];
          d = ys[at] > 0.0f ? d : Float{};
          results[at] = d;
          a = wide(d);
          b = a * wide(xs[at] - means[block]);
        });
  }

  static void norm_backward(const SliceShape& s, const float* d, const float* x, NormBackward b,
                            float* result) {
    const Float *ds = in(d), *xs = in(x);
    Float* results = out(result);
    for_each_block<B>(
        s, [&](int block, long base) __attribute__((always_inline)) {
          const Float mean = in(b.mean)[block], scale = in(b.scale)[block];
          const Float mean_d = in(b.mean_d)[block], slope = in(b.slope)[block];
          for (long at = base; at < base + s.pixels; ++at) {
            results[at] = (ds[at] - mean_d - (xs[at] - mean) * slope) * scale;
          }
        });
  }

  static void masked_norm_backward(const SliceShape& s, const float* d, const float* x, Affine f,
                                   NormBackward b, float* result) {
    const Float *ds = in(d), *xs = in(x);
    Float* results = out(result);
    for_each_block<B>(
        s, [&](int block, long base) __attribute__((always_inline)) {
          const Float forward_scale = in(f.scale)[block], forward_shift = in(f.shift)[block];
          const Float mean = in(b.mean)[block], scale = in(b.scale)[block];
          const Float mean_d = in(b.mean_d)[block], slope = in(b.slope)[block];
          for (long at = base; at < base + s.pixels; ++at) {
            const Float v = affine(xs[at], forward_scale, forward_shift);
            const Float masked = v > 0.0f ? ds[at] : Float{};
            results[at] = (masked - mean_d - (xs[at] - mean) * slope) * scale;
          }
        });
  }

  static constexpr Kernels table(std::string_view name) {
    return {name,          statistics,  affine_relu, affine_add_relu, affine_pair_relu,
            gradient_sums, masked_sums, join_sums,   norm_backward,   masked_norm_backward};
  }
};

}  // namespace
}  // namespace longtail::nn::onednn
