#include "longtail/sampling/strata.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "longtail/base/error.h"
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
      const auto p = stream.probabilities();
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
