// Winograd's backward pass. The gradient of the output is transformed once and serves both the weights
// (times the transformed input) and the input (times the weights, then the transposed transform, tiles
// overlapping by two pixels).
#include "longtail/nn/simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "longtail/nn/simd/winograd_backward.cc"
#include <hwy/foreach_target.h>
#include "longtail/nn/simd/gradient-inl.h"
#include "longtail/nn/simd/winograd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace longtail::nn::simd::HWY_NAMESPACE {
namespace {

// Rows top to top + 3 of the output's gradient to six strips without border; zeros where a tile is cut.
template <bool kCut, class P>
void strip_gradient(const P p, const Activation a, int top, float* strip, Index pitch) {
  const Index line = Index{p.side} * p.channels;
  if (4 * p.tiles > p.side) {
    for (int k = 0; k < 6; ++k) {
      std::fill_n(strip + k * pitch + line, Index{4 * p.tiles - p.side} * p.channels, 0.0f);
    }
  }
  for (Index x = 0; x < line; x += p.channels) {
    for (int c = 0; c < p.channels; c += kLanes) {
      Vec y[4], m[6];
      for (int k = 0; k < 4; ++k) {
        y[k] =
            !kCut || top + k < p.side ? value<Activation::kGradient>(a, (top + k) * line + x + c, c) : zero();
      }
      transform_gradient(y, m);
      for (int k = 0; k < 6; ++k) store(m[k], strip + k * pitch + x + c);
    }
  }
}

template <class P>
void panel_gradient(const P p, const Activation& from, int first_row, float* strips) {
  const Index image = Index{p.side} * p.side * p.channels;
  for (int g = 0; g < p.images; ++g) {
    Activation a = from;
    a.z += g * image;
    a.other += g * image;
    for (int r = 0; r < p.rows; ++r) {
      const int top = 4 * (first_row + r);
      float* strip = strips + (g * p.rows + r) * Index{4 * p.tiles} * p.channels;
      top + 4 > p.side ? strip_gradient<true>(p, a, top, strip, p.strip_pitch(0))
                       : strip_gradient<false>(p, a, top, strip, p.strip_pitch(0));
    }
  }
}

template <class P>
void tile_gradient(const P p, const float* strip, float* tiles) {
  const Index pitch = p.tile_pitch();
  const int channels = p.channels;
  for (int t = 0; t < p.count(); ++t, tiles += channels, strip += 4 * Index{channels}) {
    for (int c = 0; c < channels; c += kLanes) {
      Vec y[4], m[6];
      for (int k = 0; k < 4; ++k) y[k] = load(strip + k * channels + c);
      transform_gradient(y, m);
      for (int k = 0; k < 6; ++k) store(m[k], tiles + k * pitch + c);
    }
  }
}

// sums[kCount][kBlocks * 16] += in[tile][kCount]^T x gradient[tile][kBlocks * 16].
template <int kCount, int kBlocks>
HWY_INLINE void weight_block(int tiles, int channels, const float* in, const float* gradient, float* sums) {
  constexpr int kAcross = kBlocks * kVectors;
  Vec sum[kCount][kAcross];
  for (int k = 0; k < kCount; ++k) {
    for (int v = 0; v < kAcross; ++v) sum[k][v] = load(sums + k * Index{channels} + v * kLanes);
  }
  for (int t = 0; t < tiles; ++t, in += channels, gradient += channels) {
    Vec g[kAcross];
    for (int v = 0; v < kAcross; ++v) g[v] = load(gradient + v * kLanes);
    for (int k = 0; k < kCount; ++k) {
      const Vec x = all(in[k]);
      for (int v = 0; v < kAcross; ++v) sum[k][v] = fma(x, g[v], sum[k][v]);
    }
  }
  for (int k = 0; k < kCount; ++k) {
    for (int v = 0; v < kAcross; ++v) store(sum[k][v], sums + k * Index{channels} + v * kLanes);
  }
}
template <int kBlocks, class P>
HWY_INLINE void weight_blocks(const P p, const float* in, const float* gradient, float* sums) {
  constexpr int kRows = kVectors == 1 ? 16 / kBlocks : kVectors <= 4 ? 4 : 1;
  const int channels = p.channels, tiles = p.count();
  for (int c = 0; c < channels; c += kBlocks * kBlock) {
    for (int k = 0; k < channels; k += kRows) {
      weight_block<kRows, kBlocks>(tiles, channels, in + k, gradient + c, sums + k * Index{channels} + c);
    }
  }
}

// All tiles at one position: sums [in][out] += in^T x gradient.
template <class P>
void weight_product(const P p, const float* in, const float* gradient, float* sums) {
  if (kVectors == 1 && p.channels % (2 * kBlock) == 0) {
    weight_blocks<2>(p, in, gradient, sums);
  } else {
    weight_blocks<1>(p, in, gradient, sums);
  }
}

// Six positions of all tiles, back along the rows, to one of six strips with one pixel before the first.
template <class P>
void tile_back(const P p, const float* tiles, float* strip) {
  const Index pitch = p.tile_pitch();
  const int channels = p.channels;
  for (int r = 0; r < p.tile_rows(); ++r) {
    for (int c = 0; c < channels; c += kLanes) {
      const float* from = tiles + r * Index{p.tiles} * channels + c;
      float* to = strip + r * Index{4 * p.tiles + 1} * channels + c;
      Vec carry[2] = {zero(), zero()};
      for (int t = 0; t < p.tiles; ++t, from += channels, to += 4 * Index{channels}) {
        Vec m[6], d[4];
        for (int k = 0; k < 6; ++k) m[k] = load(from + k * pitch);
        transform_back(m, carry, d);
        for (int k = 0; k < 4; ++k) store(d[k], to + k * channels);
      }
      store(carry[0], to);
    }
  }
}

// Six strips, back along the columns, to rows top - 1 to top + 2 of an image; `carry` holds two rows from the
// row of tiles above, then for the one below.
template <int kForm, bool kEdge, class P>
void strip_back(const P p, const float* strip, Index pitch, int top, float* carry, const InputGradient g,
                float* sums) {
  const Index line = Index{p.side} * p.channels;
  for (Index x = 0; x < line; x += p.channels) {
    for (int c = 0; c < p.channels; c += kLanes) {
      Vec t[6], d[4], kept[2] = {load(carry + x + c), load(carry + line + x + c)};
      for (int k = 0; k < 6; ++k) t[k] = load(strip + k * pitch + x + c);
      transform_back(t, kept, d);
      store(kept[0], carry + x + c);
      store(kept[1], carry + line + x + c);
      const Vec mean = load(g.mean + c);
      const Index i = (top - 1) * line + x + c;
      PixelSums total{zero(), zero(), zero()};
      if constexpr (kEdge) {
        for (int k = 0; k < 4; ++k) {
          if (top - 1 + k < 0 || top - 1 + k >= p.side) continue;
          finish_pixel<kForm, false>(g, d[k], mean, i + k * line, c, total);
        }
      } else {
        finish_pixel<kForm, true>(g, d[0], mean, i, c, total);
        for (int k = 1; k < 4; ++k) finish_pixel<kForm, false>(g, d[k], mean, i + k * line, c, total);
      }
      add_sums<kForm>(total, c, p.channels, sums);
    }
  }
}

// The last row of an image that ends with a whole tile: what its tiles carry to the row below.
template <int kForm, class P>
void last_row(const P p, const float* carry, const InputGradient& g, float* sums) {
  const Index line = Index{p.side} * p.channels;
  for (Index x = 0; x < line; x += p.channels) {
    for (int c = 0; c < p.channels; c += kLanes) {
      PixelSums total;
      finish_pixel<kForm, true>(g, load(carry + x + c), load(g.mean + c), (p.side - 1) * line + x + c, c,
                                total);
      add_sums<kForm>(total, c, p.channels, sums);
    }
  }
}

template <int kForm, class P>
void panel_back(const P p, const float* strips, int first_row, float* carry, const InputGradient& to,
                float* sums) {
  const Index image = Index{p.side} * p.side * p.channels, pitch = p.strip_pitch(2);
  for (int n = 0; n < p.images; ++n) {
    InputGradient g = to;
    g.z += n * image;
    g.d += n * image;
    if (g.skip != nullptr) g.skip += n * image;
    if (g.gate != nullptr) g.gate += n * image;
    if (g.other != nullptr) g.other += n * image;
    if (first_row == 0) std::fill_n(carry, 2 * Index{p.side} * p.channels, 0.0f);
    for (int r = 0; r < p.rows; ++r) {
      const int top = 4 * (first_row + r);
      const float* strip = strips + ((n * p.rows + r) * Index{4 * p.tiles + 1} + 1) * p.channels;
      const bool edge = top == 0 || top + 3 > p.side;
      edge ? strip_back<kForm, true>(p, strip, pitch, top, carry, g, sums)
           : strip_back<kForm, false>(p, strip, pitch, top, carry, g, sums);
    }
    const bool whole = p.side % 4 == 0;
    if (whole && first_row + p.rows == p.tiles) last_row<kForm>(p, carry, g, sums);
  }
}

// The less memory it takes, the more of it stays in the second-level cache next to what is prefetched.
struct BackwardScratch {
  float* in_strips;  // each becomes a strip of the input's gradient, once its tiles have been read
  float* gradient_strips;
  float* in_tiles;  // each position likewise
  float* gradient_tiles;
  float* carry;
  float* sums;
  std::size_t floats;
  // If `memory` is null, only counts the floats that it takes.
  BackwardScratch(const Panel& p, float* memory) : floats(0) {
    const auto take = [&](Index count) {
      float* at = memory == nullptr ? nullptr : memory + floats;
      floats += static_cast<std::size_t>(count);
      return at;
    };
    in_strips = take(6 * p.strip_pitch(2));
    gradient_strips = take(6 * p.strip_pitch(0));
    in_tiles = take(6 * p.tile_pitch());
    gradient_tiles = take(6 * p.tile_pitch());
    carry = take(2 * Index{p.side} * p.channels);
    sums = take(3 * Index{p.channels});
  }
};

template <class P>
void backward_panel_of(const P p, int first_row, const Activation& output_gradient, const Activation& input,
                       const float* weights, float* weight_sums, const InputGradient& gradient, Ahead& ahead,
                       const BackwardScratch& s) {
  const Index weight_size = Index{p.channels} * p.channels, tile = p.tile_pitch();
  panel_gradient(p, output_gradient, first_row, s.gradient_strips);
  panel_input(p, input, first_row, s.in_strips);
  for (int i = 0; i < 6; ++i) {
    tile_input(p, s.in_strips + i * p.strip_pitch(2), s.in_tiles);
    tile_gradient(p, s.gradient_strips + i * p.strip_pitch(0), s.gradient_tiles);
    for (int j = 0; j < 6; ++j, weights += weight_size, weight_sums += weight_size) {
      ahead.fetch();
      weight_product(p, s.in_tiles + j * tile, s.gradient_tiles + j * tile, weight_sums);
      product(p, s.gradient_tiles + j * tile, weights, s.in_tiles + j * tile);
    }
    tile_back(p, s.in_tiles, s.in_strips + i * p.strip_pitch(2));
  }
  with_gradient_form(gradient, [&](auto form) HWY_ATTR {
    panel_back<decltype(form)::value>(p, s.in_strips, first_row, s.carry, gradient, s.sums);
  });
  collect_sums(gradient, p.channels, s.sums);
}

void backward(const SameConv& conv, int images, const Activation& output_gradient, const Activation& input,
              const float* weights, float* weight_sums, const InputGradient& gradient, float* scratch) {
  const Panel whole = backward_panel(conv);
  const BackwardScratch s(whole, scratch);
  std::fill_n(s.sums, 3 * conv.channels, 0.0f);
  const Index image = Index{conv.side} * conv.side * conv.channels;
  for (int first = 0; first < images; first += whole.images) {
    Panel p = whole;
    p.images = std::min(whole.images, images - first);
    Activation dz = output_gradient, in = input;
    dz.z += first * image;
    dz.other += first * image;
    in.z += first * image;
    InputGradient g = gradient;
    g.z += first * image;
    g.d += first * image;
    if (g.skip != nullptr) g.skip += first * image;
    if (g.gate != nullptr) g.gate += first * image;
    if (g.other != nullptr) g.other += first * image;
    for (int row = 0; row < whole.tiles; row += whole.rows) {
      p.rows = std::min(whole.rows, whole.tiles - row);
      Ahead ahead(p, row);
      for (const float* array :
           {dz.z, dz.other, in.z, g.z, static_cast<const float*>(g.d), g.skip, g.gate, g.other})
        ahead.add(array);
      with_channels(p, [&](const auto& panel) HWY_ATTR {
        backward_panel_of(panel, row, dz, in, weights, weight_sums, g, ahead, s);
      });
    }
  }
}

}  // namespace

std::size_t backward_floats(const SameConv& conv) {
  return BackwardScratch(backward_panel(conv), nullptr).floats;
}
void set_winograd_backward(Kernels& kernels) { kernels.backward = backward; }

}  // namespace longtail::nn::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace longtail::nn::simd {

std::size_t backward_scratch(const SameConv& conv) { return HWY_STATIC_DISPATCH(backward_floats)(conv); }

void set_winograd_backward(Cpu cpu, Kernels& kernels) {
  LONGTAIL_FOR_CPU(cpu, set_winograd_backward(kernels));
}

}  // namespace longtail::nn::simd
#endif
