// The pieces of Winograd's F(4x4, 3x3), by rows and columns: the transforms of six or four values, and the
// products between them.
#if defined(LONGTAIL_NN_SIMD_WINOGRAD_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LONGTAIL_NN_SIMD_WINOGRAD_INL_H_
#undef LONGTAIL_NN_SIMD_WINOGRAD_INL_H_
#else
#define LONGTAIL_NN_SIMD_WINOGRAD_INL_H_
#endif

#include <algorithm>

#include "longtail/nn/simd/kernels.h"
#include "longtail/nn/simd/panel.h"
#include "longtail/nn/simd/points.h"
#include "longtail/nn/simd/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace longtail::nn::simd::HWY_NAMESPACE {

using Index = std::ptrdiff_t;

// t = B^T d: six inputs.
HWY_INLINE void transform_input(const Vec (&d)[6], Vec (&t)[6]) {
  const Vec a = all(kA), b = all(kB), a2 = all(kA2), b2 = all(kB2), sum = all(kSum), product = all(kProduct);
  t[0] = fnma(sum, d[2], fma(product, d[0], d[4]));
  const Vec even = fnma(b2, d[2], d[4]), odd = fnma(b2, d[1], d[3]);
  t[1] = fma(a, odd, even);
  t[2] = fnma(a, odd, even);
  const Vec even2 = fnma(a2, d[2], d[4]), odd2 = fnma(a2, d[1], d[3]);
  t[3] = fma(b, odd2, even2);
  t[4] = fnma(b, odd2, even2);
  t[5] = fnma(sum, d[3], fma(product, d[1], d[5]));
}

// y = A^T m: four outputs.
HWY_INLINE void transform_output(const Vec (&m)[6], Vec (&y)[4]) {
  const Vec s = add(m[1], m[2]), d = sub(m[1], m[2]), s2 = add(m[3], m[4]), d2 = sub(m[3], m[4]);
  y[0] = add(add(m[0], s), s2);
  y[1] = fma(all(kB), d2, mul(all(kA), d));
  y[2] = fma(all(kB2), s2, mul(all(kA2), s));
  y[3] = fma(all(kB * kB2), d2, fma(all(kA * kA2), d, m[5]));
}

// m = A y: the gradient of four outputs.
HWY_INLINE void transform_gradient(const Vec (&y)[4], Vec (&m)[6]) {
  const Vec a = all(kA), b = all(kB), a2 = all(kA2), b2 = all(kB2);
  const Vec even = fma(a2, y[2], y[0]), odd = fma(a2, y[3], y[1]);
  const Vec even2 = fma(b2, y[2], y[0]), odd2 = fma(b2, y[3], y[1]);
  m[0] = y[0];
  m[1] = fma(a, odd, even);
  m[2] = fnma(a, odd, even);
  m[3] = fma(b, odd2, even2);
  m[4] = fnma(b, odd2, even2);
  m[5] = y[3];
}

// d = B t: the gradient of six inputs. The previous tile overlaps the first two; the last two are the `carry`
// for the next tile.
HWY_INLINE void transform_back(const Vec (&t)[6], Vec (&carry)[2], Vec (&d)[4]) {
  const Vec sum = all(kSum), product = all(kProduct);
  const Vec s = add(t[1], t[2]), r = sub(t[1], t[2]), s2 = add(t[3], t[4]), r2 = sub(t[3], t[4]);
  d[0] = fma(product, t[0], carry[0]);
  d[1] = fma(product, t[5], fnma(all(kA * kB2), r, fnma(all(kB * kA2), r2, carry[1])));
  d[2] = fnma(sum, t[0], fnma(all(kB2), s, mul(all(-kA2), s2)));
  d[3] = fnma(sum, t[5], fma(all(kB), r2, mul(all(kA), r)));
  carry[0] = add(add(t[0], s), s2);
  carry[1] = t[5];
}

// The value of a pixel's channels c.. at index i.
template <int kForm>
HWY_INLINE Vec value(const Activation& a, Index i, int c) {
  const Vec z = load(a.z + i);
  if constexpr (kForm == Activation::kNorm) return relu(fma(z, load(a.scale + c), load(a.shift + c)));
  if constexpr (kForm == Activation::kNormSkip) {
    return relu(add(fma(z, load(a.scale + c), load(a.shift + c)), load(a.other + i)));
  }
  if constexpr (kForm == Activation::kNormNorm) {
    return relu(add(fma(z, load(a.scale + c), load(a.shift + c)),
                    fma(load(a.other + i), load(a.other_scale + c), load(a.other_shift + c))));
  }
  if constexpr (kForm == Activation::kGradient) {
    return fma(z, load(a.scale + c), fma(load(a.other + i), load(a.other_scale + c), load(a.shift + c)));
  }
  return z;
}

template <int kValue>
struct Constant {
  static constexpr int value = kValue;
};
// Calls run(Constant of the form of an activation).
template <class Run>
HWY_INLINE void with_form(Activation::Form form, const Run& run) {
  switch (form) {
    case Activation::kCopy:
      return run(Constant<Activation::kCopy>());
    case Activation::kNorm:
      return run(Constant<Activation::kNorm>());
    case Activation::kNormSkip:
      return run(Constant<Activation::kNormSkip>());
    case Activation::kNormNorm:
      return run(Constant<Activation::kNormNorm>());
    case Activation::kGradient:
      return run(Constant<Activation::kGradient>());
  }
}

// The six rows from row `top` of an image, transformed along the columns of the picture, to six strips with a
// border of one zero pixel (more where the last tile is cut). Rows 1 to 4 are kept, if asked for.
template <int kForm, bool kEdge, bool kKeep, class P>
void strip_input(const P p, const Activation a, int top, float* strip, Index pitch) {
  const Index line = Index{p.side} * p.channels;
  for (int k = 0; k < 6; ++k) {
    float* out = strip + k * pitch;
    std::fill_n(out, p.channels, 0.0f);
    std::fill_n(out + p.channels + line, Index{4 * p.tiles + 1 - p.side} * p.channels, 0.0f);
  }
  const Index first = top * line;
  float* out = strip + p.channels;
  for (Index x = 0; x < line; x += p.channels) {
    for (int c = 0; c < p.channels; c += kLanes) {
      const Index i = x + c;
      Vec d[6], t[6];
      for (int k = 0; k < 6; ++k) {
        const bool inside = !kEdge || (top + k >= 0 && top + k < p.side);
        d[k] = inside ? value<kForm>(a, first + k * line + i, c) : zero();
        if (kKeep && inside && k > 0 && k < 5) store(d[k], a.keep + first + k * line + i);
      }
      transform_input(d, t);
      for (int k = 0; k < 6; ++k) store(t[k], out + k * pitch + i);
    }
  }
}

template <int kForm, class P>
void strip_of_form(const P p, const Activation& a, int top, float* strip, Index pitch) {
  constexpr bool kMayKeep =
      kForm == Activation::kNormSkip || kForm == Activation::kNormNorm || kForm == Activation::kNorm;
  const bool edge = top < 0 || top + 6 > p.side;
  if (kMayKeep && a.keep != nullptr) {
    return edge ? strip_input<kForm, true, kMayKeep>(p, a, top, strip, pitch)
                : strip_input<kForm, false, kMayKeep>(p, a, top, strip, pitch);
  }
  edge ? strip_input<kForm, true, false>(p, a, top, strip, pitch)
       : strip_input<kForm, false, false>(p, a, top, strip, pitch);
}

// The strips of a panel: image by image, row of tiles by row of tiles.
template <class P>
void panel_input(const P p, const Activation& from, int first_row, float* strips) {
  const Index pixels = 4 * p.tiles + 2, pitch = p.strip_pitch(2);
  const Index image = Index{p.side} * p.side * p.channels;
  with_form(from.form, [&](auto form) HWY_ATTR {
    for (int g = 0; g < p.images; ++g) {
      Activation a = from;
      a.z += g * image;
      if (a.other != nullptr) a.other += g * image;
      if (a.keep != nullptr) a.keep += g * image;
      for (int r = 0; r < p.rows; ++r) {
        strip_of_form<decltype(form)::value>(p, a, 4 * (first_row + r) - 1,
                                             strips + (g * p.rows + r) * pixels * p.channels, pitch);
      }
    }
  });
}

// One of the six strips, transformed along its rows, to six positions of all tiles.
template <class P>
void tile_input(const P p, const float* strip, float* tiles) {
  const Index pitch = p.tile_pitch();
  const int channels = p.channels;
  for (int r = 0; r < p.tile_rows(); ++r) {
    for (int t = 0; t < p.tiles; ++t, tiles += channels) {
      const float* from = strip + (r * Index{4 * p.tiles + 2} + 4 * t) * channels;
      for (int c = 0; c < channels; c += kLanes) {
        Vec d[6], v[6];
        for (int k = 0; k < 6; ++k) d[k] = load(from + k * channels + c);
        transform_input(d, v);
        for (int k = 0; k < 6; ++k) store(v[k], tiles + k * pitch + c);
      }
    }
  }
}

// Prefetches what the next panel reads and writes into the second-level cache while this one is multiplied, a
// little with each of the 36 products. (In the first level it would evict what is multiplied.) In every array
// the next panel follows this one; a prefetch after the last of them does no harm.
class Ahead {
 public:
  Ahead(const Panel& p, int first_row)
      : floats_(Index{p.images} * p.rows * 4 * p.side * p.channels),
        begin_(Index{first_row} * 4 * p.side * p.channels + floats_),
        part_((floats_ / 36 + kLine - 1) / kLine * kLine) {}
  void add(const float* array) {
    if (array == nullptr || std::find(arrays_, arrays_ + count_, array + begin_) != arrays_ + count_) return;
    arrays_[count_++] = array + begin_;
  }
  // To be called once with each product.
  HWY_INLINE void fetch() {
    for (int a = 0; a < count_; ++a) {
      for (const float *at = arrays_[a], *end = (arrays_[a] += part_); at < end; at += kLine)
        __builtin_prefetch(at, 0, 2);
    }
  }

 private:
  static constexpr Index kLine = 16;
  Index floats_, begin_;  // of each array
  Index part_;            // floats of an array to fetch with one product
  int count_ = 0;
  const float* arrays_[8] = {};
};

// Sums of one product that are in registers together: this many tiles by kBlocks blocks of 16 channels. An
// input value that is read once then serves all blocks.
template <int kBlocks>
constexpr int kTiles = kVectors == 1   ? 16 / kBlocks
                       : kVectors <= 4 ? 6
                                       : 1;

// out[tile][kBlocks * 16] = in[tile][depth] x weights[block][depth][16]. Products are summed in groups of
// sixteen, and these sums are added: that halves the rounding error of 64 products in a row.
template <int kCount, int kBlocks>
HWY_INLINE void product_block(int depth, int stride, const float* in, const float* weights, float* out) {
  constexpr int kAcross = kBlocks * kVectors;
  const Index next_block = Index{depth} * kBlock;
  for (int first = 0; first < depth; first += kBlock, in += kBlock) {
    Vec sum[kCount][kAcross];
    for (int t = 0; t < kCount; ++t) {
      for (int v = 0; v < kAcross; ++v) sum[t][v] = zero();
    }
    for (int k = 0; k < kBlock; ++k, weights += kBlock) {
      Vec w[kAcross];
      for (int v = 0; v < kAcross; ++v)
        w[v] = load(weights + v / kVectors * next_block + v % kVectors * kLanes);
      for (int t = 0; t < kCount; ++t) {
        const Vec x = all(in[t * Index{stride} + k]);
        for (int v = 0; v < kAcross; ++v) sum[t][v] = fma(x, w[v], sum[t][v]);
      }
    }
    for (int t = 0; t < kCount; ++t) {
      for (int v = 0; v < kAcross; ++v) {
        float* to = out + t * Index{stride} + v * kLanes;
        store(first == 0 ? sum[t][v] : add(load(to), sum[t][v]), to);
      }
    }
  }
}
template <int kCount, int kBlocks>
HWY_INLINE void product_rest(int rest, int depth, int stride, const float* in, const float* weights,
                             float* out) {
  if constexpr (kCount > 0) {
    if (rest == kCount) return product_block<kCount, kBlocks>(depth, stride, in, weights, out);
    product_rest<kCount - 1, kBlocks>(rest, depth, stride, in, weights, out);
  }
}
template <int kBlocks, class P>
HWY_INLINE void product_of_blocks(const P p, const float* in, const float* weights, float* out) {
  constexpr int kTogether = kTiles<kBlocks>;
  const int channels = p.channels, count = p.count();
  for (int c = 0; c < channels; c += kBlocks * kBlock, weights += Index{channels} * kBlocks * kBlock) {
    int t = 0;
    for (; t + kTogether <= count; t += kTogether) {
      product_block<kTogether, kBlocks>(channels, channels, in + t * Index{channels}, weights,
                                        out + t * Index{channels} + c);
    }
    product_rest<kTogether - 1, kBlocks>(count - t, channels, channels, in + t * Index{channels}, weights,
                                         out + t * Index{channels} + c);
  }
}

// All tiles at one position: [count][channels] times weights [channels / 16][channels][16].
template <class P>
void product(const P p, const float* in, const float* weights, float* out) {
  if (kVectors == 1 && p.channels % (2 * kBlock) == 0) {
    product_of_blocks<2>(p, in, weights, out);
  } else {
    product_of_blocks<1>(p, in, weights, out);
  }
}

}  // namespace longtail::nn::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
