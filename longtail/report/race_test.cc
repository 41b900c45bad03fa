// Races as reports see them: by whose rules they are judged, and what is said of more seeds.
#include "longtail/report/race.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "longtail/base/error.h"
#include "longtail/base/file.h"
#include "longtail/data/testing.h"
#include "longtail/report/choices.h"
#include "longtail/report/test_logs.h"

namespace longtail::report {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr double kLookAlpha = 0.0125;

// The second minus the first is -0.5 and 1.5 in turn: no look decides.
SeedTable never_settled(int seeds) {
  SeedTable table{{"a", "b"}, std::vector<std::vector<double>>(2)};
  for (int s = 0; s < seeds; ++s) {
    const double half = s % 2 == 0 ? 0.5 : -0.5;
    table.values[0].push_back(50 + s + half);
    table.values[1].push_back(50.5 + s - half);
  }
  return table;
}

// Three seeds of eight strategies: six are far below, the second is 1.0 ahead of the first.
SeedTable eight_of_which_two_remain() {
  constexpr std::array<std::array<double, 3>, 4> kPatterns = {
      {{0.4, -0.4, 0}, {-0.4, 0, 0.4}, {0, 0.4, -0.4}, {0.4, 0, -0.4}}};
  constexpr std::array<double, 3> kSeeds = {0, 1.5, -0.5};
  SeedTable table;
  for (std::size_t i = 0; i < 8; ++i) {
    table.names.push_back("s" + std::to_string(i));
    table.values.emplace_back();
    for (std::size_t s = 0; s < 3; ++s)
      table.values.back().push_back(50 +
                                    (i == 1  ? 1.0
                                     : i > 1 ? -20.0
                                             : 0.0) +
                                    kSeeds[s] + kPatterns[i % 4][s]);
  }
  return table;
}

TEST(RaceSeedsTest, ARaceThatIsOverAsksForNoMoreSeeds) {
  const Recommendation over = recommend({.table = never_settled(12), .looks = LookPlan{}});
  EXPECT_EQ(run_looks(never_settled(12), 0, {}).looks, 4u);
  EXPECT_EQ(over.rivals.size(), 1u);
  EXPECT_EQ(over.more_seeds, std::nullopt);
  EXPECT_THAT(over.sentence, Not(HasSubstr("more seed")));
  EXPECT_THAT(over.sentence, HasSubstr("The race is over: its last look is the one after twelve seeds."));
  EXPECT_TRUE(recommend({.table = never_settled(12)}).more_seeds) << "of a study it is said as ever";
  // Before the last look: it would not help.
  const Recommendation eight = recommend({.table = never_settled(8), .looks = LookPlan{}});
  EXPECT_EQ(eight.more_seeds, std::nullopt);
  EXPECT_THAT(eight.sentence, HasSubstr("not even the last look, after twelve seeds, would settle it"));
}

TEST(RaceSeedsTest, MoreSeedsReachToALookAndAreReckonedWithTheCriticalValuesOfAllThatBegan) {
  const SeedTable table = eight_of_which_two_remain();
  const Race race = run_looks(table, 0, {});
  ASSERT_EQ(race.still_in, (std::vector<std::size_t>{0, 1}));
  ASSERT_EQ(race.family.method, Method::kPooled);
  const double residual = race.family.residual;
  const auto chance = [&](int seeds, int entrants) {
    return chance_to_settle({{1.0, true}}, residual, 2, seeds, kLookAlpha, entrants);
  };
  // Of these two alone eight seeds would do; with the values for eight strategies it takes the last look.
  EXPECT_GE(chance(8, 2), 0.8);
  EXPECT_LT(chance(8, 8), 0.8);
  EXPECT_GE(chance(12, 8), 0.8);
  const Recommendation made = recommend({.table = table, .looks = LookPlan{}});
  EXPECT_EQ(made.more_seeds, 9);
  EXPECT_THAT(made.sentence, HasSubstr("Nine more seeds would settle it with 80% chance"));
}

TEST(RaceSeedsTest, TheChanceToSettleAtALookIsThatOfSimulatedLooks) {
  const int seeds = 8, entrants = 8, studies = 3000;
  const double ahead = 2.0, residual = 0.8;
  int settled = 0;
  for (int study = 0; study < studies; ++study) {
    SeedTable table{{"a", "b"}, std::vector<std::vector<double>>(2)};
    for (std::size_t i = 0; i < 2; ++i) {
      for (std::size_t s = 0; s < static_cast<std::size_t>(seeds); ++s)
        table.values[i].push_back(50 + (i == 1 ? ahead : 0) +
                                  residual * test::noise(static_cast<std::uint64_t>(study), 71, i * 10 + s));
    }
    const Family look = analyse(table, {.alpha = kLookAlpha, .entrants = entrants});
    settled += look.may_be_best() == std::vector<std::size_t>{1};
  }
  const double expected = chance_to_settle({{ahead, true}}, residual, 2, seeds, kLookAlpha, entrants);
  EXPECT_NEAR(settled / static_cast<double>(studies), expected, 0.035) << expected;
  EXPECT_GT(chance_to_settle({{ahead, true}}, residual, 2, seeds, kLookAlpha, 2), expected + 0.1);
}

// In the report's order, in which class-balanced would be the baseline; the race had progressive.
Question progressive_was_first() {
  return {.table = {{"class_balanced", "square_root", "progressive"},
                    {{39.2, 39.6, 38.4}, {40.7, 41.9, 40.9}, {40.0, 40.6, 39.7}}},
          .looks = LookPlan{}};
}

TEST(RaceRulesTest, ARaceIsJudgedByItsOwnBaselineWhateverTheTablesAreComparedWith) {
  Question question = progressive_was_first();
  EXPECT_EQ(recommend(question).series, "square_root");
  question.looks->baseline = "progressive";
  EXPECT_FALSE(recommend(question).series) << recommend(question).sentence;
  Question same = progressive_was_first();
  same.baseline = 2;
  EXPECT_EQ(recommend(question).sentence, recommend(same).sentence);
  question.looks->baseline = "nobody";
  EXPECT_EQ(recommend(question).series, "square_root") << "a baseline that has no run";
}

TEST(RaceRulesTest, AnswersByAnotherGoalSayThatTheRaceWasNotDecidedByIt) {
  Question question = progressive_was_first();
  question.looks->goal = Goal::kBalanced;
  EXPECT_THAT(recommend(question).sentence, Not(HasSubstr("not what the race was decided by")));
  question.looks->goal = Goal::kTail;
  const Recommendation made = recommend(question);
  EXPECT_THAT(made.sentence, HasSubstr("This is not what the race was decided by"));
  EXPECT_THAT(made.sentence, HasSubstr("went by tail accuracy."));
  EXPECT_FALSE(made.more_seeds) << "the race does not go on for it";
  EXPECT_EQ(made.series, "square_root") << "by the looks all the same";
}

TEST(RaceRulesTest, ReportsTakeGoalLooksAndBaselineFromTheFolderOfARace) {
  const data::TempFolder folder;
  const auto file = folder.path() / kRaceFile;
  EXPECT_FALSE(read_race(folder.path()));
  // As an earlier version wrote it.
  base::write_atomically(file, "{\"pictures\": \"birds\"}\n");
  ReportOptions options = options_of({folder.path()}, {.goal = "tail"});
  EXPECT_EQ(options.summary.goal, Goal::kTail);
  ASSERT_TRUE(options.summary.looks);
  EXPECT_FALSE(options.summary.looks->goal);
  EXPECT_EQ(options_of({folder.path()}, {}).summary.goal, Goal::kBalanced);

  base::write_atomically(file, "{\"goal\": \"tail\", \"baseline\": \"progressive\"}\n");
  options = options_of({folder.path()}, {});
  EXPECT_EQ(options.summary.goal, Goal::kTail);
  EXPECT_EQ(options.summary.at, At::kLast);
  ASSERT_TRUE(options.summary.looks);
  EXPECT_EQ(options.summary.looks->goal, Goal::kTail);
  EXPECT_EQ(options.summary.looks->baseline, "progressive");
  EXPECT_EQ(options.summary.baseline, "") << "it has no run yet, and a report does not fail for that";
  options = options_of({folder.path()}, {.baseline = "uniform", .goal = "balanced"});
  EXPECT_EQ(options.summary.goal, Goal::kBalanced) << "asked for";
  EXPECT_EQ(options.summary.baseline, "uniform");
  EXPECT_EQ(options.summary.looks->goal, Goal::kTail);
  EXPECT_EQ(options.summary.looks->baseline, "progressive");
  EXPECT_FALSE(options_of({folder.path(), folder.path()}, {}).summary.looks);

  for (const char* damaged : {"{", "[]", "{\"goal\": \"best\"}", "{\"goal\": 3}", "{\"baseline\": []}"}) {
    base::write_atomically(file, damaged);
    EXPECT_THROW(read_race(folder.path()), base::Error) << damaged;
  }
}

TEST(RaceRulesTest, ALogFolderOfARaceIsReadWithoutItsPlanAndBesideOtherRunsItIsWarnedOf) {
  const test::Folder race("race_logs"), other("race_other");
  test::write_grid(race, {100}, {1, 2, 3}, 5);
  test::write_grid(other, {100}, {4}, 5);
  base::write_atomically(race.path() / kRaceFile, std::string_view("{\"goal\": \"tail\"}\n"));
  const auto warnings = [](const std::vector<std::filesystem::path>& inputs) {
    return make_report(options_of(inputs, {})).results.warnings;
  };
  EXPECT_THAT(warnings({race.path()}), testing::IsEmpty());
  EXPECT_THAT(warnings({other.path()}), testing::IsEmpty());
  EXPECT_THAT(warnings({race.path(), other.path()}),
              testing::ElementsAre(testing::StartsWith(race.path().string() +
                                                       " is a race of `longtail recommend`, which is judged "
                                                       "at its looks; beside other inputs it is not.")));
}

TEST(RaceRulesTest, WhatFindingsEstablishAtFivePercentButNoLookDoesIsToldApart) {
  // Each of the others is 4 standard errors from the first: enough at 5%, too few at 1.25%.
  const SeedTable table{{"base", "low", "high"}, {{41, 41, 44}, {35, 38, 41}, {44, 47, 47}}};
  ASSERT_TRUE(analyse(table).any_established());
  EXPECT_EQ(recommend({.table = table}).series, "high");
  const Recommendation made = recommend({.table = table, .looks = LookPlan{}});
  EXPECT_FALSE(made.series);
  EXPECT_THAT(made.sentence,
              HasSubstr("As long as no difference from base is established at a look, nothing is ruled out: "
                        "not even low, whose interval does not contain 0."));
  const test::Folder race("race_remarks");
  test::write_grid(race, {100}, {1, 2, 3}, 5);
  const auto remarks = [&] { return make_report(options_of({race.path()}, {})).summary.remarks; };
  EXPECT_THAT(remarks(), Not(testing::Contains(HasSubstr("looks"))));
  base::write_atomically(race.path() / kRaceFile, std::string_view("{}\n"));
  EXPECT_THAT(remarks(), testing::Contains("The answer goes by the looks of the race, each at 1.25%; "
                                           "findings and tables are at 5%."));
}

// The last seed would change the answers of both tables, but the next look needs a fifth.
Question beyond_its_look(SeedTable table) {
  for (std::size_t i = 0; i < table.strategies(); ++i)
    table.values[i].push_back(i == 0 ? 90 : 30 + 2.0 * static_cast<double>(i));
  return {.table = table, .groups = {{"tail", table}}, .looks = LookPlan{}};
}
Question at_its_look(const SeedTable& table) {
  return {.table = table, .groups = {{"tail", table}}, .looks = LookPlan{}};
}

TEST(RaceSeedsTest, BetweenTwoLooksTheSentenceIsThatOfTheLastLookAndSaysSo) {
  for (const SeedTable& table : {never_settled(3), eight_of_which_two_remain()}) {
    const Recommendation look = recommend(at_its_look(table)), later = recommend(beyond_its_look(table));
    EXPECT_EQ(later.leader, look.leader);
    EXPECT_EQ(later.mean, look.mean);
    ASSERT_EQ(later.changes.size(), 1u);
    EXPECT_EQ(later.changes[0].difference, look.changes[0].difference);
    EXPECT_EQ(later.changes[0].low, look.changes[0].low);
    EXPECT_EQ(later.changes[0].high, look.changes[0].high);
    EXPECT_THAT(look.sentence, Not(HasSubstr("after the first")));
    EXPECT_THAT(later.sentence, HasSubstr(" after the first three seeds"));
  }
  const Recommendation open = recommend(beyond_its_look(never_settled(3)));
  EXPECT_THAT(open.sentence,
              HasSubstr("B has the highest balanced accuracy (51.3 after the first three seeds); "
                        "not ruled out: a (difference 0.2"));
  const Recommendation made = recommend(beyond_its_look(eight_of_which_two_remain()));
  EXPECT_THAT(made.sentence, HasSubstr("Use s1. Balanced accuracy 51.3 after the first three seeds; "));
  EXPECT_EQ(made.more_seeds, 9);
  EXPECT_THAT(made.sentence,
              HasSubstr("With twelve seeds of each strategy it would be settled with 80% chance"))
      << "nine more than three, and there are four already";
}

}  // namespace
}  // namespace longtail::report
