#include "longtail/report/recommendation.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "longtail/base/error.h"
#include "longtail/base/philox.h"
#include "longtail/report/multivariate_t.h"
#include "longtail/report/stats.h"
#include "longtail/report/table.h"

namespace longtail::report {
namespace {

double normal(std::uint64_t study, std::size_t strategy, std::size_t seed) {
  const base::Stream stream{.seed = study, .purpose = base::Purpose::kBootstrap, .epoch = 77};
  const base::Block block = stream.block(strategy * 1000 + seed);
  return normal_quantile((static_cast<double>(block[0]) + 0.5) / 4294967296.0);
}

SeedTable planted(const std::vector<double>& effects, std::size_t seeds, std::uint64_t study = 1,
                  double residual = 0.5) {
  SeedTable table;
  for (std::size_t i = 0; i < effects.size(); ++i) {
    table.names.push_back(fmt::format("s{}", i));
    table.values.emplace_back();
    for (std::size_t s = 0; s < seeds; ++s)
      table.values.back().push_back(40 + effects[i] + 2 * normal(study, 900, s) +
                                    residual * normal(study, i, s));
  }
  return table;
}

TEST(RecommendationTest, TheSentenceNamesTheChoiceTheRuledOutTheRivalsTheCostsAndTheSeedsNeeded) {
  Question q{.table = {{"uniform", "class_balanced", "square_root", "progressive"},
                       {{39.0, 38.0, 40.0}, {34.0, 33.2, 34.6}, {36.6, 35.6, 37.9}, {39.1, 40.0, 41.2}}},
             .words = {"uniform", "class-balanced", "square-root", "progressive"}};
  q.groups = {
      {"tail", {q.table.names, {{10, 9, 11}, {9, 8.2, 10}, {10.4, 9.1, 11.2}, {12.5, 11.3, 13.6}}}},
      {"head", {q.table.names, {{66, 65, 67}, {57, 56.2, 58.1}, {63.5, 62.4, 64.1}, {65.2, 65.1, 66.0}}}}};
  const Recommendation made = recommend(q);
  ASSERT_TRUE(made.series);
  EXPECT_EQ(*made.series, "progressive");
  EXPECT_EQ(made.ruled_out, (std::vector<std::string>{"class_balanced", "square_root"}));
  EXPECT_EQ(made.may_be_best, (std::vector<std::string>{"uniform", "progressive"}));
  ASSERT_EQ(made.rivals.size(), 1u);
  const Family family = analyse(q.table);
  EXPECT_EQ(made.rivals[0].difference, family.standings[3].effect - family.standings[0].effect);
  EXPECT_NEAR(made.rivals[0].low, family.standings[3].low, 1e-9);
  EXPECT_NEAR(made.rivals[0].high, family.standings[3].high, 1e-9);
  const Family tail = analyse(q.groups[0].second), head = analyse(q.groups[1].second);
  ASSERT_TRUE(made.more_seeds);
  EXPECT_EQ(
      made.sentence,
      fmt::format("Use progressive. Balanced accuracy 40.1; class-balanced and square-root are ruled out; "
                  "uniform is not (difference 1.1, between {} and {}). On the tail it gains {} over uniform "
                  "({} to {}); on the head it may lose up to {}. {} would settle it with 80% chance, if the "
                  "differences are what they seem.",
                  fixed(family.standings[3].low, 1, true), fixed(family.standings[3].high, 1, true),
                  fixed(tail.standings[3].difference, 1), fixed(tail.standings[3].low, 1),
                  fixed(tail.standings[3].high, 1), fixed(-head.standings[3].low, 1),
                  *made.more_seeds == 3 ? "Three more seeds" : fmt::format("{}", *made.more_seeds)));
}

TEST(RecommendationTest, NothingIsRecommendedFromOneSeedFromOneStrategyFromTiesOrWhenNoneIsRuledOut) {
  const Recommendation one = recommend({.table = {{"a", "b"}, {{40}, {50}}}});
  EXPECT_FALSE(one.series);
  EXPECT_EQ(one.leader, "b");
  EXPECT_EQ(
      one.sentence,
      "Nothing can be recommended. With one seed there is no telling a difference from the spread between "
      "seeds: run at least three seeds. So far b has the highest balanced accuracy (50.0).");
  const Recommendation alone = recommend({.table = {{"a"}, {{40, 41}}}});
  EXPECT_FALSE(alone.series);
  EXPECT_EQ(alone.sentence,
            "Nothing can be recommended. Only one strategy has runs: there is nothing to compare it with.");
  const Recommendation tied = recommend({.table = {{"a", "b"}, {{40, 41, 43}, {40, 41, 43}}}});
  EXPECT_FALSE(tied.series);
  EXPECT_EQ(tied.sentence, "Nothing can be recommended. All strategies have the same value in every seed.");
  const Recommendation close = recommend({.table = {{"a", "b"}, {{40, 41, 43}, {40.5, 40.8, 43.1}}}});
  EXPECT_FALSE(close.series);
  EXPECT_TRUE(close.ruled_out.empty());
  EXPECT_EQ(close.sentence.find("Nothing can be recommended: none of a and b is ruled out. B has the highest "
                                "balanced accuracy (41.5); not ruled out: a (difference 0.1, between -"),
            0u)
      << close.sentence;
  EXPECT_FALSE(recommend({}).series);
}

TEST(RecommendationTest, OfManyRivalsTheNearestAreNamedAndTheOthersCounted) {
  SeedTable table;
  for (int i = 0; i < 10; ++i) {
    table.names.push_back(std::string(1, static_cast<char>('a' + i)));
    table.values.push_back({50.0 + i * 7 % 5 - 0.01 * i, 55.0 + i * 3 % 7, 52.0 + i * 5 % 4});
  }
  const Recommendation made = recommend({.table = table});
  EXPECT_EQ(made.rivals.size(), 8u);
  EXPECT_NE(made.sentence.find("; j (difference 0.7"), std::string::npos) << made.sentence;
  EXPECT_NE(made.sentence.find(") and four others are not."), std::string::npos) << made.sentence;
  std::vector<std::size_t> places;
  for (const char* nearest : {"; j (", ", e (", ", g (", ", h ("})
    places.push_back(made.sentence.find(nearest));
  EXPECT_TRUE(std::is_sorted(places.begin(), places.end())) << made.sentence;
  EXPECT_NE(places.back(), std::string::npos) << made.sentence;
}

TEST(RecommendationTest, ABaselineThatWinsSaysWhereAnotherMayBeBetter) {
  Question q{.table = {{"a", "b"}, {{50, 51, 52}, {44, 45.2, 45.9}}}};
  q.groups = {{"tail", {q.table.names, {{10, 11, 12}, {15, 16.2, 16.9}}}}};
  const Recommendation made = recommend(q);
  ASSERT_TRUE(made.series);
  EXPECT_EQ(*made.series, "a");
  ASSERT_EQ(made.changes.size(), 1u);
  EXPECT_EQ(made.changes[0].against, "b");
  EXPECT_LT(made.changes[0].difference, 0);
  EXPECT_NE(made.sentence.find("b is ruled out. On the tail it loses 5.0 to b ("), std::string::npos)
      << made.sentence;
}

TEST(RaceTest, ARaceDropsWhatIsRuledOutAsksForTheNextSeedsAndStopsWithOneLeft) {
  const LookPlan plan;
  SeedTable whole = planted({0, 0.6, -9, -8}, 12);
  // Only the first two seeds: no look yet.
  Race race = run_looks(part_of(whole, {0, 1, 2, 3}, 2), 0, plan);
  EXPECT_EQ(race.looks, 0u);
  EXPECT_EQ(race.next, 3);
  EXPECT_EQ(race.still_in.size(), 4u);
  race = run_looks(part_of(whole, {0, 1, 2, 3}, 3), 0, plan);
  EXPECT_EQ(race.looks, 1u);
  EXPECT_EQ(race.dropped, (std::vector<std::size_t>{2, 3}));
  EXPECT_EQ(race.dropped_after, (std::vector<int>{3, 3}));
  EXPECT_EQ(race.next, 5);
  // Those that were dropped have no further runs; the others go on.
  for (std::size_t i : {2u, 3u}) {
    for (std::size_t s = 3; s < 12; ++s) whole.values[i][s] = kNaN;
  }
  race = run_looks(whole, 0, plan);
  EXPECT_EQ(race.looks, race.decided() ? race.looks : 4u);
  EXPECT_FALSE(race.next);
  const Recommendation made = recommend({.table = whole, .looks = plan});
  ASSERT_TRUE(made.series);
  EXPECT_EQ(*made.series, "s1");
  EXPECT_EQ(made.ruled_out[0], "s2");
  EXPECT_EQ(made.ruled_out[1], "s3");
}

// Two that are the same, two that are far below; those are dropped after the first look.
SeedTable tie_at_the_top(std::size_t seeds) {
  SeedTable table = planted({0, 0, -9, -8}, seeds);
  table.values[1] = table.values[0];
  for (std::size_t i : {2u, 3u}) {
    for (std::size_t s = 3; s < seeds; ++s) table.values[i][s] = kNaN;
  }
  return table;
}

TEST(RaceTest, ATieAmongThoseStillInIsNotSaidOfAllStrategies) {
  for (const std::size_t seeds : {5u, 12u}) {
    const Recommendation made = recommend({.table = tie_at_the_top(seeds), .looks = LookPlan{}});
    ASSERT_TRUE(made.series) << made.sentence;
    EXPECT_EQ(*made.series, "s0");
    EXPECT_EQ(made.ruled_out, (std::vector<std::string>{"s2", "s3"}));
    ASSERT_EQ(made.rivals.size(), 1u);
    EXPECT_EQ(made.rivals[0].judgement, Judgement::kNoDifference);
    EXPECT_EQ(
        made.sentence,
        fmt::format(
            "Use s0. Balanced accuracy {}; s2 and s3 are ruled out; s1 is not (the same in every seed).",
            fixed(made.mean, 1)));
  }
  SeedTable constant = tie_at_the_top(5);
  for (double& value : constant.values[1]) value += 0.5;
  const Recommendation ahead = recommend({.table = constant, .looks = LookPlan{}});
  EXPECT_NE(ahead.sentence.find("Use s1. "), std::string::npos);
  EXPECT_NE(
      ahead.sentence.find("s0 is not (difference 0.5 in every seed, so there is no spread to judge it by)."),
      std::string::npos)
      << ahead.sentence;
}

TEST(RaceTest, BeforeItsFirstLookARaceRecommendsNothingHoweverClearItSeems) {
  SeedTable table = planted({0, 5, -30, 40}, 3, 1, 0.1);
  table.values[2][2] = table.values[3][1] = table.values[3][2] = kNaN;
  const Recommendation made = recommend({.table = table, .words = {"a", "b", "c", "d"}, .looks = LookPlan{}});
  EXPECT_FALSE(made.series);
  EXPECT_TRUE(made.ruled_out.empty());
  EXPECT_EQ(
      made.sentence,
      fmt::format("Nothing can be recommended. The first look needs three seeds of every strategy, and there "
                  "are three of a, three of b, two of c and one of d. So far d has the highest balanced "
                  "accuracy ({}).",
                  fixed(table.values[3][0], 1)));
  // The same table is clear enough where nothing says that it comes from a race.
  EXPECT_TRUE(recommend({.table = table}).series);
}

TEST(RaceTest, FourCopiesOfOneStrategyAreNotChosenAmong) {
  const SeedTable table = planted({0, 0, 0, 0}, 12, 5);
  const Race race = run_looks(table, 0, {});
  EXPECT_EQ(race.looks, 4u);
  EXPECT_EQ(race.still_in.size(), 4u);
  EXPECT_FALSE(recommend({.table = table, .looks = LookPlan{}}).series);
}

TEST(RaceTest, OverAllLooksTheTrueBestIsRuledOutInAtMostOneStudyOfTwenty) {
  int lost = 0;
  const int studies = 1000;
  for (int study = 0; study < studies; ++study) {
    const Race race = run_looks(planted({0, 0, 0, 0}, 12, static_cast<std::uint64_t>(study) + 10), 0, {});
    // All four are the true best: any one that is dropped is an error.
    lost += !race.dropped.empty();
  }
  EXPECT_LE(lost, 60);
  EXPECT_GT(lost, 5) << "the looks decide nothing at all";
}

TEST(RecommendationTest, WhoIsRuledOutIsNotRecommended) {
  // Every seed that both have puts b a point below a. By least squares b is above it, through the seeds of the wild c.
  const SeedTable table{{"a", "b", "c"},
                        {{50.1, 49.9, 50.0, 50.2, 50.0, 50.0, kNaN, kNaN, kNaN, kNaN},
                         {49.0, 48.9, 49.1, 49.1, kNaN, kNaN, 49.0, 49.1, 48.9, 49.0},
                         {50, 30, 45, 20, 60, 70, 10, 12, 8, 11}}};
  const Family family = analyse(table);
  ASSERT_EQ(family.method, Method::kSeparate);
  EXPECT_GT(family.standings[1].effect, 10);
  const Recommendation made = recommend({.table = table});
  EXPECT_EQ(made.series, "a") << made.sentence;
  EXPECT_EQ(made.ruled_out, (std::vector<std::string>{"b", "c"}));
  EXPECT_EQ(made.sentence.find("Use a. Balanced accuracy 50.0; b and c are ruled out."), 0u) << made.sentence;
}

TEST(RecommendationTest, WhereEachIsBelowAnotherNothingIsRecommended) {
  // Two seeds have all three, the others two of them: a above b, b above c, and far more often c above a.
  SeedTable table{{"a", "b", "c"}, {{60, 60}, {50, 50}, {39.5, 40.5}}};
  for (std::size_t s = 0; s < 28; ++s) {
    const double wobble = std::array{0.1, -0.1, 0.05, -0.05}[s % 4];
    table.values[0].push_back(s < 4 ? 60 + wobble : s < 8 ? kNaN : 40);
    table.values[1].push_back(s < 4 ? 50 : s < 8 ? 50 + wobble : kNaN);
    table.values[2].push_back(s < 4 ? kNaN : s < 8 ? 40 : 50 + wobble);
  }
  const Recommendation made = recommend({.table = table});
  EXPECT_FALSE(made.series);
  EXPECT_EQ(made.ruled_out.size(), 3u);
  EXPECT_EQ(
      made.sentence,
      "Nothing can be recommended: each of a, b and c is below another one on the seeds that both have. "
      "That happens only where runs are missing; run the missing seeds.");
}

TEST(RecommendationTest, TheRecommendedSeriesIsNeverAmongTheRuledOutAndARivalIsInItsInterval) {
  int apart = 0, recommended = 0;
  for (std::uint64_t study = 0; study < 300; ++study) {
    SeedTable table = planted({0, -1, 0}, 10, study, 0.05);
    for (std::size_t s = 0; s < 10; ++s) {
      table.values[2][s] += 25 * normal(study, 50, s);
      if (s >= 4) table.values[s < 6 ? 1 : 0][s] = kNaN;
    }
    apart += analyse(table).method == Method::kSeparate;
    const Recommendation made = recommend({.table = table});
    recommended += made.series.has_value();
    for (const std::string& out : made.ruled_out) EXPECT_NE(made.series, out) << made.sentence;
    for (const Change& rival : made.rivals) {
      EXPECT_LE(rival.low, rival.difference) << made.sentence;
      EXPECT_GE(rival.high, rival.difference) << made.sentence;
      if (made.series) {
        EXPECT_LE(rival.low, 0) << "or it would be ruled out: " << made.sentence;
      }
    }
  }
  EXPECT_GT(apart, 250);
  EXPECT_GT(recommended, 150);
}

TEST(RecommendationTest, ARivalWithoutSpreadIsSaidToBeThat) {
  const Recommendation made =
      recommend({.table = {{"a", "b", "c"}, {{40, 40, 40}, {40.5, 40.5, 40.5}, {30, 39, 44}}}});
  EXPECT_FALSE(made.series);
  EXPECT_NE(made.sentence.find("a (difference 0.5, which has no spread to judge it by)"), std::string::npos)
      << made.sentence;
}

TEST(RecommendationTest, WhereSeedsDifferTheSentenceNamesTheLeaderOfTheSeedsTheyShareAndSaysSo) {
  const Recommendation pair = recommend({.table = {{"uniform", "progressive"}, {{40, 44}, {41, kNaN}}}});
  EXPECT_EQ(pair.leader, "progressive");
  EXPECT_EQ(pair.sentence,
            "Nothing can be recommended. No two strategies have more than one seed in common, so there is no "
            "telling a difference from the spread between seeds: run at least three seeds of each. So far "
            "progressive has the highest balanced accuracy on the seeds they share (41.0 over all its own).");
  const Recommendation close =
      recommend({.table = {{"uniform", "progressive"}, {{40, 44, 48}, {40.8, 45.1, kNaN}}}});
  EXPECT_EQ(close.leader, "progressive");
  EXPECT_NE(
      close.sentence.find("Progressive has the highest balanced accuracy on the seeds they share (43.0 over "
                          "all its own); not ruled out: uniform (difference 1.0"),
      std::string::npos)
      << close.sentence;
}

TEST(RecommendationTest, AMeanThatAnotherSurpassesIsSaidToBeOverOtherSeedsAndASharedLeadToo) {
  const Recommendation clear =
      recommend({.table = {{"uniform", "progressive"}, {{40, 44, 48, 90}, {45.1, 49, 53.1, kNaN}}}});
  EXPECT_EQ(
      clear.sentence.find("Use progressive. Balanced accuracy 49.1 over all its seeds, the highest on those "
                          "they share; uniform is ruled out."),
      0u)
      << clear.sentence;
  const Recommendation shared = recommend({.table = {{"a", "b", "c"}, {{40, 44}, {40, kNaN}, {39, kNaN}}}});
  EXPECT_NE(
      shared.sentence.find("So far a and b share the highest balanced accuracy on the seeds they share."),
      std::string::npos)
      << shared.sentence;
  EXPECT_NE(shared.sentence.find("No two strategies have more than one seed in common"), std::string::npos);
}

// The leader is far above the last, but neither is far enough from the baseline between them.
SeedTable around_the_baseline() {
  return {{"base", "low", "high"}, {{40, 42, 44}, {38.7, 41.9, 42.6}, {40.4, 43.7, 44.7}}};
}

TEST(RecommendationTest, ARivalWhoseIntervalExcludesNoughtIsHeldBackByTheGateAndTheSentenceSaysWhy) {
  const Family family = analyse(around_the_baseline());
  ASSERT_FALSE(family.any_established());
  const Recommendation made = recommend({.table = around_the_baseline()});
  EXPECT_FALSE(made.series);
  ASSERT_EQ(made.rivals.size(), 2u);
  EXPECT_EQ(judgement_words(made.rivals[0].judgement), "not established");
  EXPECT_LT(made.rivals[0].low, 0);
  EXPECT_EQ(judgement_words(made.rivals[1].judgement), "held back");
  EXPECT_GT(made.rivals[1].low, 0);
  EXPECT_NE(
      made.sentence.find("As long as no difference from base is established, nothing is ruled out: not even "
                         "low, whose interval does not contain 0."),
      std::string::npos)
      << made.sentence;
  // Where the gate is open, or no interval excludes 0, there is nothing to explain.
  for (const SeedTable& table : {planted({0, 0, 0}, 4), planted({0, -9, 3}, 4)})
    EXPECT_EQ(recommend({.table = table}).sentence.find("As long as"), std::string::npos);
}

// Two strategies of twelve seeds, one near the first of them of one.
SeedTable one_run_of_the_last(double last) {
  return {{"uniform", "class_balanced", "progressive"},
          {{57.65, 57.69, 56.28, 56.89, 56.61, 58.21, 56.59, 56.21, 57.72, 57.17, 57.73, 56.36},
           {53.75, 54.24, 53.38, 52.68, 51.91, 53.24, 52.53, 52.64, 53.21, 53.61, 53.25, 52.64},
           {last, kNaN, kNaN, kNaN, kNaN, kNaN, kNaN, kNaN, kNaN, kNaN, kNaN, kNaN}}};
}

TEST(RecommendationTest, WhereSeedsDifferItIsSaidHowManyOfEachWouldSettleItCountedFromTheFewest) {
  const SeedTable table = one_run_of_the_last(56.98);
  const Family family = analyse(table);
  const Recommendation made = recommend({.table = table});
  ASSERT_TRUE(made.more_seeds);
  const int needed = 1 + *made.more_seeds;
  EXPECT_GE(chance_to_settle(leads_of(family), family.residual, 3, needed, 0.05), kSettledChance);
  EXPECT_LT(chance_to_settle(leads_of(family), family.residual, 3, needed - 1, 0.05), kSettledChance);
  EXPECT_GT(needed, 3) << "one more seed of each leaves the last with two";
  const std::string words = "seeds of each strategy it would be settled with 80% chance, if the differences";
  EXPECT_NE(made.sentence.find(words), std::string::npos) << made.sentence;
  EXPECT_EQ(made.sentence.find("more seed"), std::string::npos) << made.sentence;
  // As level as can be.
  const double first = analyse(table).standings[2].difference;
  const Recommendation level = recommend({.table = one_run_of_the_last(56.98 - first + 0.001)});
  EXPECT_FALSE(level.more_seeds);
  EXPECT_NE(level.sentence.find("They are too close: not even 101 seeds of each strategy would settle it"),
            std::string::npos)
      << level.sentence;
}

TEST(RecommendationTest, WhoHasNoSeedInCommonIsNamedAndNotCountedAmongTheMeans) {
  const SeedTable apart{{"uniform", "class_balanced", "square_root", "progressive"},
                        {{57.13, 57.01, 57.13, kNaN, kNaN, kNaN},
                         {53.71, 54.00, 52.58, kNaN, kNaN, kNaN},
                         {54.65, 54.69, 53.28, kNaN, kNaN, kNaN},
                         {kNaN, kNaN, kNaN, 59.89, 59.61, 61.21}}};
  EXPECT_EQ(
      recommend({.table = apart}).sentence,
      "Use uniform. Balanced accuracy 57.1; class_balanced and square_root are ruled out. Not compared, "
      "for want of common seeds: progressive.");
  const Recommendation refused =
      recommend({.table = {{"a", "b", "c"}, {{40, kNaN}, {41, kNaN}, {kNaN, 60}}}});
  EXPECT_EQ(refused.sentence,
            "Nothing can be recommended. With one seed there is no telling a difference from the spread "
            "between seeds: run at least three seeds. So far b has the highest balanced accuracy (41.0). Not "
            "compared, for want of common seeds: c.");
  const Recommendation none = recommend({.table = {{"a", "b"}, {{40, kNaN}, {kNaN, 60}}}});
  EXPECT_EQ(none.sentence,
            "Nothing can be recommended. No two strategies have a seed in common: nothing can be compared.");
}

TEST(RecommendationTest, ABoundNearNoughtDoesNotReadAsNought) {
  const SeedTable table{
      {"uniform", "class_balanced", "square_root", "progressive"},
      {{56.60, 56.86, 55.77}, {53.52, 53.66, 52.52}, {54.23, 54.91, 53.53}, {57.19, kNaN, kNaN}}};
  const Recommendation made = recommend({.table = table, .groups = {{"head", table}}});
  ASSERT_EQ(made.rivals.size(), 1u);
  ASSERT_LT(made.rivals[0].low, 0);
  ASSERT_EQ(fixed(made.rivals[0].low, 1, true), "+0.0");
  EXPECT_NE(made.sentence.find("uniform is not (difference 0.6, between -0.05 and +1.3)"), std::string::npos)
      << made.sentence;
  EXPECT_NE(made.sentence.find("On the head it may lose up to 0.05 to uniform"), std::string::npos)
      << made.sentence;
}

TEST(RecommendationTest, GoalsAreReadByName) {
  for (const Goal goal : {Goal::kBalanced, Goal::kOverall, Goal::kTail, Goal::kWorst})
    EXPECT_EQ(parse_goal(goal_name(goal)), goal);
  EXPECT_THROW(parse_goal("best"), base::UsageError);
}

}  // namespace
}  // namespace longtail::report
