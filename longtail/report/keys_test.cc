#include "longtail/report/keys.h"

#include <gtest/gtest.h>

#include "longtail/report/results.h"

namespace longtail::report {
namespace {

TEST(KeysTest, ASeriesIsShownWithTheParametersOfStrategyAndRunInOnePairOfBrackets) {
  const Series series("progressive:gamma=2", "lr=0.05, clip=5");
  EXPECT_EQ(series.text(), "progressive:gamma=2 (lr=0.05, clip=5)");
  EXPECT_EQ(series.title(), "Progressive (gamma=2, lr=0.05, clip=5)");
  EXPECT_EQ(series.words(), "progressive (gamma=2, lr=0.05, clip=5)");
  EXPECT_EQ(series.slug(), "progressive_gamma_2_lr_0_05_clip_5");
  EXPECT_EQ(series.strategy(), "progressive:gamma=2");
  EXPECT_EQ(Series("class_balanced").title(), "Class-Balanced");
  EXPECT_EQ(Series("class_balanced").words(), "class-balanced");
  EXPECT_EQ(Series("uniform", "lr=0.05").title(), "Uniform (lr=0.05)");
  EXPECT_EQ(Series().title(), "");
}

TEST(KeysTest, ASeriesWithANameIsShownByItAndStaysTheSeriesThatItIs) {
  Series series("uniform", "rebalance=crt");
  series.call("cRT");
  EXPECT_EQ(series.title(), "cRT");
  EXPECT_EQ(series.words(), "cRT");
  EXPECT_EQ(series.label(), "cRT");
  EXPECT_EQ(series.text(), "uniform (rebalance=crt)");
  EXPECT_EQ(series.slug(), "uniform_rebalance_crt");
  EXPECT_EQ(series, Series("uniform", "rebalance=crt"));
}

TEST(KeysTest, ALabelIsTheTitleCutBetweenCharacters) {
  EXPECT_EQ(Series("uniform", "lr=0.05").label(), "Uniform (lr=0.05)");
  const std::string label = Series("uniform", "note=" + std::string(33, 'x') + "äöü and so on").label();
  EXPECT_EQ(label, "Uniform (note=" + std::string(33, 'x') + "äö…");
}

TEST(KeysTest, AConditionIsItsDataAndItsRatio) {
  const Condition plain(100), named("groups=50,10", 100);
  EXPECT_EQ(plain.text(), "100");
  EXPECT_EQ(plain.phrase(), "ρ = 100");
  EXPECT_EQ(plain.slug(), "rho100");
  EXPECT_EQ(named.text(), "groups=50,10, 100");
  EXPECT_EQ(named.phrase(), "groups=50,10, ρ = 100");
  EXPECT_EQ(named.slug(), "groups_50_10_rho100");
  EXPECT_EQ(named.data(), "groups=50,10");
  EXPECT_EQ(named.rho(), 100);
}

TEST(KeysTest, ConditionsAreInOrderOfTheRatioAndEqualWhereTheyAreShownAlike) {
  EXPECT_LT(Condition(50), Condition(100));
  EXPECT_LT(Condition("z", 50), Condition("a", 100));
  EXPECT_LT(Condition("a", 100), Condition("b", 100));
  EXPECT_EQ(Condition(500.0 / 7), Condition(71.4286));
  EXPECT_NE(Condition("a", 100), Condition(100));
}

TEST(KeysTest, ASeriesOfAReportsOwnCsvIsTheSeriesThatItWas) {
  std::vector<std::string> warnings;
  const auto runs = read_csv(
      "rho,strategy,seed,overall,head,medium,tail\n"
      "100,progressive:gamma=2 (lr=0.05),1,40,50,40,30\n"
      "100,uniform (),1,40,50,40,30\n",
      "own.csv", warnings);
  ASSERT_EQ(runs.size(), 2u);
  EXPECT_EQ(runs[0].series, Series("progressive:gamma=2", "lr=0.05"));
  EXPECT_EQ(runs[0].series.title(), "Progressive (gamma=2, lr=0.05)");
  EXPECT_EQ(runs[1].series.text(), "uniform ()");
}

TEST(KeysTest, ConditionsThatDifferInSignsAloneHaveSlugsOfTheirOwnAndStayTheSame) {
  std::vector<Condition> all = {Condition("own-birds", 100), Condition("own_birds", 100), Condition(100)};
  give_slugs(all);
  EXPECT_EQ(all[0].slug(), "own_birds_rho100_2");
  EXPECT_EQ(all[1].slug(), "own_birds_rho100");
  EXPECT_EQ(all[2].slug(), "rho100");
  EXPECT_EQ(all[0], Condition("own-birds", 100));
  EXPECT_NE(all[0], all[1]);
}

TEST(KeysTest, ANameThatIsTakenGetsTheNextNumber) {
  std::set<std::string> taken;
  EXPECT_EQ(untaken("a", taken), "a");
  EXPECT_EQ(untaken("a_2", taken), "a_2");
  EXPECT_EQ(untaken("a", taken), "a_3");
  EXPECT_EQ(untaken("b", taken), "b");
  EXPECT_EQ(untaken("a", taken), "a_4");
}

}  // namespace
}  // namespace longtail::report
