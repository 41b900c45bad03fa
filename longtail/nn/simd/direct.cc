// Convolutions that are computed directly: the first layer, those of stride 2 and the 1x1 projections; and
// the mean over the pixels.
#include "longtail/nn/simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "longtail/nn/simd/direct.cc"
#include <hwy/foreach_target.h>
#include "longtail/nn/simd/direct-inl.h"
#include "longtail/nn/simd/winograd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace longtail::nn::simd::HWY_NAMESPACE {
namespace {

void fill_grid(int side, int channels, const Activation& from, float* grid) {
  const Index line = Index{side} * channels;
  float* row = grid;
  std::fill_n(row, line + 2 * channels, 0.0f);
  row += line + 2 * channels;
  with_form(from.form, [&](auto form) HWY_ATTR {
    const Activation a = from;
    for (int y = 0; y < side; ++y, row += line + 2 * channels) {
      std::fill_n(row, channels, 0.0f);
      for (Index x = 0; x < line; x += channels) {
        for (int c = 0; c < channels; c += kLanes) {
          const Vec v = value<decltype(form)::value>(a, y * line + x + c, c);
          store(v, row + channels + x + c);
          if (a.keep != nullptr) store(v, a.keep + y * line + x + c);
        }
      }
      std::fill_n(row + channels + line, channels, 0.0f);
    }
  });
  std::fill_n(row, line + 2 * channels, 0.0f);
}

// Stores a few neighbouring pixels of a block of 16 channels: raw with their sums, or activated.
template <int kCount>
HWY_INLINE void put_pixels(const Output& out, Index i, int channels, int c, Vec (&v)[kCount][kVectors],
                           float* sums) {
  for (int u = 0; u < kVectors; ++u) {
    const int at = c + u * kLanes;
    if (out.sum == nullptr) {
      for (int p = 0; p < kCount; ++p) {
        const Index to = i + p * Index{channels} + u * kLanes;
        Vec y = add(v[p][u], load(out.bias + at));
        if (out.skip != nullptr) y = add(y, load(out.skip + to));
        store(out.relu ? relu(y) : y, out.z + to);
      }
      continue;
    }
    constexpr int kEach = group_of(kCount);
    for (int first = 0; first < kCount; first += kEach) {
      float* to = out.z + i + first * Index{channels} + u * kLanes;
      Vec s = v[first][u], q = mul(s, s);
      store(s, to);
      for (int p = 1; p < kEach; ++p) {
        const Vec y = v[first + p][u];
        store(y, to + p * Index{channels});
        s = add(s, y);
        q = fma(y, y, q);
      }
      store(add(load(sums + at), s), sums + at);
      store(add(load(sums + channels + at), q), sums + channels + at);
    }
  }
}

void direct_forward(const DirectConv& conv, const float* grid, const float* weights, const Output& out) {
  const int side = conv.out_side(), taps = conv.taps(), margin = conv.kernel == 1 ? 1 : 0;
  const Index pixel = conv.in, grid_line = Index{conv.side + 2} * pixel;
  const Index block_weights = Index{taps} * conv.in * kBlock;
  HWY_ALIGN float sums[2 * kMaxChannels] = {};
  for (int y = 0; y < side; ++y) {
    const float* row = grid + (y * conv.stride + margin) * grid_line + margin * pixel;
    for (int c = 0; c < conv.out; c += kBlock) {
      Tap tap[9];
      for (int t = 0; t < taps; ++t) {
        tap[t] = {row + t / conv.kernel * grid_line + t % conv.kernel * pixel,
                  weights + c / kBlock * block_weights + Index{t} * conv.in * kBlock, conv.in,
                  conv.stride * pixel};
      }
      each_group(side, [&](int x, auto count) HWY_ATTR {
        Vec sum[decltype(count)::value][kVectors];
        gather_product(tap, taps, x, sum);
        put_pixels(out, (Index{y} * side + x) * conv.out + c, conv.out, c, sum, sums);
      });
    }
  }
  if (out.sum == nullptr) return;
  for (int c = 0; c < conv.out; ++c) {
    out.sum[c] += static_cast<double>(sums[c]);
    out.square[c] += static_cast<double>(sums[conv.out + c]);
  }
}

void mean_pixels(int side, int channels, const Activation& from, float* mean) {
  const Index size = Index{side} * side * channels;
  with_form(from.form, [&](auto form) HWY_ATTR {
    const Activation a = from;
    for (int c = 0; c < channels; c += kLanes) {
      Vec sum = zero();
      for (Index i = c; i < size; i += channels) {
        const Vec v = value<decltype(form)::value>(a, i, c);
        if (a.keep != nullptr) store(v, a.keep + i);
        sum = add(sum, v);
      }
      store(mul(sum, all(1.0f / static_cast<float>(side * side))), mean + c);
    }
  });
}

}  // namespace

void set_direct(Kernels& kernels) {
  kernels.fill_grid = fill_grid;
  kernels.direct_forward = direct_forward;
  kernels.mean_pixels = mean_pixels;
}

}  // namespace longtail::nn::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace longtail::nn::simd {

void set_direct(Cpu cpu, Kernels& kernels) { LONGTAIL_FOR_CPU(cpu, set_direct(kernels)); }

}  // namespace longtail::nn::simd
#endif
