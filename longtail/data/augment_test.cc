#include "longtail/data/augment.h"
#include "longtail/base/test_paths.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <map>
#include <sstream>
#include <tuple>

#include "longtail/base/hash.h"

namespace longtail::data {
namespace {

// Images with CIFAR-100's constants whose pixels are a formula, the same as in
// testdata/make_torch_augment.py.
Dataset formula_images(int channels, int images, int side = kSide) {
  Dataset data;
  data.channels = channels;
  data.side = side;
  data.class_names = {"only"};
  data.mean = {0.5071f, 0.4867f, 0.4408f};
  data.deviation = {0.2675f, 0.2565f, 0.2761f};
  for (int i = 0; i < images; ++i) {
    data.train.labels.push_back(0);
    for (int p = 0; p < channels * side * side; ++p) {
      data.train.pixels.push_back(static_cast<std::uint8_t>((p * 37 + p / 11 + i * 101) % 256));
    }
  }
  return data;
}

std::string pixels_hash(const std::vector<std::byte>& bytes) { return base::sha256(std::span(bytes)); }

TEST(Augment, MakesThePixelsThatPyTorchMakes) {
  std::ifstream file(base::source_dir() + "/longtail/data/testdata/torch_augment.txt");
  std::string line;
  int cases = 0;
  while (std::getline(file, line)) {
    if (line.starts_with('#')) continue;
    std::istringstream in(line);
    int channels = 0;
    Transform t;
    std::string f32, bf16;
    in >> channels >> t.dx >> t.dy >> t.flip >> f32 >> bf16;
    ASSERT_TRUE(in) << line;
    const Dataset data = formula_images(channels, 1);
    for (const auto& [layout, expected] :
         {std::pair(PixelLayout::kNchwF32, f32), {PixelLayout::kNhwcBf16, bf16}}) {
      std::vector<std::byte> out(bytes_per_image(layout, data.shape()));
      write_image(data, data.image(data.train, 0), t, layout, out.data());
      EXPECT_EQ(pixels_hash(out), expected) << line;
    }
    ++cases;
  }
  EXPECT_EQ(cases, 14);
}

TEST(Augment, BatchEqualsThePlainTwinOnAnyNumberOfThreads) {
  for (const auto& [channels, side] : {std::pair(3, 32), {1, 32}, {3, 16}, {1, 48}, {3, 128}}) {
    const Dataset data = formula_images(channels, 5, side);
    std::vector<std::int32_t> rows;
    for (int i = 0; i < 203; ++i) rows.push_back(i * 7 % 5);
    for (const bool on : {false, true}) {
      const Augmentation augmentation{on, 42, 3, 1000, 2};
      for (const PixelLayout layout : {PixelLayout::kNchwF32, PixelLayout::kNhwcBf16}) {
        const std::size_t bytes = bytes_per_image(layout, data.shape());
        std::vector<std::byte> expected(rows.size() * bytes);
        for (std::size_t i = 0; i < rows.size(); ++i) {
          const Transform t = on ? transform_at(42, 3, 1000 + 2 * i, side) : Transform{};
          write_image(data, data.image(data.train, rows[i]), t, layout, expected.data() + i * bytes);
        }
        for (const int threads : {1, 2, 3}) {
          base::ThreadPool pool(threads);
          std::vector<std::byte> out(expected.size(), std::byte{0xee});
          write_batch(data, data.train, rows, augmentation, layout, out.data(), pool);
          EXPECT_TRUE(out == expected)
              << channels << " channels, side " << side << ", on " << on << ", " << threads << " threads";
        }
      }
    }
  }
}

TEST(Augment, EmptyBatchWritesNothing) {
  const Dataset data = formula_images(1, 1);
  base::ThreadPool pool(2);
  write_batch(data, data.train, {}, {}, PixelLayout::kNchwF32, nullptr, pool);
}

// 81 shifts times 2, each as likely: chi-square on 161 degrees of freedom, 0.9999 quantile 235.
TEST(Augment, TransformsAreUniformOverCropsAndFlips) {
  for (const std::uint64_t seed : {42u, 123u, 456u}) {
    std::map<std::tuple<int, int, bool>, int> times;
    const int draws = 162000;
    for (int i = 0; i < draws; ++i) {
      const Transform t = transform_at(seed, 5, static_cast<std::uint64_t>(i));
      ASSERT_LE(std::abs(t.dx), max_shift(kSide));
      ASSERT_LE(std::abs(t.dy), max_shift(kSide));
      ++times[{t.dx, t.dy, t.flip}];
    }
    ASSERT_EQ(times.size(), 162u);
    double chi_square = 0;
    for (const auto& [transform, n] : times) chi_square += (n - 1000.0) * (n - 1000.0) / 1000.0;
    EXPECT_LT(chi_square, 235) << "seed " << seed;
    EXPECT_GT(chi_square, 100) << "seed " << seed;
  }
}

TEST(Augment, ShiftsReachAnEighthOfTheSide) {
  for (const int side : {16, 48, 128}) {
    int least = 0, most = 0;
    for (std::uint64_t i = 0; i < 2000; ++i) {
      const Transform t = transform_at(7, 0, i, side);
      least = std::min({least, t.dx, t.dy});
      most = std::max({most, t.dx, t.dy});
    }
    EXPECT_EQ(least, -side / 8);
    EXPECT_EQ(most, side / 8);
  }
}

TEST(Augment, TransformsDependOnSeedEpochAndPosition) {
  int same_seed = 0, same_epoch = 0;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    same_seed += transform_at(1, 0, i) == transform_at(2, 0, i);
    same_epoch += transform_at(1, 0, i) == transform_at(1, 1, i);
    EXPECT_EQ(transform_at(1, 0, i), transform_at(1, 0, i));
  }
  EXPECT_LT(same_seed, 30);
  EXPECT_LT(same_epoch, 30);
}

TEST(Augment, RoundsToBfloat16ToNearestEven) {
  EXPECT_EQ(to_bf16(1.0f), 0x3f80);
  EXPECT_EQ(to_bf16(1.00390625f), 0x3f80);  // halfway, to even below
  EXPECT_EQ(to_bf16(1.01171875f), 0x3f82);  // halfway, to even above
  EXPECT_EQ(to_bf16(std::nextafter(1.00390625f, 2.0f)), 0x3f81);
  EXPECT_EQ(to_bf16(-0.0f), 0x8000);
  EXPECT_EQ(to_bf16(std::numeric_limits<float>::infinity()), 0x7f80);
  EXPECT_EQ(to_bf16(std::numeric_limits<float>::max()), 0x7f80);
  EXPECT_GT(to_bf16(std::numeric_limits<float>::quiet_NaN()) & 0x7fff, 0x7f80);
}

}  // namespace
}  // namespace longtail::data
