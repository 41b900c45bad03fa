#include "longtail/sampling/stream.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <climits>
#include <fstream>
#include <map>
#include <numeric>

#include "longtail/base/error.h"
#include "longtail/sampling/chi_square.h"
#include "longtail/sampling/testing.h"

namespace longtail::sampling {
namespace {

std::vector<std::int64_t> drawn(const IndexStream& stream, std::int64_t count, std::int64_t first = 0,
                                base::Cpu cpu = base::chosen_cpu()) {
  std::vector<std::int64_t> images(static_cast<std::size_t>(count));
  stream.fill(first, images, cpu);
  return images;
}

std::vector<std::int64_t> class_counts(const IndexStream& stream, std::span<const std::int64_t> images) {
  std::vector<std::int64_t> counts(stream.probabilities().size());
  for (const std::int64_t image : images) ++counts[static_cast<std::size_t>(stream.class_of(image))];
  return counts;
}

TEST(IndexStream, DrawsClassesAsEveryStrategyDeclares) {
  for (const base::VariantInfo& info : strategies()) {
    const auto strategy = make_strategy(info.name);
    // Feedback changes probabilities, not drawing; stratified batches fit better than chance
    // (strata_test.cc).
    if (strategy->feedback() != Feedback::kNone || strategy->stratified({})) continue;
    for (const int epoch : {0, 1, 80, 160, 199}) {
      for (const std::uint64_t seed : {42u, 123u, 456u}) {
        const IndexStream stream(*strategy, kPaper, {epoch, 200}, seed);
        if (stream.is_permutation()) {
          EXPECT_EQ(class_counts(stream, drawn(stream, stream.size())), kPaper) << info.name;
          continue;
        }
        const ChiSquare test =
            chi_square(class_counts(stream, drawn(stream, 200000)), stream.probabilities());
        EXPECT_GT(test.p, kStrict) << info.name << " epoch " << epoch << " seed " << seed;
        EXPECT_LT(test.p, 1 - kStrict) << info.name << " epoch " << epoch << " seed " << seed;
      }
    }
  }
}

TEST(IndexStream, DrawsInstancesUniformlyWithinAClass) {
  for (const std::uint64_t seed : {42u, 123u, 456u}) {
    const IndexStream stream(*make_strategy("square_root"), kPaper, {3, 200}, seed);
    // Every image against its declared probability: 10,846 degrees of freedom.
    std::vector<double> p;
    for (std::size_t k = 0; k < kPaper.size(); ++k) {
      const auto n = static_cast<std::size_t>(kPaper[k]);
      p.insert(p.end(), n, stream.probabilities()[k] / static_cast<double>(n));
    }
    std::vector<std::int64_t> times(p.size());
    for (const std::int64_t image : drawn(stream, 2000000)) ++times[static_cast<std::size_t>(image)];
    const ChiSquare test = chi_square(times, p);
    EXPECT_GT(test.p, kStrict) << seed;
    EXPECT_LT(test.p, 1 - kStrict) << seed;
  }
}

TEST(IndexStream, ConsecutiveDrawsAreIndependent) {
  const std::vector<std::int64_t> counts = {40, 7, 3, 1};
  const IndexStream stream(*make_strategy("class_balanced"), counts, {0, 10}, 5);
  std::vector<std::int64_t> pairs(16);
  const auto images = drawn(stream, 320000);
  for (std::size_t i = 0; i < images.size(); i += 2) {
    ++pairs[static_cast<std::size_t>(stream.class_of(images[i]) * 4 + stream.class_of(images[i + 1]))];
  }
  EXPECT_GT(chi_square(pairs, std::vector<double>(16, 1.0 / 16)).p, kStrict);
}

// One stream, from several starts, with the instructions of every kind of CPU.
void expect_fill_equals_at(const IndexStream& stream) {
  const std::int64_t most = stream.is_permutation() ? stream.size() : 5000;
  for (const std::int64_t start : {0, 1, 63, 200}) {
    const std::int64_t first = std::min(start, most);
    for (const std::int64_t wanted : {0, 1, 7, 64, 1003}) {
      const std::int64_t count = std::min(wanted, most - first);
      std::vector<std::int64_t> expected;
      for (std::int64_t i = 0; i < count; ++i) expected.push_back(stream.at(first + i));
      for (const base::Cpu cpu : base::cpus_here()) {
        ASSERT_EQ(drawn(stream, count, first, cpu), expected) << base::cpu_name(cpu);
      }
    }
  }
}

TEST(IndexStream, FillEqualsAtWhereverItStartsAndWhateverTheCpu) {
  const std::vector<std::vector<std::int64_t>> cases = {kPaper,
                                                        {1},
                                                        {7},
                                                        {0, 5, 0, 2},
                                                        {0, 600, 423},
                                                        {4'000'000'000, 1, 294'967'294},
                                                        {3'000'000'000, 2'000'000'000, 1}};
  for (const char* name : {"uniform", "class_balanced", "power:q=-2"}) {
    for (const auto& counts : cases) {
      for (const std::uint64_t seed : {std::uint64_t{99}, ~std::uint64_t{0}}) {
        const IndexStream whole(*make_strategy(name), counts, {2, 10}, seed);
        SCOPED_TRACE(fmt::format("{} of {} images", name, whole.size()));
        expect_fill_equals_at(whole);
        expect_fill_equals_at(whole.shard(0, 3));
        expect_fill_equals_at(whole.shard(1, 2).shard(2, 5));
        expect_fill_equals_at(whole.shard(0, 1'000'000'007));
      }
    }
  }
}

TEST(IndexStream, FillEqualsAtOverAWholeEpoch) {
  for (const char* name : {"uniform", "progressive"}) {
    const IndexStream stream(*make_strategy(name), kPaper, {100, 200}, 42);
    for (const base::Cpu cpu : base::cpus_here()) {
      EXPECT_EQ(drawn(stream, stream.size(), 0, cpu), drawn(stream, stream.size(), 0, base::Cpu::kScalar));
    }
  }
}

// Values written down once: a stream is part of what a seed means and must never change.
TEST(IndexStream, IsTheSameForEver) {
  const IndexStream balanced(*make_strategy("class_balanced"), kPaper, {7, 200}, 42);
  const IndexStream uniform(*make_strategy("uniform"), kPaper, {7, 200}, 42);
  EXPECT_THAT(drawn(balanced, 6), testing::ElementsAre(10759, 8244, 699, 1543, 10423, 8320));
  EXPECT_THAT(drawn(uniform, 6), testing::ElementsAre(8418, 9844, 9034, 10241, 9462, 7862));
}

TEST(IndexStream, DependsOnSeedAndEpoch) {
  for (const char* name : {"uniform", "square_root"}) {
    const auto strategy = make_strategy(name);
    const auto images = drawn(IndexStream(*strategy, kPaper, {3, 200}, 1), 1000);
    EXPECT_EQ(images, drawn(IndexStream(*strategy, kPaper, {3, 200}, 1), 1000));
    EXPECT_NE(images, drawn(IndexStream(*strategy, kPaper, {4, 200}, 1), 1000));
    EXPECT_NE(images, drawn(IndexStream(*strategy, kPaper, {3, 200}, 2), 1000));
    EXPECT_NE(images, drawn(IndexStream(*strategy, kPaper, {3, 200}, (std::uint64_t{1} << 32) + 1), 1000));
  }
}

TEST(IndexStream, PartsAreDisjointAndTogetherTheStream) {
  for (const char* name : {"uniform", "progressive"}) {
    const IndexStream whole(*make_strategy(name), kPaper, {20, 200}, 42);
    const auto images = drawn(whole, whole.size());
    for (const int world : {1, 2, 3, 8, 10847, 20000}) {
      std::vector<std::int64_t> together(images.size(), -1);
      std::int64_t total = 0;
      for (int rank = 0; rank < world; ++rank) {
        const IndexStream part = whole.shard(rank, world);
        total += part.size();
        const auto of_part = drawn(part, part.size());
        for (std::int64_t i = 0; i < part.size(); ++i) {
          auto& place = together[static_cast<std::size_t>(part.position(i))];
          ASSERT_EQ(place, -1);
          place = of_part[static_cast<std::size_t>(i)];
        }
      }
      EXPECT_EQ(total, whole.size());
      EXPECT_EQ(together, images) << name << " in " << world;
    }
  }
}

TEST(IndexStream, PartOfAPartIsAPart) {
  const IndexStream whole(*make_strategy("uniform"), kPaper, {0, 1}, 1);
  const IndexStream part = whole.shard(1, 2).shard(2, 3);  // positions 5, 11, 17, ...
  EXPECT_EQ(part.position(0), 5);
  EXPECT_EQ(part.at(1), whole.at(11));
  EXPECT_EQ(part.size(), whole.shard(5, 6).size());
}

TEST(IndexStream, FindsTheClassOfAnImage) {
  const IndexStream stream(*make_strategy("uniform"), std::vector<std::int64_t>{0, 2, 0, 0, 3, 0}, {}, 0);
  EXPECT_EQ(stream.class_of(0), 1);
  EXPECT_EQ(stream.class_of(1), 1);
  EXPECT_EQ(stream.class_of(2), 4);
  EXPECT_EQ(stream.class_of(4), 4);
  EXPECT_THROW(stream.class_of(5), base::Error);
  EXPECT_THROW(stream.class_of(-1), base::Error);
}

TEST(IndexStream, RefusesWhatCannotBe) {
  const auto uniform = make_strategy("uniform");
  EXPECT_THROW(IndexStream(*uniform, std::vector<std::int64_t>{}, {}, 0), base::Error);
  EXPECT_THROW(IndexStream(*uniform, std::vector<std::int64_t>{0, 0}, {}, 0), base::Error);
  EXPECT_THROW(IndexStream(*uniform, std::vector<std::int64_t>{3, -1}, {}, 0), base::Error);
  EXPECT_THROW(IndexStream(*uniform, std::vector<std::int64_t>(3, INT64_MAX), {}, 0), base::Error);
  EXPECT_THROW(IndexStream(*uniform, std::vector<std::int64_t>{3}, {-1, 10}, 0), base::Error);
  const IndexStream stream(*uniform, std::vector<std::int64_t>{3}, {}, 0);
  EXPECT_THROW(stream.at(3), base::Error);
  EXPECT_THROW(stream.at(-1), base::Error);
  EXPECT_THROW(stream.shard(2, 2), base::Error);
  EXPECT_THROW(stream.shard(-1, 2), base::Error);
  EXPECT_THROW(stream.shard(0, 0), base::Error);
  // Numbers whose sums do not fit in 64 bits.
  std::vector<std::int64_t> out(3);
  EXPECT_THROW(stream.fill(INT64_MAX - 1, out), base::Error);
  const auto progressive = make_strategy("progressive");
  EXPECT_THROW(IndexStream(*progressive, std::vector<std::int64_t>(2, INT64_MAX), {}, 0), base::Error);
  const IndexStream endless(*make_strategy("class_balanced"), std::vector<std::int64_t>{3, 2}, {}, 0);
  EXPECT_THROW(endless.fill(INT64_MAX - 1, out), base::Error);
  EXPECT_THROW(endless.shard(0, INT_MAX).shard(0, INT_MAX).shard(0, INT_MAX), base::Error);
}

long resident_kilobytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmRSS:")) return std::stol(line.substr(6));
  }
  return 0;
}

TEST(IndexStream, OfABillionImagesInAThousandClassesNeedsNoMemoryAnImage) {
  const std::vector<std::int64_t> counts(1000, 1'000'000);
  for (const char* name : {"uniform", "class_balanced"}) {
    const long before = resident_kilobytes();
    const IndexStream stream(*make_strategy(name), counts, {0, 1}, 1);
    EXPECT_EQ(stream.size(), 1'000'000'000);
    const auto images = drawn(stream, 100000, 900'000'000);  // 0.8 MB of them
    EXPECT_LT(resident_kilobytes() - before, 4096) << name;
    EXPECT_GT(chi_square(class_counts(stream, images), stream.probabilities()).p, kStrict) << name;
  }
}

}  // namespace
}  // namespace longtail::sampling
