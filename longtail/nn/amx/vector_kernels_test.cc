// The kernels that are not tiles, against the same sums written as scalar loops.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "longtail/nn/amx/amx_testing.h"

namespace longtail::nn::amx {
namespace {

constexpr int kChannels[] = {16, 32, 64};

std::size_t z(int n) { return static_cast<std::size_t>(n); }

TEST(AmxVectors, StatisticsAreThoseOfTheUnroundedSums) {
  SKIP_WITHOUT_TILES();
  for (const int channels : kChannels) {
    Numbers numbers(4);
    const std::vector<float> sums = numbers.floats(z(64 * channels));
    std::vector<Bf16> out(sums.size());
    std::vector<double> sum(z(channels), 1.0), square(z(channels), 2.0), sum_twin = sum, square_twin = square;
    store_statistics(channels, sums.data(), out.data(), nullptr, sum.data(), square.data());
    for (std::size_t i = 0; i < sums.size(); ++i) {
      EXPECT_EQ(out[i], narrow(sums[i]));
      sum_twin[i % z(channels)] += sums[i];
      square_twin[i % z(channels)] += double{sums[i]} * sums[i];
    }
    for (std::size_t c = 0; c < z(channels); ++c) {
      EXPECT_NEAR(sum[c], sum_twin[c], 1e-5);
      EXPECT_NEAR(square[c], square_twin[c], 1e-4);
    }
  }
}

TEST(AmxVectors, ActivationsOfPredictionEqualScalarLoops) {
  SKIP_WITHOUT_TILES();
  for (const int channels : kChannels) {
    Numbers numbers(5);
    const std::vector<float> sums = numbers.floats(z(64 * channels)), bias = numbers.floats(z(channels));
    for (const bool relu : {false, true}) {
      std::vector<Bf16> out(sums.size());
      store_activation(channels, sums.data(), bias.data(), relu, out.data());
      for (std::size_t i = 0; i < sums.size(); ++i) {
        const float v = sums[i] + bias[i % z(channels)];
        EXPECT_EQ(out[i], narrow(relu ? std::max(v, 0.0f) : v)) << i;
      }
    }
  }
}

// The normed pairs are the pairs of the normed image, but for the border.
TEST(AmxVectors, PairsAreInterleavedAndNormed) {
  SKIP_WITHOUT_TILES();
  const PairRun runs[] = {{0, 8, 1, 2, 1, 5}, {-1, 3, 2, 20, 2, 4}, {9, -1, 1, 40, 1, 3}};
  for (const int channels : kChannels) {
    Numbers numbers(13);
    const auto src = numbers.bf16(z(16 * channels));
    const auto scale = numbers.floats(z(channels)), shift = numbers.floats(z(channels));
    std::vector<Bf16> plain(z(64 * channels * 2)), normed = plain;
    interleave_pixels({runs, 3, 64}, channels, src.data(), plain.data());
    interleave_normed({runs, 3, 64}, channels, src.data(), scale.data(), shift.data(), normed.data());
    for (const PairRun& run : runs) {
      for (int i = 0; i < run.count; ++i) {
        for (int c = 0; c < channels; ++c) {
          for (int half = 0; half < 2; ++half) {
            const int start = half == 0 ? run.a : run.b;
            const int position = c / 16 * 64 + run.dst + i * run.dst_step;
            const std::size_t to = z((position * 16 + c % 16) * 2 + half);
            const std::size_t from = z(((start < 0 ? 0 : start) + i * run.src_step) * channels + c);
            const float v = std::max(std::fma(widen(src[from]), scale[z(c)], shift[z(c)]), 0.0f);
            ASSERT_EQ(plain[to], start < 0 ? 0 : src[from]);
            ASSERT_EQ(normed[to], start < 0 ? 0 : narrow(v));
          }
        }
      }
    }
  }
}

TEST(AmxVectors, GradientEpilogueEqualsScalarLoopsInEveryForm) {
  SKIP_WITHOUT_TILES();
  const RowRun runs[] = {{0, 64, 20}, {20, 0, 2}, {22, 84, 42}};
  for (const int channels : kChannels) {
    for (const bool skip : {false, true}) {
      for (const bool mask : {false, true}) {
        for (const bool second : {false, true}) {
          if (!mask && (skip || second)) continue;  // inside a block there is neither
          Numbers numbers(6);
          const std::size_t n = z(128 * channels), ch = z(channels);
          const auto sums = numbers.floats(z(64 * channels));
          const auto vskip = numbers.bf16(n), vmask = numbers.bf16(n), z1 = numbers.bf16(n),
                     z2 = numbers.bf16(n);
          const auto scale = numbers.floats(ch), shift = numbers.floats(ch), m1 = numbers.floats(ch),
                     m2 = numbers.floats(ch);
          std::vector<Bf16> d(n);
          std::vector<double> s(ch), p(ch), s2(ch), p2(ch), ts(ch), tp(ch), tp2(ch);
          GradientEpilogue e{};
          e.skip = skip ? vskip.data() : nullptr;
          e.mask = mask ? vmask.data() : nullptr;
          e.scale = scale.data();
          e.shift = shift.data();
          e.first = {z1.data(), m1.data(), s.data(), p.data()};
          if (second) e.second = {z2.data(), m2.data(), s2.data(), p2.data()};
          e.d = d.data();
          store_gradient(channels, sums.data(), runs, 3, e);
          for (const RowRun& run : runs) {
            for (int i = 0; i < run.count * channels; ++i) {
              const std::size_t at = z(run.pixel * channels + i), c = z(i) % ch;
              const float x = mask ? widen(vmask[at]) : std::fma(widen(z1[at]), scale[c], shift[c]);
              float v = sums[z(run.row * channels + i)] + (skip ? widen(vskip[at]) : 0.0f);
              if (x <= 0) v = 0;
              ASSERT_EQ(d[at], narrow(v)) << at;
              ts[c] += v;
              tp[c] += double{v} * (widen(z1[at]) - m1[c]);
              tp2[c] += double{v} * (widen(z2[at]) - m2[c]);
            }
          }
          for (std::size_t c = 0; c < ch; ++c) {
            EXPECT_NEAR(s[c], ts[c], 1e-5);
            EXPECT_NEAR(p[c], tp[c], 1e-5);
            if (!second) continue;
            EXPECT_NEAR(s2[c], ts[c], 1e-5);
            EXPECT_NEAR(p2[c], tp2[c], 1e-5);
          }
        }
      }
    }
  }
}

TEST(AmxVectors, TheMeanOverPixelsEqualsAScalarLoop) {
  SKIP_WITHOUT_TILES();
  const auto x = Numbers(11).bf16(64 * 64);
  std::vector<float> mean(64);
  mean_pixels(x.data(), nullptr, mean.data());
  for (std::size_t c = 0; c < 64; ++c) {
    double m = 0;
    for (std::size_t p = 0; p < 64; ++p) m += widen(x[p * 64 + c]) / 64.0;
    EXPECT_NEAR(mean[c], m, 1e-6);
  }
}

}  // namespace
}  // namespace longtail::nn::amx
