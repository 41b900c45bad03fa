// The gradients of direct convolutions, and of the mean over the pixels.
#include "longtail/nn/simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "longtail/nn/simd/direct_gradients.cc"
#include <hwy/foreach_target.h>
#include "longtail/nn/simd/direct-inl.h"
#include "longtail/nn/simd/gradient-inl.h"

HWY_BEFORE_NAMESPACE();
namespace longtail::nn::simd::HWY_NAMESPACE {
namespace {

using Index = std::ptrdiff_t;

// The taps of the kernel that reach the input pixels of one parity, with stride 2: an even row meets the
// middle of the kernel, an odd one its last row and, one output further, its first.
struct Reach {
  int count;
  int tap[2];
  int shift[2];  // of the output
};
constexpr Reach kReach[2] = {{1, {1, 0}, {0, 0}}, {2, {0, 2}, {1, 0}}};

// Taps for the input pixels (2 y + parity, 2 x + parity), x = 0, 1, ..., and channels c to c + 15.
int gradient_taps(const DirectConv& conv, const DirectGradient& from, int y, int row_parity,
                  int column_parity, int c, Tap* taps) {
  const int side = conv.out_side();
  const Index pixel = conv.out, line = Index{side + 2} * pixel;
  const Index size = Index{conv.out} * kBlock;
  const Reach& rows = kReach[row_parity];
  const Reach& columns = kReach[column_parity];
  int count = 0;
  for (int i = 0; i < rows.count; ++i) {
    for (int j = 0; j < columns.count; ++j) {
      const int tap = 3 * rows.tap[i] + columns.tap[j];
      taps[count++] = {from.grid + (y + rows.shift[i] + 1) * line + (columns.shift[j] + 1) * pixel,
                       from.weights + (c / kBlock * 9 + tap) * size, conv.out, pixel};
    }
  }
  if (from.side_grid != nullptr && row_parity == 0 && column_parity == 0) {
    taps[count++] = {from.side_grid + (y + 1) * line + pixel, from.side_weights + c / kBlock * size, conv.out,
                     pixel};
  }
  return count;
}

// Prefetches a row of what the pass reads and writes at input pixels, kAhead rows before it is needed: the
// pass takes only every other pixel, and the CPU's own prefetcher follows that less well. After the last row
// comes the next image, or nothing, which does no harm.
constexpr int kAhead = 4;
HWY_INLINE void fetch_row(const InputGradient& g, Index first, Index floats) {
  for (const float* array : {g.z, static_cast<const float*>(g.d), g.skip, g.gate, g.other}) {
    if (array == nullptr) continue;
    for (Index i = 0; i < floats; i += 16) __builtin_prefetch(array + first + i, 0, 2);
  }
}

template <int kForm>
void backward_of_form(const DirectConv& conv, const DirectGradient& from, const InputGradient g) {
  HWY_ALIGN float sums[3 * kMaxChannels] = {};
  const int side = conv.out_side();
  const Index line = Index{conv.side} * conv.in;
  for (int y = 0; y < conv.side; ++y) {
    fetch_row(g, (y + kAhead) * line, line);
    for (int parity = 0; parity < 2; ++parity) {
      for (int c = 0; c < conv.in; c += kBlock) {
        Tap taps[5];
        const int count = gradient_taps(conv, from, y / 2, y % 2, parity, c, taps);
        each_group(side, [&](int x, auto pixels) HWY_ATTR {
          constexpr int kCount = decltype(pixels)::value;
          Vec sum[kCount][kVectors];
          gather_product(taps, count, x, sum);
          for (int v = 0; v < kVectors; ++v) {
            const int at = c + v * kLanes;
            const Vec mean = load(g.mean + at);
            const Index i = (Index{y} * conv.side + 2 * x + parity) * conv.in + at;
            for (int first = 0; first < kCount; first += group_of(kCount)) {
              PixelSums total;
              finish_pixel<kForm, true>(g, sum[first][v], mean, i + 2 * first * Index{conv.in}, at, total);
              for (int p = first + 1; p < first + group_of(kCount); ++p) {
                finish_pixel<kForm, false>(g, sum[p][v], mean, i + 2 * p * Index{conv.in}, at, total);
              }
              add_sums<kForm>(total, at, conv.in, sums);
            }
          }
        });
      }
    }
  }
  collect_sums(g, conv.in, sums);
}

void direct_backward(const DirectConv& conv, const DirectGradient& from, const InputGradient& gradient) {
  with_gradient_form(
      gradient, [&](auto form) HWY_ATTR { backward_of_form<decltype(form)::value>(conv, from, gradient); });
}

// Products of kCount adjacent values of the input with some rows of the output's gradient: sums[kCount][16].
template <int kCount>
HWY_INLINE void weight_rows(const DirectConv& conv, int rows, const float* in, const float* gradient,
                            float* sums) {
  const int side = conv.out_side();
  const Index step = Index{conv.stride} * conv.in, line = Index{conv.side + 2} * conv.in * conv.stride;
  Vec sum[kCount][kVectors];
  for (int k = 0; k < kCount; ++k) {
    for (int v = 0; v < kVectors; ++v) sum[k][v] = load(sums + k * Index{conv.out} + v * kLanes);
  }
  for (int y = 0; y < rows; ++y) {
    const float* a = in + y * line;
    const float* b = gradient + y * Index{side + 2} * conv.out;
    for (int x = 0; x < side; ++x, a += step, b += conv.out) {
      Vec g[kVectors];
      for (int v = 0; v < kVectors; ++v) g[v] = load(b + v * kLanes);
      for (int k = 0; k < kCount; ++k) {
        const Vec value = all(a[k]);
        for (int v = 0; v < kVectors; ++v) sum[k][v] = fma(value, g[v], sum[k][v]);
      }
    }
  }
  for (int k = 0; k < kCount; ++k) {
    for (int v = 0; v < kVectors; ++v) store(sum[k][v], sums + k * Index{conv.out} + v * kLanes);
  }
}
template <int kCount>
HWY_INLINE void weight_rest(const DirectConv& conv, int count, int rows, const float* in,
                            const float* gradient, float* sums) {
  if constexpr (kCount > 0) {
    if (count == kCount) return weight_rows<kCount>(conv, rows, in, gradient, sums);
    weight_rest<kCount - 1>(conv, count, rows, in, gradient, sums);
  }
}

// Taps of a kernel row are adjacent in the grid and in the sums, so they act as three times as many channels.
void direct_weights(const DirectConv& conv, const float* grid, const float* gradient_grid,
                    float* weight_sums) {
  constexpr int kRows = 4;  // of outputs, which then stay in the first-level cache
  constexpr int kTogether = kVectors == 1 ? 12 : 4;
  const int side = conv.out_side(), margin = conv.kernel == 1 ? 1 : 0, depth = conv.kernel * conv.in;
  for (int y = 0; y < side; y += kRows) {
    const int rows = std::min(kRows, side - y);
    for (int t = 0; t < conv.kernel; ++t) {
      const float* in = grid + (Index{y * conv.stride + t + margin} * (conv.side + 2) + margin) * conv.in;
      for (int c = 0; c < conv.out; c += kBlock) {
        const float* gradient = gradient_grid + (Index{y + 1} * (side + 2) + 1) * conv.out + c;
        float* sums = weight_sums + Index{t} * depth * conv.out + c;
        int k = 0;
        for (; k + kTogether <= depth; k += kTogether) {
          weight_rows<kTogether>(conv, rows, in + k, gradient, sums + k * Index{conv.out});
        }
        weight_rest<kTogether - 1>(conv, depth - k, rows, in + k, gradient, sums + k * Index{conv.out});
      }
    }
  }
}

void spread_gradient(int side, int channels, const float* gradient, const InputGradient& to) {
  const Index size = Index{side} * side * channels;
  HWY_ALIGN float sums[3 * kMaxChannels] = {};
  const Vec share = all(1.0f / static_cast<float>(side * side));
  with_gradient_form(to, [&](auto form) HWY_ATTR {
    constexpr int kForm = decltype(form)::value;
    const InputGradient g = to;
    for (int c = 0; c < channels; c += kLanes) {
      const Vec d = mul(load(gradient + c), share), mean = load(g.mean + c);
      PixelSums total{zero(), zero(), zero()};
      for (Index i = c; i < size; i += channels) finish_pixel<kForm, false>(g, d, mean, i, c, total);
      add_sums<kForm>(total, c, channels, sums);
    }
  });
  collect_sums(to, channels, sums);
}

}  // namespace

void set_direct_gradients(Kernels& kernels) {
  kernels.direct_backward = direct_backward;
  kernels.direct_weights = direct_weights;
  kernels.spread_gradient = spread_gradient;
}

}  // namespace longtail::nn::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace longtail::nn::simd {

void set_direct_gradients(Cpu cpu, Kernels& kernels) { LONGTAIL_FOR_CPU(cpu, set_direct_gradients(kernels)); }

}  // namespace longtail::nn::simd
#endif
