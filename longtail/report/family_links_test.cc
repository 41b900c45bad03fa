// Families whose strategies do not all share seeds, or share a training: who is compared, and what would settle it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "longtail/report/family.h"
#include "longtail/report/stats.h"
#include "longtail/report/test_logs.h"

namespace longtail::report {
namespace {

std::vector<std::size_t> compared_in(const Family& family) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < family.standings.size(); ++i) {
    if (family.standings[i].comparable) found.push_back(i);
  }
  return found;
}

TEST(FamilyLinksTest, ABaselineWithoutACommonSeedLeavesTheOthersComparedAmongThemselves) {
  const SeedTable table{{"uniform", "class_balanced", "square_root", "progressive"},
                        {{kNaN, kNaN, kNaN, 56.07},
                         {53.66, 53.21, 52.31, kNaN},
                         {54.74, 54.79, 54.31, kNaN},
                         {60.19, 60.73, 60.00, kNaN}}};
  const Family family = analyse(table);
  ASSERT_EQ(family.method, Method::kPooled) << family.limit;
  EXPECT_EQ(compared_in(family), (std::vector<std::size_t>{1, 2, 3}));
  EXPECT_EQ(family.leader, 3u);
  EXPECT_EQ(family.ruled_out(), (std::vector<std::size_t>{1, 2}));
  // As if the baseline had no run at all.
  const Family without = analyse(part_of(table, {1, 2, 3}, 4), {.baseline = 3});
  EXPECT_EQ(without.ruled_out(), (std::vector<std::size_t>{0, 1}));
  EXPECT_EQ(family.residual, without.residual);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_TRUE(std::isnan(family.standings[i + 1].difference));
    EXPECT_EQ(family.standings[i + 1].best_low, without.standings[i].best_low);
    EXPECT_EQ(family.standings[i + 1].best_high, without.standings[i].best_high);
  }
}

TEST(FamilyLinksTest, TheBaselineAndWhoIsLinkedWithItIsComparedAndElseTheLargestSet) {
  const double none = kNaN;
  SeedTable table{{"a", "b", "c", "d", "e"},
                  {{50, 51, none, none},
                   {52, 53.5, none, none},
                   {none, none, 50, 51},
                   {none, none, 52, 53.5},
                   {none, none, 51, 52}}};
  EXPECT_EQ(compared_in(analyse(table)), (std::vector<std::size_t>{0, 1}));
  EXPECT_EQ(compared_in(analyse(table, {.baseline = 3})), (std::vector<std::size_t>{2, 3, 4}));
  table.values[0] = {none, none, none, none};
  EXPECT_EQ(compared_in(analyse(table)), (std::vector<std::size_t>{2, 3, 4}));
  table.values[2] = table.values[3] = {none, none, none, none};
  EXPECT_EQ(analyse(table).limit, "No two strategies have a seed in common: nothing can be compared.");
}

TEST(FamilyLinksTest, SeedsToSettleAreReckonedFromOneSeriesOfEachTraining) {
  // The look of a race reckons its degrees of freedom from three, its critical values from five.
  for (const int seeds : {3, 4, 6}) {
    const double chance = chance_to_settle({{1.2, true}}, 0.5, 5, seeds, 0.05, 0, 2);
    EXPECT_EQ(chance, chance_to_settle({{1.2, true}}, 0.5, 3, seeds, 0.05, 5));
    EXPECT_LT(chance, chance_to_settle({{1.2, true}}, 0.5, 5, seeds, 0.05) - 0.01);
  }
  // The last is ahead of a series of the same training by about what the residual is.
  SeedTable table{
      {"uniform", "mixup", "crt", "adjusted", "progressive"}, {{}, {}, {}, {}, {}}, {0, 1, 1, 1, 2}};
  const std::vector<double> effects = {39, 41, 46.1, 47.1, 40.1};
  for (std::size_t i = 0; i < effects.size(); ++i) {
    for (std::uint64_t s = 0; s < 3; ++s)
      table.values[i].push_back(effects[i] + 0.4 * test::noise(s, 61, table.trainings[i] == 1 ? 1 : i));
  }
  table.values[2][1] += 0.1;
  const Family family = analyse(table);
  ASSERT_EQ(family.method, Method::kPooled);
  ASSERT_EQ(family.sharing, 2);
  ASSERT_EQ(family.may_be_best(), (std::vector<std::size_t>{2, 3}));
  int more = 1;
  const auto chance = [&](int sharing) {
    return chance_to_settle(leads_of(family), family.residual, 5, 3 + more, 0.05, 0, sharing);
  };
  while (chance(2) < kSettledChance) ++more;
  EXPECT_EQ(seeds_to_settle(family, 3), more);
  Family apart = family;
  apart.sharing = 0;
  EXPECT_LT(seeds_to_settle(apart, 3), more) << "too few, if each had a training of its own";
}

TEST(FamilyLinksTest, TheSeedsOfTheCandidatesAreTheFewestAndTheMostOfThoseThatMayBeTheBest) {
  SeedTable table{{"a", "b", "c"}, {{50, 51, 52, 53}, {50.5, 51, kNaN, kNaN}, {40, 41.2, 41.9, kNaN}}};
  const SeedRange range = seeds_of_candidates(analyse(table));
  EXPECT_EQ(range.fewest, 2);
  EXPECT_EQ(range.most, 4);
  EXPECT_EQ(seeds_of_candidates(Family{}).most, 0);
}

TEST(FamilyLinksTest, ATieInTheSeedsThatBothHaveIsNoTieByLeastSquares) {
  // The last has one seed in common with the first, a tie, and eight with the second, which is 1 above the first.
  SeedTable table{{"uniform", "progressive", "class_balanced"}, {{}, {}, {}}};
  for (std::uint64_t s = 0; s < 16; ++s) {
    const bool early = s < 8;
    const double seed = 40 + test::noise(s, 81, 0);
    table.values[0].push_back(early ? seed + 0.1 * test::noise(s, 81, 1) : kNaN);
    table.values[1].push_back(seed + 1 + 0.1 * test::noise(s, 81, 2));
    table.values[2].push_back(early ? kNaN : seed - 2 + 0.1 * test::noise(s, 81, 3));
  }
  table.values[2][0] = table.values[0][0];
  const Family family = analyse(table);
  ASSERT_EQ(family.method, Method::kPooled);
  const Standing& last = family.standings[2];
  EXPECT_LT(last.difference, -1);
  EXPECT_LT(last.high, 0);
  EXPECT_EQ(last.judgement, Judgement::kEstablished);
}

TEST(FamilyLinksTest, WhereNoSpreadBoundsADifferenceFromTheBestThereIsNoBound) {
  const Family family = analyse({{"a", "b", "c"}, {{40, 40, 40}, {40.5, 40.5, 40.5}, {30, 39, 44}}});
  ASSERT_EQ(family.method, Method::kSeparate);
  for (const std::size_t i : {0u, 1u}) {
    EXPECT_TRUE(std::isnan(family.standings[i].best_low)) << family.standings[i].best_low;
    EXPECT_GT(family.standings[i].best_high, 0);
  }
  EXPECT_LT(family.standings[2].best_low, 0) << "it has a spread";
}

}  // namespace
}  // namespace longtail::report
