// The three tile kernels and the layouts around them against plain loops over a convolution, for every kind
// of convolution in a CIFAR ResNet.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "longtail/nn/amx/conv_testing.h"

namespace longtail::nn::amx {
namespace {

constexpr ConvKind kAll[] = {ConvKind::kFirst,  ConvKind::kSame16, ConvKind::kDown16,
                             ConvKind::kSame32, ConvKind::kDown32, ConvKind::kSame64};
constexpr ConvKind kDown[] = {ConvKind::kDown16, ConvKind::kDown32};

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

GridSource copying(int channels, const std::vector<Bf16>& image, std::vector<Bf16>& grid, const Geometry& g) {
  GridSource source{};
  source.form = GridSource::kCopy;
  source.channels = channels;
  source.main = image.data();
  source.grid = grid.data();
  source.runs = g.grid.runs.data();
  return source;
}

std::vector<Bf16> on_grid(const Geometry& g, const std::vector<Bf16>& image, int channels) {
  if (g.kind == ConvKind::kFirst) {
    std::vector<Bf16> padded(kPaddedInput), gathered(1024 * 32);
    pad_input(channels, image.data(), padded.data());
    gather_neighbours(channels, padded.data(), gathered.data());
    return gathered;
  }
  std::vector<Bf16> grid(z(g.grid.positions * channels));
  fill_grid(copying(channels, image, grid, g), 0, static_cast<int>(g.grid.runs.size()));
  return grid;
}

std::vector<Bf16> in_pairs(const Geometry& g, const std::vector<Bf16>& image) {
  const int channels = g.kind == ConvKind::kFirst ? 32 : g.in_channels;
  const std::vector<Bf16> source = g.kind == ConvKind::kFirst ? on_grid(g, image, g.in_channels) : image;
  std::vector<Bf16> pairs(z(g.pairs.positions * channels * 2));
  interleave_pixels(g.pairs.layout(), channels, source.data(), pairs.data());
  return pairs;
}

std::vector<Bf16> transposed(const Geometry& g, const std::vector<Bf16>& d) {
  const ConvKind same = g.out_channels == 16   ? ConvKind::kSame16
                        : g.out_channels == 32 ? ConvKind::kSame32
                                               : ConvKind::kSame64;
  const std::vector<Bf16> grid = on_grid(make_geometry(same), d, g.out_channels);
  std::vector<Bf16> result(d.size());
  transpose_pixels(g.order.chunks(), g.order.first.data(), g.order.pair_distance, g.out_channels, grid.data(),
                   result.data());
  return result;
}

// As expect_close, but for results that were rounded to bf16.
void expect_rounded(const std::vector<Bf16>& actual, const std::vector<double>& expected,
                    const std::string& what) {
  ASSERT_EQ(actual.size(), expected.size()) << what;
  for (std::size_t i = 0; i < actual.size(); ++i) {
    ASSERT_NEAR(widen(actual[i]), expected[i], std::abs(expected[i]) / 256 + 1e-4)
        << what << ", element " << i;
  }
}

std::vector<float> convolve(const Geometry& g, const ConvShape& shape, const std::vector<Bf16>& grid,
                            const std::vector<Bf16>& weights) {
  const std::size_t strip = z(kStripPixels * shape.column_tiles * 16);
  std::vector<float> sums(z(g.strips()) * strip);
  const TileScope tiles;
  for (int s = 0; s < g.strips(); ++s) {
    conv_strip(shape, grid.data(), g.tile_offset.data() + 4 * s, weights.data(), nullptr,
               sums.data() + z(s) * strip);
  }
  return sums;
}

std::string label(ConvKind kind, int channels) {
  return "kind " + std::to_string(static_cast<int>(kind)) + ", " + std::to_string(channels) +
         " input channels";
}

TEST(AmxConvolution, FirstLayerAndStrideTwoEqualPlainLoops) {
  SKIP_WITHOUT_TILES();
  for (const ConvKind kind : {ConvKind::kFirst, ConvKind::kDown16, ConvKind::kDown32}) {
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

TEST(AmxConvolution, StrideOneWithStatisticsEqualsPlainLoops) {
  SKIP_WITHOUT_TILES();
  for (const ConvKind kind : kSame) {
    const Geometry g = make_geometry(kind);
    Numbers numbers(31);
    const Plain plain(g, 3, numbers);
    const std::vector<double> expected = plain.forward();
    std::vector<Bf16> grid(z(g.grid.positions * g.in_channels)), out(plain.d.size());
    const std::vector<Bf16> weights = pack(forward_index(g, 3), plain.w);
    const std::size_t channels = z(g.out_channels);
    std::vector<double> sum(channels), square(channels), sum_twin(channels), square_twin(channels);
    {
      const TileScope tiles;
      conv_statistics(image_conv(g, copying(g.in_channels, plain.x, grid, g), weights.data()), out.data(),
                      sum.data(), square.data());
    }
    expect_rounded(out, expected, label(kind, g.in_channels));
    for (std::size_t i = 0; i < expected.size(); ++i) {
      sum_twin[i % channels] += expected[i];
      square_twin[i % channels] += expected[i] * expected[i];
    }
    for (std::size_t c = 0; c < channels; ++c) {
      EXPECT_NEAR(sum[c], sum_twin[c], 1e-5 * square_twin[c]);
      EXPECT_NEAR(square[c], square_twin[c], 1e-5 * square_twin[c]);
    }
  }
}

// With the batch norm and skip of a forward pass on the way to the grid, and the kept image beside it.
TEST(AmxConvolution, SourcesAreAppliedOnTheWayToTheGrid) {
  SKIP_WITHOUT_TILES();
  for (const ConvKind kind : kSame) {
    const Geometry g = make_geometry(kind);
    for (const auto form :
         {GridSource::kNorm, GridSource::kNormSkip, GridSource::kNormNorm, GridSource::kBackward}) {
      Numbers numbers(32);
      Plain plain(g, 3, numbers);
      const auto a = numbers.bf16(plain.x.size()), b = numbers.bf16(plain.x.size());
      const std::size_t channels = z(g.in_channels);
      const auto p = numbers.floats(channels), q = numbers.floats(channels), r = numbers.floats(channels),
                 s = numbers.floats(channels);
      std::vector<Bf16> grid(z(g.grid.positions * g.in_channels)), image(plain.x.size()), out(plain.d.size());
      const auto kept = form == GridSource::kBackward ? nullptr : image.data();
      const GridSource source{form,     g.in_channels, a.data(), b.data(),    p.data(),          q.data(),
                              r.data(), s.data(),      kept,     grid.data(), g.grid.runs.data()};
      const std::vector<Bf16> weights = pack(forward_index(g, 3), plain.w);
      std::vector<double> sum(channels), square(channels);
      {
        const TileScope tiles;
        conv_statistics(image_conv(g, source, weights.data()), out.data(), sum.data(), square.data());
      }
      for (std::size_t i = 0; i < plain.x.size(); ++i) {
        const std::size_t c = i % channels;
        const float va = widen(a[i]), vb = widen(b[i]);
        float v = 0;
        if (form == GridSource::kBackward) {
          v = std::fma(va, p[c], std::fma(vb, r[c], q[c]));
        } else {
          v = std::fma(va, p[c], q[c]);
          if (form == GridSource::kNormSkip) v += vb;
          if (form == GridSource::kNormNorm) v += std::fma(vb, r[c], s[c]);
          v = std::max(v, 0.0f);
          ASSERT_EQ(image[i], narrow(v))
              << label(kind, g.in_channels) << ", form " << form << ", element " << i;
        }
        plain.x[i] = narrow(v);
      }
      expect_rounded(out, plain.forward(), label(kind, g.in_channels) + ", form " + std::to_string(form));
    }
  }
}

TEST(AmxConvolution, ActivationsOfPredictionEqualPlainLoops) {
  SKIP_WITHOUT_TILES();
  for (const ConvKind kind : kSame) {
    for (const bool add : {false, true}) {
      const Geometry g = make_geometry(kind);
      Numbers numbers(33);
      const Plain plain(g, 3, numbers);
      const auto bias = numbers.floats(z(g.out_channels));
      std::vector<Bf16> grid(z(g.grid.positions * g.in_channels)), out(plain.d.size());
      const std::vector<Bf16> weights = pack(forward_index(g, 3), plain.w);
      {
        const TileScope tiles;
        conv_activation(image_conv(g, copying(g.in_channels, plain.x, grid, g), weights.data()), bias.data(),
                        add ? plain.d.data() : nullptr, out.data());
      }
      std::vector<double> expected = plain.forward();
      for (std::size_t i = 0; i < expected.size(); ++i) {
        const double v = expected[i] + bias[i % z(g.out_channels)] + (add ? widen(plain.d[i]) : 0.0f);
        expected[i] = std::max(v, 0.0);
      }
      expect_rounded(out, expected, label(kind, g.in_channels));
    }
  }
}

TEST(AmxConvolution, ProjectionsEqualPlainLoops) {
  SKIP_WITHOUT_TILES();
  for (const ConvKind kind : kDown) {
    const Geometry g = make_geometry(kind);
    Numbers numbers(7);
    const Plain plain(g, 1, numbers);
    const std::int32_t middle = middle_chunk(g);
    const ConvShape shape{&middle, 1, g.out_channels / 16, g.row_stride};
    expect_close(convolve(g, shape, on_grid(g, plain.x, g.in_channels), pack(forward_index(g, 1), plain.w)),
                 plain.forward(), label(kind, g.in_channels));
  }
}

// In every form of its epilogue, in place of the gradient it comes from.
TEST(AmxConvolution, DataGradientEqualsPlainLoopsAtStrideOne) {
  SKIP_WITHOUT_TILES();
  for (const ConvKind kind : kSame) {
    for (int form = 0; form < 5; ++form) {
      const bool mask = form > 0, skip = form == 1 || form == 2, second = form == 2 || form == 4;
      const Geometry g = make_geometry(kind);
      Numbers numbers(8);
      const Plain plain(g, 3, numbers);
      const std::size_t n = plain.x.size(), channels = z(g.in_channels);
      const auto vskip = numbers.bf16(n), vmask = numbers.bf16(n), z1 = numbers.bf16(n), z2 = numbers.bf16(n);
      const auto scale = numbers.floats(channels), shift = numbers.floats(channels),
                 m1 = numbers.floats(channels), m2 = numbers.floats(channels);
      std::vector<Bf16> grid(z(g.grid.positions * g.in_channels)), d = plain.d;
      std::vector<double> s(channels), p(channels), s2(channels), p2(channels), ts(channels), tp(channels),
          tp2(channels);
      GradientEpilogue e{};
      e.skip = skip ? vskip.data() : nullptr;
      e.mask = mask ? vmask.data() : nullptr;
      e.scale = scale.data();
      e.shift = shift.data();
      e.first = {z1.data(), m1.data(), s.data(), p.data()};
      if (second) e.second = {z2.data(), m2.data(), s2.data(), p2.data()};
      e.d = d.data();
      const std::vector<Bf16> weights = pack(backward_index(g), plain.w);
      {
        const TileScope tiles;
        conv_gradient(image_conv(g, copying(g.out_channels, d, grid, g), weights.data()), e);
      }
      std::vector<double> expected = plain.data_gradient();
      for (std::size_t i = 0; i < n; ++i) {
        const std::size_t c = i % channels;
        const float x = mask ? widen(vmask[i]) : std::fma(widen(z1[i]), scale[c], shift[c]);
        expected[i] = x > 0 ? expected[i] + (skip ? widen(vskip[i]) : 0.0f) : 0.0;
        ts[c] += expected[i];
        tp[c] += expected[i] * (widen(z1[i]) - m1[c]);
        tp2[c] += expected[i] * (widen(z2[i]) - m2[c]);
      }
      const std::string what = label(kind, g.in_channels) + ", form " + std::to_string(form);
      expect_rounded(d, expected, what);
      for (std::size_t c = 0; c < channels; ++c) {
        EXPECT_NEAR(s[c], ts[c], 1e-2) << what;
        EXPECT_NEAR(p[c], tp[c], 1e-2) << what;
        if (!second) continue;
        EXPECT_NEAR(s2[c], ts[c], 1e-2) << what;
        EXPECT_NEAR(p2[c], tp2[c], 1e-2) << what;
      }
    }
  }
}

// Stride two, alone and with the gradient of the projection beside it in the same sums.
TEST(AmxConvolution, DataGradientEqualsPlainLoopsAtStrideTwo) {
  SKIP_WITHOUT_TILES();
  for (const ConvKind kind : kDown) {
    for (const bool projection : {false, true}) {
      const Geometry g = make_geometry(kind);
      const Geometry small = make_geometry(kind == ConvKind::kDown16 ? ConvKind::kSame32 : ConvKind::kSame64);
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
  for (const ConvKind kind : kAll) {
    for (const int kernel : {3, 1}) {
      const bool down = kind == ConvKind::kDown16 || kind == ConvKind::kDown32;
      if (kernel == 1 && !down) continue;
      for (const int channels : {1, 3}) {
        const Geometry g = make_geometry(kind, channels);
        const std::vector<std::int32_t>& columns = kernel == 1 ? g.middle_column : g.pair_column;
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
        const WeightGradientShape shape{
            g.pair_chunk.data(), g.order.chunks(), columns.data(), static_cast<int>(columns.size()),
            g.out_channels / 16, g.pair_stride,    left_stride,    right_stride};
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
