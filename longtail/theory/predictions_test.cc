#include "longtail/theory/predictions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace longtail::theory {
namespace {

using testing::HasSubstr;

train::RunLog log_of(const std::string& strategy, double rho, std::int64_t seed, double overall, double head,
                     double tail, double jump = 0) {
  train::RunLog log;
  log.dataset = "cifar100";
  log.strategy = strategy;
  log.rho = rho;
  log.seed = seed;
  log.best.accuracy = {overall, head, 0, tail, 0};
  for (int epoch = 0; epoch < 30; ++epoch) log.tail_acc.push_back(tail + (epoch % 2 == 0 ? 0 : jump));
  return log;
}

TEST(PredictionsTest, VolatilityIsTheRootMeanSquareChangeAfterTheFirstEpochs) {
  const std::vector<double> curve = {50, 0, 1, 1, 4};
  EXPECT_NEAR(volatility(curve, 1), std::sqrt((1.0 + 0 + 9) / 3), 1e-15);
  EXPECT_TRUE(std::isnan(volatility(curve, 4)));
  EXPECT_TRUE(std::isnan(volatility({}, 10)));
}

TEST(PredictionsTest, WithoutRunsNothingIsClaimed) {
  for (const Evidence& evidence : weigh_predictions({})) {
    EXPECT_EQ(evidence.verdict, "no runs");
    EXPECT_TRUE(evidence.lines.empty());
  }
}

TEST(PredictionsTest, AWorldAsThePaperPredictsItSpeaksForAllThree) {
  const std::vector<train::RunLog> logs = {
      log_of("uniform", 10, 42, 60, 70, NAN), log_of("class_balanced", 10, 42, 59, 65, NAN),
      log_of("uniform", 100, 42, 40, 70, 8, 0.2), log_of("class_balanced", 100, 42, 35, 60, 7, 3),
      log_of("progressive", 100, 42, 42, 69.5, 12, 1)};
  const auto evidence = weigh_predictions(logs);
  ASSERT_EQ(evidence.size(), 3u);
  for (const Evidence& one : evidence) EXPECT_EQ(one.verdict, "for") << one.prediction;
  EXPECT_THAT(evidence[0].lines[0], HasSubstr("head -0.50 points"));
  EXPECT_THAT(evidence[1].lines[0], HasSubstr("+2.80 points more"));
  EXPECT_THAT(evidence[2].lines[0], HasSubstr("-1.00 at rho 10, -5.00 at rho 100"));
}

TEST(PredictionsTest, TheOppositeSpeaksAgainst) {
  const std::vector<train::RunLog> logs = {
      log_of("uniform", 10, 42, 60, 70, NAN), log_of("class_balanced", 10, 42, 50, 65, NAN),
      log_of("uniform", 100, 42, 40, 70, 8, 2), log_of("class_balanced", 100, 42, 39, 60, 7, 0.1),
      log_of("progressive", 100, 42, 42, 60, 5, 1)};
  for (const Evidence& one : weigh_predictions(logs)) EXPECT_EQ(one.verdict, "against") << one.prediction;
}

TEST(PredictionsTest, SeedsThatDisagreeAreMixedAndRunsWithoutAPartnerAreLeftOut) {
  const std::vector<train::RunLog> logs = {
      log_of("uniform", 100, 1, 40, 70, 8), log_of("progressive", 100, 1, 42, 70, 9),
      log_of("uniform", 100, 2, 40, 70, 8), log_of("progressive", 100, 2, 42, 70, 7),
      log_of("progressive", 100, 3, 0, 0, 0)};
  const auto evidence = weigh_predictions(logs);
  EXPECT_EQ(evidence[0].verdict, "mixed");  // the head matches, the tail is better in one seed of two
  EXPECT_THAT(evidence[0].lines[1], HasSubstr("better in 1 of 2 seeds"));
}

}  // namespace
}  // namespace longtail::theory
