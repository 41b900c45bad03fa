#include "longtail/train/hold_out.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "longtail/base/error.h"

namespace longtail::train {
namespace {

data::Subset subset_of(std::vector<std::int64_t> counts) {
  data::Subset subset;
  subset.counts = counts;
  for (const std::int64_t count : counts) {
    subset.first.push_back(subset.size());
    for (std::int64_t i = 0; i < count; ++i)
      subset.indices.push_back(static_cast<std::int32_t>(100 + subset.size()));
  }
  return subset;
}

TEST(HoldOut, TakesAFractionOfEachClassButNeverItsLastImage) {
  const HeldOut parts = hold_out(subset_of({50, 10, 3, 1, 0}), 0.5, 42);
  EXPECT_EQ(parts.validation.counts, (std::vector<std::int64_t>{25, 5, 2, 0, 0}));
  EXPECT_EQ(parts.training.counts, (std::vector<std::int64_t>{25, 5, 1, 1, 0}));
  EXPECT_EQ(parts.training.first, (std::vector<std::int64_t>{0, 25, 30, 31, 32}));
}

TEST(HoldOut, EveryImageIsInOnePartOnly) {
  const data::Subset whole = subset_of({50, 10, 3});
  const HeldOut parts = hold_out(whole, 0.2, 42);
  std::multiset<std::int32_t> all(parts.training.indices.begin(), parts.training.indices.end());
  all.insert(parts.validation.indices.begin(), parts.validation.indices.end());
  EXPECT_EQ(all, std::multiset<std::int32_t>(whole.indices.begin(), whole.indices.end()));
  EXPECT_TRUE(std::is_sorted(parts.training.indices.begin(), parts.training.indices.end()));
}

TEST(HoldOut, IsAFunctionOfTheSeed) {
  const data::Subset whole = subset_of({50});
  EXPECT_EQ(hold_out(whole, 0.2, 42).validation.indices, hold_out(whole, 0.2, 42).validation.indices);
  EXPECT_NE(hold_out(whole, 0.2, 42).validation.indices, hold_out(whole, 0.2, 43).validation.indices);
}

TEST(HoldOut, RefusesAFractionOfNothing) { EXPECT_THROW(hold_out(subset_of({4, 4}), 0.1, 42), base::Error); }

}  // namespace
}  // namespace longtail::train
