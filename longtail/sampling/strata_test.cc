#include "longtail/sampling/strata.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "longtail/base/error.h"
#include "longtail/base/philox.h"
#include "longtail/sampling/chi_square.h"
#include "longtail/sampling/stream.h"
#include "longtail/sampling/testing.h"

namespace longtail::sampling {
namespace {

std::vector<std::int64_t> classes_of(const IndexStream& stream, std::int64_t first, int batch,
                                     std::size_t classes) {
  std::vector<std::int64_t> counts(classes);
  std::vector<std::int64_t> images(static_cast<std::size_t>(batch));
  stream.fill(first, images);
  for (const std::int64_t image : images) ++counts[static_cast<std::size_t>(stream.class_of(image))];
  return counts;
}

TEST(Strata, TheCountsOfABatchNeverDifferFromTheirExpectationByOneOrMore) {
  const std::vector<std::int64_t> counts = long_tail(100, 500, 100);
  for (const char* name : {"stratified", "stratified:of=class_balanced", "stratified:of=square_root"}) {
    const auto strategy = make_strategy(name);
    for (const int batch : {1, 7, 100, 128}) {
      const IndexStream stream(*strategy, counts, {3, 10, {}, batch}, 42);
      const auto& p = stream.probabilities();
      for (int number = 0; number < 400; ++number) {
        const auto drawn = classes_of(stream, std::int64_t{number} * batch, batch, counts.size());
        for (std::size_t k = 0; k < counts.size(); ++k) {
          ASSERT_LT(std::abs(static_cast<double>(drawn[k]) - batch * p[k]), 1)
              << name << " " << batch << " " << k;
        }
      }
    }
  }
}

TEST(Strata, OverManyBatchesEveryClassGetsItsShare) {
  const std::vector<std::int64_t> counts = {50, 20, 7, 0, 1};
  const int batch = 9, batches = 20000;
  const IndexStream stream(*make_strategy("stratified"), counts, {0, 1, {}, batch}, 7);
  std::vector<double> sum(counts.size());
  for (int number = 0; number < batches; ++number) {
    const auto drawn = classes_of(stream, std::int64_t{number} * batch, batch, counts.size());
    for (std::size_t k = 0; k < sum.size(); ++k) sum[k] += static_cast<double>(drawn[k]);
  }
  for (std::size_t k = 0; k < sum.size(); ++k) {
    const double expected = batch * stream.probabilities()[k], rest = expected - std::floor(expected);
    EXPECT_NEAR(sum[k] / batches, expected, 4 * std::sqrt(rest * (1 - rest) / batches) + 1e-12) << k;
  }
}

// A batch that is cut short, the last of an epoch or that of one machine, is some of these positions.
TEST(Strata, EveryPositionOfABatchHasTheProbabilitiesOfTheStrategy) {
  const std::vector<double> p = {0.5, 0.25, 0.15, 0, 0.1};
  constexpr int kBatch = 7, kBatches = 40000;
  const Strata strata(p, kBatch);
  for (const std::uint64_t seed : {42u, 123u, 456u}) {
    for (int position = 0; position < kBatch; ++position) {
      std::vector<std::int64_t> drawn(p.size());
      for (int number = 0; number < kBatches; ++number) {
        ++drawn[static_cast<std::size_t>(
            strata.draw(seed, 3, static_cast<std::uint64_t>(number) * kBatch + position))];
      }
      EXPECT_EQ(drawn[3], 0);
      EXPECT_GT(chi_square(drawn, p).p, kStrict) << seed << " " << position;
    }
  }
}

// Whatever point comes first, a whole batch has the counts that its order and its u give.
TEST(Strata, AWholeBatchHasAllPointsOfItsLine) {
  const std::vector<double> p = {0.4, 0.31, 0.2, 0.05, 0, 0.04};
  constexpr std::uint64_t kSeed = 9;
  constexpr std::uint32_t kEpoch = 4;
  const Strata strata(p, 13);
  for (std::uint64_t number = 0; number < 500; ++number) {
    const base::Block block = base::Stream{kSeed, base::Purpose::kStratum, kEpoch}.block(number);
    const Strata::Order& order = strata.orders()[block[0] % Strata::kOrders];
    std::vector<std::int64_t> drawn(p.size());
    for (std::uint64_t i = 0; i < 13; ++i)
      ++drawn[static_cast<std::size_t>(strata.draw(kSeed, kEpoch, number * 13 + i))];
    for (std::size_t i = 0; i < p.size(); ++i) {
      EXPECT_EQ(drawn[static_cast<std::size_t>(order.classes[i])],
                order.count(i, base::join(block[2], block[3]) % Strata::kUnit));
    }
  }
}

// Written down once: a stream is part of what a seed means.
TEST(Strata, TheDrawsOfASeedAreTheSameForEver) {
  const IndexStream stream(*make_strategy("stratified:of=class_balanced"), kPaper, {7, 200, {}, 128}, 42);
  std::vector<std::int64_t> images(6);
  stream.fill(0, images);
  EXPECT_EQ(images, (std::vector<std::int64_t>{4172, 10377, 699, 10822, 9072, 9057}));
}

TEST(Strata, AbsenceIsTheShareOfBatchesWithoutTheClasses) {
  const std::vector<double> p = {0.7, 0.2, 0.06, 0.04};
  const Strata strata(p, 5);
  const int batches = 40000;
  for (const std::vector<int>& classes : {std::vector<int>{3}, {2, 3}, {1}, {0}, {1, 3}}) {
    int absent = 0;
    for (int number = 0; number < batches; ++number) {
      bool there = false;
      for (int i = 0; i < 5; ++i) {
        const int k =
            strata.draw(3, 0, static_cast<std::uint64_t>(number) * 5 + static_cast<std::uint64_t>(i));
        there = there || std::find(classes.begin(), classes.end(), k) != classes.end();
      }
      absent += !there;
    }
    EXPECT_NEAR(static_cast<double>(absent) / batches, strata.absence(classes), 0.011) << classes[0];
  }
  EXPECT_NEAR(strata.absence(std::vector<int>{3}), 1 - 5 * 0.04, 1e-12);
}

TEST(Strata, PartsOfAStreamAreTheWholeAndABatchSizeMustBeKnown) {
  const std::vector<std::int64_t> counts = {40, 8, 2};
  const auto strategy = make_strategy("stratified:of=class_balanced");
  const IndexStream whole(*strategy, counts, {0, 1, {}, 10}, 5);
  for (int rank = 0; rank < 3; ++rank) {
    const IndexStream part = whole.shard(rank, 3);
    for (int i = 0; i < 12; ++i) EXPECT_EQ(part.at(i), whole.at(rank + 3 * i));
  }
  EXPECT_THROW(IndexStream(*strategy, counts, {0, 1}, 5), base::Error);
}

}  // namespace
}  // namespace longtail::sampling
