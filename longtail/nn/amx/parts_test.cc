// The kernels with values of two parts (a bf16 and eight more bits, or two bf16) against plain loops in
// double, and the engine that is made of them (amx-fine) against fp32 and double.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "longtail/nn/amx/conv_testing.h"
#include "longtail/nn/amx/engine_testing.h"

namespace longtail::nn::amx {
namespace {

float join(Bf16 high, LowBits low) {
  const std::uint32_t bits = static_cast<std::uint32_t>(high) << 16;
  return std::bit_cast<float>(bits + (static_cast<std::uint32_t>(low) << 8) - 0x8000);
}

// Activations of 24 bits.
struct Fine {
  std::vector<Bf16> high;
  std::vector<LowBits> low;

  explicit Fine(std::size_t size) : high(size), low(size) {}
  explicit Fine(const std::vector<float>& values) : Fine(values.size()) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::uint32_t bits = std::bit_cast<std::uint32_t>(values[i]) + 0x8080;
      high[i] = static_cast<Bf16>(bits >> 16);
      low[i] = static_cast<LowBits>(bits >> 8 & 0xff);
    }
  }
  float at(std::size_t i) const { return join(high[i], low[i]); }
};

// Relative to the largest value: three parts of 2^-17 and the rounding of the sums. Plain bf16 is a hundred
// times worse.
constexpr double kNear = 2e-5;

void expect_near(const std::vector<float>& actual, const std::vector<double>& expected,
                 const std::string& what) {
  ASSERT_EQ(actual.size(), expected.size()) << what;
  double scale = 0;
  for (const double v : expected) scale = std::max(scale, std::abs(v));
  for (std::size_t i = 0; i < actual.size(); ++i) {
    ASSERT_NEAR(actual[i], expected[i], kNear * scale) << what << ", element " << i;
  }
}

std::vector<Bf16> pack_low(const std::vector<std::int32_t>& index, const std::vector<float>& weights) {
  std::vector<Bf16> packed(index.size());
  gather_bf16_low(index.size(), index.data(), weights.data(), packed.data());
  return packed;
}

std::vector<double> forward(const Plain& shape, const std::vector<float>& x, const std::vector<float>& w) {
  std::vector<double> result(shape.d.size());
  shape.each([&](std::size_t i, std::size_t o, std::size_t k) { result[o] += double{x[i]} * w[k]; });
  return result;
}

TEST(AmxParts, AFloatAndItsPartsTurnIntoEachOther) {
  SKIP_WITHOUT_TILES();
  std::vector<float> values = Numbers(3).floats(64 * 16);
  for (std::size_t i = 0; i < 32; ++i) values[i] = std::ldexp(values[i], static_cast<int>(i) - 20);
  values[40] = 0;
  values[41] = 1.00390625f;   // between two bf16
  values[42] = -0.99999994f;  // rounds up to the next power of two
  values[43] = std::ldexp(1.0f, 30) + 256.f;
  Fine out(values.size());
  std::vector<double> sum(16), square(16);
  store_statistics(16, values.data(), out.high.data(), out.low.data(), sum.data(), square.data());
  const Fine twin(values);
  for (std::size_t i = 0; i < values.size(); ++i) {
    EXPECT_NEAR(out.at(i), values[i], std::ldexp(std::abs(values[i]), -16)) << i;
    EXPECT_NEAR(widen(out.high[i]), values[i], std::ldexp(std::abs(values[i]), -8)) << i;
    EXPECT_EQ(out.high[i], twin.high[i]) << i;
    EXPECT_EQ(out.low[i], twin.low[i]) << i;
  }
}

TEST(AmxParts, StrideOneEqualsPlainLoopsWithEverySource) {
  SKIP_WITHOUT_TILES();
  for (const ConvKind kind : kSame) {
    const Geometry g = make_geometry(kind);
    for (const auto form : {GridSource::kNorm, GridSource::kNormSkip, GridSource::kNormNorm}) {
      const std::string what =
          "kind " + std::to_string(static_cast<int>(kind)) + ", form " + std::to_string(form);
      Numbers numbers(34);
      const Plain plain(g, 3, numbers);
      const std::size_t size = plain.x.size(), channels = z(g.in_channels);
      const Fine a(numbers.floats(size)), b(numbers.floats(size));
      const auto p = numbers.floats(channels), q = numbers.floats(channels), r = numbers.floats(channels),
                 s = numbers.floats(channels), w = numbers.floats(plain.w.size());
      std::vector<Bf16> grid(z(g.grid.positions * g.in_channels)), grid_low(grid.size());
      Fine image(size), out(plain.d.size());
      const GridSource source{
          form,         g.in_channels,    a.high.data(),     b.high.data(), p.data(),           q.data(),
          r.data(),     s.data(),         image.high.data(), grid.data(),   g.grid.runs.data(), a.low.data(),
          b.low.data(), image.low.data(), grid_low.data()};
      const auto weights = pack(forward_index(g, 3), w), low_weights = pack_low(forward_index(g, 3), w);
      std::vector<double> sum(channels), square(channels);
      ImageConv conv = image_conv(g, source, weights.data());
      conv.low_weights = low_weights.data();
      {
        const TileScope tiles;
        conv_statistics_parts(conv, out.high.data(), out.low.data(), sum.data(), square.data());
      }
      std::vector<float> x(size), joined(out.high.size());
      for (std::size_t i = 0; i < size; ++i) {
        const std::size_t c = i % channels;
        float v = std::fma(a.at(i), p[c], q[c]);
        if (form == GridSource::kNormSkip) v += b.at(i);
        if (form == GridSource::kNormNorm) v += std::fma(b.at(i), r[c], s[c]);
        x[i] = std::max(v, 0.0f);
        ASSERT_NEAR(image.at(i), x[i], std::ldexp(x[i], -16)) << what << ", element " << i;
      }
      for (std::size_t i = 0; i < joined.size(); ++i) joined[i] = out.at(i);
      const auto expected = forward(plain, x, w);
      expect_near(joined, expected, what);
      std::vector<double> sum_twin(channels), square_twin(channels);
      for (std::size_t i = 0; i < expected.size(); ++i) {
        sum_twin[i % channels] += expected[i];
        square_twin[i % channels] += expected[i] * expected[i];
      }
      for (std::size_t c = 0; c < channels; ++c) {
        EXPECT_NEAR(sum[c], sum_twin[c], 1e-4 * square_twin[c]) << what;
        EXPECT_NEAR(square[c], square_twin[c], 1e-4 * square_twin[c]) << what;
      }
    }
  }
}

// The input of a first layer is floats, channels first; that of the others comes from a source.
TEST(AmxParts, FirstLayerAndStrideTwoEqualPlainLoops) {
  SKIP_WITHOUT_TILES();
  for (const ConvKind kind : {ConvKind::kFirst, ConvKind::kDown16, ConvKind::kDown32}) {
    for (const int input : {1, 3}) {
      const Geometry g = make_geometry(kind, input);
      Numbers numbers(35);
      const Plain plain(g, 3, numbers);
      const int channels = g.in_channels;
      const auto w = numbers.floats(plain.w.size());
      auto x = numbers.floats(plain.x.size());
      const bool first = kind == ConvKind::kFirst;
      const std::size_t elements = z(first ? 1024 * 32 : g.grid.positions * channels);
      std::vector<Bf16> grids(2 * elements);
      if (first) {
        std::vector<float> planes(x.size());
        for (std::size_t i = 0; i < x.size(); ++i) planes[i % z(channels) * 1024 + i / z(channels)] = x[i];
        std::vector<Bf16> padded(kPaddedInput), padded_low(kPaddedInput);
        pad_float_input(channels, planes.data(), padded.data(), padded_low.data());
        gather_neighbours(channels, padded.data(), grids.data());
        gather_neighbours(channels, padded_low.data(), grids.data() + elements);
      } else {
        const Fine a(x);
        const std::vector<float> one(z(channels), 1.0f), zero(z(channels));
        for (std::size_t i = 0; i < x.size(); ++i) x[i] = std::max(a.at(i), 0.0f);
        GridSource source{};
        source.form = GridSource::kNorm;
        source.channels = channels;
        source.main = a.high.data();
        source.main_low = a.low.data();
        source.main_scale = one.data();
        source.main_shift = zero.data();
        source.grid = grids.data();
        source.grid_low = grids.data() + elements;
        source.runs = g.grid.runs.data();
        fill_grid(source, 0, static_cast<int>(g.grid.runs.size()));
      }
      const ConvShape shape{g.chunk_offset.data(), static_cast<int>(g.chunk_offset.size()),
                            g.out_channels / 16, g.row_stride,
                            static_cast<std::ptrdiff_t>(elements * sizeof(Bf16))};
      const auto weights = pack(forward_index(g, 3), w), low_weights = pack_low(forward_index(g, 3), w);
      std::vector<float> sums(plain.d.size());
      {
        const TileScope tiles;
        for (int s = 0; s < g.strips(); ++s) {
          conv_strip(shape, grids.data(), g.tile_offset.data() + 4 * s, weights.data(), low_weights.data(),
                     sums.data() + z(s) * z(kStripPixels * g.out_channels));
        }
      }
      expect_near(sums, forward(plain, x, w), "kind " + std::to_string(static_cast<int>(kind)));
    }
  }
}

std::unique_ptr<Engine> fine(const ResNetSpec& spec, int batch, base::ThreadPool& pool) {
  return make_engine("amx-fine", spec, batch, pool);
}

TEST(AmxFine, AgreesWithTheReferenceInDouble) {
  SKIP_WITHOUT_TILES();
  base::ThreadPool pool(2);
  for (const ResNetSpec& spec : kSpecs) {
    const Setting s(spec);
    const Images images(spec, 2);
    const Outcome expected = run(*make_engine("reference", spec, 2, pool), s, images.for_reference());
    const Outcome actual = run(*fine(spec, 2, pool), s, images.for_reference());
    EXPECT_NEAR(actual.step.loss / expected.step.loss, 1, 1e-4);
    EXPECT_GT(cosine(actual.gradient, expected.gradient), 0.9999);
    EXPECT_LT(relative_distance(actual.buffers, expected.buffers), 1e-4);
  }
}

TEST(AmxFine, FrozenGradientsAgreeWithTheReferenceImageByImage) {
  SKIP_WITHOUT_TILES();
  base::ThreadPool pool(2);
  for (const ResNetSpec& spec : kSpecs) {
    const Setting s(spec);
    const Images images(spec, 3);
    std::vector<std::vector<float>> expected;
    make_engine("reference", spec, 3, pool)
        ->image_gradients(s.parameters, s.buffers, images.for_reference(), *s.loss,
                          [&](int, std::span<const float> g) { expected.emplace_back(g.begin(), g.end()); });
    const auto engine = fine(spec, 3, pool);
    engine->image_gradients(s.parameters, s.buffers, images.for_reference(), *s.loss,
                            [&](int i, std::span<const float> g) {
                              EXPECT_GT(cosine(g, expected.at(static_cast<std::size_t>(i))), 0.9998) << i;
                            });
  }
}

// Every depth and shortcut at full strength, where bf16 alone comes to 0.4 in the worst case
// (family_test.cc).
TEST(AmxFine, EveryDepthShortcutAndOddBatchAgreesWithFp32) {
  SKIP_WITHOUT_TILES();
  base::ThreadPool pool(2);
  const auto check = [&](const ResNetSpec& spec, int size) {
    SCOPED_TRACE(testing::Message() << "depth " << spec.depth << ", "
                                    << (spec.shortcut == Shortcut::kPad ? "pad" : "projection") << ", "
                                    << spec.channels << " channels, batch of " << size);
    const Setting s(spec);
    const Images images(spec, size);
    const Outcome expected = run(*make_engine("simd", spec, size, pool), s, images.for_reference());
    const Outcome actual = run(*fine(spec, size, pool), s, images.for_reference());
    EXPECT_NEAR(actual.step.loss / expected.step.loss, 1, 1e-3);
    const bool worst = spec.depth == 110 && spec.shortcut == Shortcut::kProjection;
    EXPECT_GT(cosine(actual.gradient, expected.gradient), worst ? 0.99 : 0.999);
    EXPECT_LT(relative_distance(actual.buffers, expected.buffers), 1e-3);
  };
  for (const ResNetSpec& spec : kSpecs) {
    for (const int size : {1, 7, 127, 129}) check(spec, size);
  }
  for (const int depth : {32, 44, 56, 110}) {
    for (const Shortcut shortcut : {Shortcut::kProjection, Shortcut::kPad}) {
      check({depth, shortcut, 100, depth == 44 ? 1 : 3}, 3);
    }
  }
}

TEST(AmxFine, GivesTheSameBitsOnAnyNumberOfThreads) {
  SKIP_WITHOUT_TILES();
  for (const ResNetSpec& spec : kSpecs) {
    const Setting s(spec);
    const Images images(spec, 37);
    std::vector<Outcome> outcomes;
    for (int threads = 1; threads <= 4; ++threads) {
      base::ThreadPool pool(threads);
      outcomes.push_back(run(*fine(spec, 40, pool), s, images.for_reference()));
      EXPECT_TRUE(outcomes.back() == outcomes.front()) << threads << " threads";
    }
  }
}

}  // namespace
}  // namespace longtail::nn::amx
