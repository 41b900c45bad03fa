#include "longtail/study/selection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "longtail/base/error.h"

namespace longtail::study {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Four strategies, the fastest to vary, of three seeds: places 0, 4 and 8 are uniform.
Plan twelve_runs() {
  Plan plan;
  plan.runs = resolve(parse_study("[grid]\nseed = [1, 2, 3]\nstrategy = [\"uniform\", \"class_balanced\", "
                                  "\"square_root\", \"progressive\"]\n",
                                  "test.toml"),
                      "simd");
  return plan;
}

TEST(Selection, AShardIsOfTheRunsThatAreMeant) {
  const Plan plan = twelve_runs();
  EXPECT_THAT(select(plan, "", {"uniform"}), ElementsAre(0, 4, 8));
  EXPECT_THAT(select(plan, "1/4", {"uniform"}), ElementsAre(0));
  EXPECT_THAT(select(plan, "2/4", {"uniform"}), ElementsAre(4));
  EXPECT_THAT(select(plan, "3/4", {"uniform"}), ElementsAre(8));
  EXPECT_THAT(select(plan, "4/4", {"uniform"}), IsEmpty());
  EXPECT_THAT(select(plan, "2/5", {}), ElementsAre(1, 6, 11));
}

TEST(Selection, TheShardsTogetherAreAllThatIsMeantOnce) {
  const Plan plan = twelve_runs();
  for (const std::vector<std::string>& only :
       {std::vector<std::string>{}, {"uniform"}, {"square_root", "progressive"}}) {
    for (int count = 1; count <= 13; ++count) {
      std::vector<std::size_t> all;
      for (int index = 1; index <= count; ++index) {
        const auto part = select(plan, fmt::format("{}/{}", index, count), only);
        all.insert(all.end(), part.begin(), part.end());
      }
      std::sort(all.begin(), all.end());
      EXPECT_EQ(all, select(plan, "", only)) << count;
    }
  }
}

TEST(Selection, AWordThatMeansNoRunIsRefusedInEveryShard) {
  for (const char* shard : {"", "1/4", "4/4"})
    EXPECT_THROW(select(twelve_runs(), shard, {"unifrom"}), base::UsageError) << shard;
}

}  // namespace
}  // namespace longtail::study
