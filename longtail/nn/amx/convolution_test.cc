// The three tile kernels and the layouts around them against plain loops over a convolution, for every kind
// of convolution in a CIFAR ResNet.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "longtail/nn/amx/amx_testing.h"
#include "longtail/nn/amx/geometry.h"

namespace longtail::nn::amx {
namespace {

constexpr Kind kAll[] = {Kind::kFirst,  Kind::kSame16, Kind::kDown16,
                         Kind::kSame32, Kind::kDown32, Kind::kSame64};
constexpr Kind kSame[] = {Kind::kSame16, Kind::kSame32, Kind::kSame64};
constexpr Kind kDown[] = {Kind::kDown16, Kind::kDown32};

int side_of(int pixels) { return pixels == 1024 ? 32 : pixels == 256 ? 16 : 8; }
std::size_t pixel_at(int side, int y, int x) {
  return static_cast<std::size_t>(side == 8 ? interleaved8(y, x) : y * side + x);
}
std::size_t z(int n) { return static_cast<std::size_t>(n); }

// One convolution of one image: shapes, operands, and the plain loops.
struct Plain {
  int in, out, in_side, out_side, kernel;
  std::vector<Bf16> x;   // pixels x in
  std::vector<Bf16> d;   // pixels x out, a gradient of the output
  std::vector<float> w;  // out, in, kernel, kernel; representable in bf16

  Plain(const Geometry& g, int kernel_size, Numbers& numbers)
      : in(g.in_channels),
        out(g.out_channels),
        in_side(side_of(g.in_pixels)),
        out_side(side_of(g.out_pixels)),
        kernel(kernel_size) {
    x = numbers.bf16(z(g.in_pixels * in));
    d = numbers.bf16(z(g.out_pixels * out));
    for (const Bf16 v : numbers.bf16(z(out * in * kernel * kernel))) w.push_back(widen(v));
  }

  // visit(input element, output element, weight) for every product.
  template <class Visit>
  void each(const Visit& visit) const {
    const int stride = in_side / out_side, pad = kernel / 2;
    for (int y = 0; y < out_side; ++y)
      for (int xx = 0; xx < out_side; ++xx)
        for (int ky = 0; ky < kernel; ++ky)
          for (int kx = 0; kx < kernel; ++kx) {
            const int v = y * stride + ky - pad, u = xx * stride + kx - pad;
            if (v < 0 || v >= in_side || u < 0 || u >= in_side) continue;
            for (int o = 0; o < out; ++o)
              for (int i = 0; i < in; ++i) {
                visit(pixel_at(in_side, v, u) * z(in) + z(i), pixel_at(out_side, y, xx) * z(out) + z(o),
                      z(((o * in + i) * kernel + ky) * kernel + kx));
              }
          }
  }
  std::vector<double> forward() const {
    std::vector<double> result(d.size());
    each([&](std::size_t i, std::size_t o, std::size_t k) { result[o] += double{widen(x[i])} * w[k]; });
    return result;
  }
  std::vector<double> data_gradient() const {
    std::vector<double> result(x.size());
    each([&](std::size_t i, std::size_t o, std::size_t k) { result[i] += double{widen(d[o])} * w[k]; });
    return result;
  }
  std::vector<double> weight_gradient() const {
    std::vector<double> result(w.size());
    each(
        [&](std::size_t i, std::size_t o, std::size_t k) { result[k] += double{widen(x[i])} * widen(d[o]); });
    return result;
  }
};

// The operands are exact in bf16 and the sums are floats: only their rounding may differ.
void expect_close(const std::vector<float>& actual, const std::vector<double>& expected,
                  const std::string& what) {
  ASSERT_EQ(actual.size(), expected.size()) << what;
  double worst = 0, scale = 0;
  for (std::size_t i = 0; i < actual.size(); ++i) {
    worst = std::max(worst, std::abs(actual[i] - expected[i]));
    scale = std::max(scale, std::abs(expected[i]));
  }
  EXPECT_LT(worst, 3e-6 * scale) << what;
}

std::vector<Bf16> pack(const std::vector<std::int32_t>& index, const std::vector<float>& weights) {
  std::vector<Bf16> packed(index.size());
  gather_bf16(index.size(), index.data(), weights.data(), packed.data());
  return packed;
}

std::vector<Bf16> on_grid(const Geometry& g, const std::vector<Bf16>& image, int channels) {
  if (g.kind == Kind::kFirst) {
    std::vector<Bf16> padded(kPaddedInput), gathered(1024 * 32);
    pad_input(channels, image.data(), padded.data());
    gather_neighbours(channels, padded.data(), gathered.data());
    return gathered;
  }
  std::vector<Bf16> grid(z(g.grid.positions * channels));
  copy_pixels(g.grid.runs.data(), static_cast<int>(g.grid.runs.size()), channels, image.data(), grid.data());
  return grid;
}

std::vector<Bf16> in_pairs(const Geometry& g, const std::vector<Bf16>& image) {
  const int channels = g.kind == Kind::kFirst ? 32 : g.in_channels;
  const std::vector<Bf16> source = g.kind == Kind::kFirst ? on_grid(g, image, g.in_channels) : image;
  std::vector<Bf16> pairs(z(g.pairs.positions * channels * 2));
  interleave_pixels(g.pairs.runs.data(), static_cast<int>(g.pairs.runs.size()), channels, source.data(),
                    pairs.data());
  return pairs;
}

std::vector<Bf16> transposed(const Geometry& g, const std::vector<Bf16>& d) {
  std::vector<Bf16> result(d.size());
  transpose_pixels(g.order.chunks(), g.order.first.data(), g.order.pair_distance, g.out_channels, d.data(),
                   result.data());
  return result;
}

std::vector<float> convolve(const Geometry& g, const ConvShape& shape, const std::vector<Bf16>& grid,
                            const std::vector<Bf16>& weights) {
  const std::size_t strip = z(kStripPixels * shape.column_tiles * 16);
  std::vector<float> sums(z(g.strips()) * strip);
  const TileScope tiles;
  for (int s = 0; s < g.strips(); ++s) {
    conv_strip(shape, grid.data(), g.tile_offset.data() + 4 * s, weights.data(), sums.data() + z(s) * strip);
  }
  return sums;
}

std::string label(Kind kind, int channels) {
  return "kind " + std::to_string(static_cast<int>(kind)) + ", " + std::to_string(channels) +
         " input channels";
}

TEST(AmxConvolution, ForwardEqualsPlainLoopsForEveryKind) {
  SKIP_WITHOUT_TILES();
  for (const Kind kind : kAll) {
    for (const int channels : {1, 3}) {
      const Geometry g = make_geometry(kind, channels);
      Numbers numbers(static_cast<std::uint32_t>(kind) + 1);
      const Plain plain(g, 3, numbers);
      const ConvShape shape{g.chunk_offset.data(), static_cast<int>(g.chunk_offset.size()),
                            g.out_channels / 16, g.row_stride};
      expect_close(convolve(g, shape, on_grid(g, plain.x, g.in_channels), pack(forward_index(g, 3), plain.w)),
                   plain.forward(), label(kind, channels));
    }
  }
}

TEST(AmxConvolution, ProjectionsEqualPlainLoops) {
  SKIP_WITHOUT_TILES();
  for (const Kind kind : kDown) {
    const Geometry g = make_geometry(kind);
    Numbers numbers(7);
    const Plain plain(g, 1, numbers);
    const std::int32_t middle = middle_chunk(g);
    const ConvShape shape{&middle, 1, g.out_channels / 16, g.row_stride};
    expect_close(convolve(g, shape, on_grid(g, plain.x, g.in_channels), pack(forward_index(g, 1), plain.w)),
                 plain.forward(), label(kind, g.in_channels));
  }
}

TEST(AmxConvolution, DataGradientEqualsPlainLoopsAtStrideOne) {
  SKIP_WITHOUT_TILES();
  for (const Kind kind : kSame) {
    const Geometry g = make_geometry(kind);
    Numbers numbers(8);
    const Plain plain(g, 3, numbers);
    const ConvShape shape{g.chunk_offset.data(), static_cast<int>(g.chunk_offset.size()), g.in_channels / 16,
                          g.row_stride};
    expect_close(convolve(g, shape, on_grid(g, plain.d, g.out_channels), pack(backward_index(g), plain.w)),
                 plain.data_gradient(), label(kind, g.in_channels));
  }
}

// Stride two, alone and with the gradient of the projection beside it in the same sums.
TEST(AmxConvolution, DataGradientEqualsPlainLoopsAtStrideTwo) {
  SKIP_WITHOUT_TILES();
  for (const Kind kind : kDown) {
    for (const bool projection : {false, true}) {
      const Geometry g = make_geometry(kind);
      const Geometry small = make_geometry(kind == Kind::kDown16 ? Kind::kSame32 : Kind::kSame64);
      Numbers numbers(9);
      const Plain plain(g, 3, numbers), side(g, 1, numbers);
      std::vector<Bf16> grids = on_grid(small, plain.d, g.out_channels);
      const auto second = static_cast<std::int32_t>(grids.size() * sizeof(Bf16));
      const std::vector<Bf16> side_grid = on_grid(small, side.d, g.out_channels);
      grids.insert(grids.end(), side_grid.begin(), side_grid.end());

      const UpGeometry up = make_up_geometry(kind, projection, second);
      const std::vector<Bf16> main_tiles = pack(up_index(g, 3), plain.w),
                              side_tiles = pack(up_index(g, 1), side.w);
      const std::size_t columns = z(g.in_channels) / 16;
      std::vector<Bf16> tiles;
      for (std::size_t c = 0; c < columns; ++c) {
        const auto part = [&](const std::vector<Bf16>& from) {
          const auto size = static_cast<std::ptrdiff_t>(from.size() / columns),
                     at = static_cast<std::ptrdiff_t>(c) * size;
          tiles.insert(tiles.end(), from.begin() + at, from.begin() + at + size);
        };
        part(main_tiles);
        if (projection) part(side_tiles);
      }
      UpShape shape{
          up.operand_offset.data(), up.weight_tile.data(), {}, (projection ? 10 : 9) * g.out_channels / 32,
          g.in_channels / 16,       small.row_stride};
      std::copy(std::begin(up.first_entry), std::end(up.first_entry), shape.first_entry);
      std::vector<float> result(plain.x.size()), sums(z(kStripPixels * g.in_channels));
      const TileScope scope;
      for (std::size_t s = 0; s < up.tile_offset.size(); ++s) {
        conv_up_strip(shape, reinterpret_cast<const char*>(grids.data()) + up.tile_offset[s], tiles.data(),
                      sums.data());
        for (const RowRun& run : up.row_runs[s]) {
          std::copy_n(sums.begin() + run.row * g.in_channels, run.count * g.in_channels,
                      result.begin() + run.pixel * g.in_channels);
        }
      }
      std::vector<double> expected = plain.data_gradient();
      if (projection) {
        const std::vector<double> more = side.data_gradient();
        for (std::size_t i = 0; i < expected.size(); ++i) expected[i] += more[i];
      }
      expect_close(result, expected, label(kind, g.in_channels));
    }
  }
}

// Several images one after the other, added to sums that are already there.
TEST(AmxConvolution, WeightGradientEqualsPlainLoopsForEveryKind) {
  SKIP_WITHOUT_TILES();
  for (const Kind kind : kAll) {
    for (const int kernel : {3, 1}) {
      const bool down = kind == Kind::kDown16 || kind == Kind::kDown32;
      if (kernel == 1 && !down) continue;
      for (const int channels : {1, 3}) {
        const Geometry g = make_geometry(kind, channels);
        const int tiles = kind == Kind::kFirst ? 2 : g.in_channels / 16;
        Numbers numbers(10);
        const std::vector<std::int32_t> index = gradient_index(g, kernel);
        std::vector<double> expected(index.size());
        std::vector<Bf16> left, right;
        std::ptrdiff_t left_stride = 0, right_stride = 0;
        for (int image = 0; image < 3; ++image) {
          const Plain plain(g, kernel, numbers);
          const std::vector<double> more = plain.weight_gradient();
          for (std::size_t i = 0; i < more.size(); ++i) expected[i] += more[i];
          const std::vector<Bf16> l = transposed(g, plain.d), r = in_pairs(g, plain.x);
          left.insert(left.end(), l.begin(), l.end());
          right.insert(right.end(), r.begin(), r.end());
          left_stride = static_cast<std::ptrdiff_t>(l.size() * sizeof(Bf16));
          right_stride = static_cast<std::ptrdiff_t>(r.size() * sizeof(Bf16));
        }
        const WeightGradientShape shape{g.pair_chunk.data(),
                                        g.order.chunks(),
                                        g.pair_column.data() + (kernel == 1 ? kMiddleTap * tiles : 0),
                                        kernel == 1 ? tiles : static_cast<int>(g.pair_column.size()),
                                        g.out_channels / 16,
                                        g.pair_stride,
                                        left_stride,
                                        right_stride};
        std::vector<float> sums(z(shape.columns * shape.row_tiles * kTileFloats), 99.0f);
        {
          const TileScope scope;
          weight_gradient(shape, 2, left.data(), right.data(), true, sums.data());
          weight_gradient(shape, 1, reinterpret_cast<const char*>(left.data()) + 2 * left_stride,
                          reinterpret_cast<const char*>(right.data()) + 2 * right_stride, false, sums.data());
        }
        std::vector<float> result(index.size());
        gather_floats(index.size(), index.data(), sums.data(), result.data());
        expect_close(result, expected, label(kind, g.in_channels) + ", kernel " + std::to_string(kernel));
      }
    }
  }
}

}  // namespace
}  // namespace longtail::nn::amx
