// Winograd's forward pass: batch norm, ReLU and skip on the way in, sums or bias, skip and ReLU on the way
// out.
#include "longtail/nn/simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "longtail/nn/simd/winograd_forward.cc"
#include <hwy/foreach_target.h>
#include "longtail/nn/simd/winograd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace longtail::nn::simd::HWY_NAMESPACE {
namespace {

// Six positions of all tiles, back along the rows, to one of six strips without border.
template <class P>
void tile_output(const P p, const float* tiles, float* strip) {
  const Index pitch = p.tile_pitch();
  const int channels = p.channels;
  for (int t = 0; t < p.count(); ++t, tiles += channels, strip += 4 * Index{channels}) {
    for (int c = 0; c < channels; c += kLanes) {
      Vec m[6], y[4];
      for (int k = 0; k < 6; ++k) m[k] = load(tiles + k * pitch + c);
      transform_output(m, y);
      for (int k = 0; k < 4; ++k) store(y[k], strip + k * channels + c);
    }
  }
}

// Training: raw output and, for each channel, the sums over a panel.
struct Statistics {
  float* sum;
  float* square;
  HWY_INLINE void put(const Output& out, const Vec (&y)[4], int rows, Index i, Index line, int c) const {
    Vec s = y[0], q = mul(y[0], y[0]);
    store(y[0], out.z + i);
    for (int k = 1; k < rows; ++k) {
      store(y[k], out.z + i + k * line);
      s = add(s, y[k]);
      q = fma(y[k], y[k], q);
    }
    store(add(load(sum + c), s), sum + c);
    store(add(load(square + c), q), square + c);
  }
};

// Prediction: an activation.
template <bool kSkip, bool kRelu>
struct Activate {
  HWY_INLINE void put(const Output& out, const Vec (&y)[4], int rows, Index i, Index line, int c) const {
    const Vec bias = load(out.bias + c);
    for (int k = 0; k < rows; ++k) {
      Vec v = add(y[k], bias);
      if (kSkip) v = add(v, load(out.skip + i + k * line));
      store(kRelu ? relu(v) : v, out.z + i + k * line);
    }
  }
};

// Six strips, back along the columns, to rows top to top + 3 of an image.
template <class Put, class P>
void strip_output(const P p, const float* strip, Index pitch, int top, const Output out, const Put put) {
  const Index line = Index{p.side} * p.channels;
  const int rows = std::min(4, p.side - top);
  const auto sweep = [&](int count) HWY_ATTR {
    for (Index x = 0; x < line; x += p.channels) {
      for (int c = 0; c < p.channels; c += kLanes) {
        Vec m[6], y[4];
        for (int k = 0; k < 6; ++k) m[k] = load(strip + k * pitch + x + c);
        transform_output(m, y);
        put.put(out, y, count, top * line + x + c, line, c);
      }
    }
  };
  if (rows == 4) return sweep(4);
  sweep(rows);
}

template <class Put, class P>
void panel_output(const P p, const float* strips, int first_row, const Output& to, const Put& put) {
  const Index image = Index{p.side} * p.side * p.channels;
  for (int g = 0; g < p.images; ++g) {
    Output out = to;
    out.z += g * image;
    if (out.skip != nullptr) out.skip += g * image;
    for (int r = 0; r < p.rows; ++r) {
      strip_output(p, strips + (g * p.rows + r) * Index{4 * p.tiles} * p.channels, p.strip_pitch(2),
                   4 * (first_row + r), out, put);
    }
  }
}

template <class P>
void forward_panel_of(const P p, int first_row, const Activation& input, const float* weights,
                      const Output& out, Ahead& ahead, float* scratch) {
  float* strips = scratch;  // of the input; each becomes one of the output, once its tiles have been read
  float* in_tiles = strips + 6 * p.strip_pitch(2);
  float* out_tiles = in_tiles + 6 * p.tile_pitch();
  float* sums = out_tiles + 6 * p.tile_pitch();
  const Index weight_size = Index{p.channels} * p.channels;
  panel_input(p, input, first_row, strips);
  for (int i = 0; i < 6; ++i) {
    tile_input(p, strips + i * p.strip_pitch(2), in_tiles);
    for (int j = 0; j < 6; ++j, weights += weight_size) {
      ahead.fetch();
      product(p, in_tiles + j * p.tile_pitch(), weights, out_tiles + j * p.tile_pitch());
    }
    tile_output(p, out_tiles, strips + i * p.strip_pitch(2));
  }
  if (out.sum == nullptr) {
    if (out.skip != nullptr) return panel_output(p, strips, first_row, out, Activate<true, true>());
    return panel_output(p, strips, first_row, out, Activate<false, true>());
  }
  std::fill_n(sums, 2 * p.channels, 0.0f);
  panel_output(p, strips, first_row, out, Statistics{sums, sums + p.channels});
  for (int c = 0; c < p.channels; ++c) {
    out.sum[c] += static_cast<double>(sums[c]);
    out.square[c] += static_cast<double>(sums[p.channels + c]);
  }
}

void forward(const SameConv& conv, int images, const Activation& input, const float* weights,
             const Output& output, float* scratch) {
  const Panel whole = forward_panel(conv);
  const Index image = Index{conv.side} * conv.side * conv.channels;
  for (int first = 0; first < images; first += whole.images) {
    Panel p = whole;
    p.images = std::min(whole.images, images - first);
    Activation in = input;
    in.z += first * image;
    if (in.other != nullptr) in.other += first * image;
    if (in.keep != nullptr) in.keep += first * image;
    Output out = output;
    out.z += first * image;
    if (out.skip != nullptr) out.skip += first * image;
    for (int row = 0; row < whole.tiles; row += whole.rows) {
      p.rows = std::min(whole.rows, whole.tiles - row);
      Ahead ahead(p, row);
      if (out.sum != nullptr) {  // in prediction the images stay in cache
        for (const float* array :
             {in.z, in.other, static_cast<const float*>(in.keep), static_cast<const float*>(out.z)})
          ahead.add(array);
      }
      with_channels(p, [&](const auto& panel)
                           HWY_ATTR { forward_panel_of(panel, row, in, weights, out, ahead, scratch); });
    }
  }
}

}  // namespace

void set_winograd_forward(Kernels& kernels) { kernels.forward = forward; }

}  // namespace longtail::nn::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace longtail::nn::simd {

std::size_t forward_scratch(const SameConv& conv) {
  const Panel p = forward_panel(conv);
  return static_cast<std::size_t>(6 * (p.strip_pitch(2) + 2 * p.tile_pitch()) + 2 * p.channels);
}

void set_winograd_forward(Cpu cpu, Kernels& kernels) { LONGTAIL_FOR_CPU(cpu, set_winograd_forward(kernels)); }

}  // namespace longtail::nn::simd
#endif
