// The paper's numbers (its Sections 3 and 4), each by name.
#include "longtail/theory/forecast.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

namespace longtail::theory {
namespace {

// CIFAR-100-LT as the paper builds it: n_k = int(500 rho^(-k/99)).
std::vector<std::int64_t> cifar_counts(double rho) {
  std::vector<std::int64_t> counts;
  const double mu = std::pow(1 / rho, 1.0 / 99);
  for (int k = 0; k < 100; ++k) counts.push_back(static_cast<std::int64_t>(500 * std::pow(mu, k)));
  return counts;
}

Forecast of(const std::string& strategy, double rho = 100, int epoch = 0) {
  return forecast(*sampling::make_strategy(strategy), cifar_counts(rho), {epoch, 200}, {});
}

TEST(ForecastTest, TheSubsetIsThePapers) {
  const auto counts = cifar_counts(100);
  EXPECT_EQ(std::accumulate(counts.begin(), counts.end(), std::int64_t{0}), 10847);
  EXPECT_EQ(counts[99], 5);
}

TEST(ForecastTest, UniformPutsFivePointNineSamplesOfTheLargestClassInABatchAndAlmostNoneOfTheSmallest) {
  const Forecast uniform = of("uniform");
  EXPECT_NEAR(uniform.classes[0].expected, 5.90, 0.005);
  EXPECT_NEAR(uniform.classes[99].expected, 0.059, 0.0005);
}

TEST(ForecastTest, TheSmallestClassIsAbsentFromNinetyFourPercentOfUniformBatches) {
  const Forecast uniform = of("uniform");
  EXPECT_NEAR(uniform.classes[99].absence, 0.94, 0.005);
  EXPECT_NEAR(chance_of_absence(5.0 / 10847, 128), 0.94, 0.005);
}

TEST(ForecastTest, WithoutReplacementTheAbsenceIsHypergeometric) {
  // C(4, 2) / C(6, 2) = 6 / 15.
  EXPECT_NEAR(chance_of_absence(std::int64_t{2}, 6, 2), 0.4, 1e-15);
  EXPECT_EQ(chance_of_absence(std::int64_t{3}, 6, 4), 0.0);
  EXPECT_TRUE(of("uniform").without_replacement);
  EXPECT_FALSE(of("class_balanced").without_replacement);
}

TEST(ForecastTest, TheLargestAndSmallestClassWeighFourPointSixAndPointZeroFourSixPercent) {
  const Forecast uniform = of("uniform");
  EXPECT_NEAR(100 * uniform.classes[0].weight, 4.6, 0.05);
  EXPECT_NEAR(100 * uniform.classes[99].weight, 0.046, 0.0005);
  EXPECT_NEAR(uniform.classes[0].weight / uniform.classes[99].weight, 100, 1e-9);
}

TEST(ForecastTest, PropositionOneGivesTheRatio470Point6AtFiveImages) {
  const Forecast balanced = of("class_balanced");
  EXPECT_NEAR(balanced.classes[99].proposition_ratio, 470.6, 0.05);
  EXPECT_NEAR(balanced.classes[99].proposition_ratio, 10847.0 * 10847 / (100.0 * 100 * 5 * 5), 1e-9);
}

TEST(ForecastTest, TheExactRatioIsAboutTheSquareRootOfThePropositions) {
  const Forecast balanced = of("class_balanced");
  const double root = std::sqrt(balanced.classes[99].proposition_ratio);
  EXPECT_NEAR(root, 21.694, 0.0005);
  EXPECT_NEAR(balanced.classes[99].exact_ratio / root, 1.0, 0.01);
}

TEST(ForecastTest, LambdaAtEpoch160Is0Point804) {
  EXPECT_NEAR(of("progressive", 100, 160).lambda, 0.804, 0.0005);
  for (const int epoch : {0, 1, 50, 199})
    EXPECT_NEAR(of("progressive", 100, epoch).lambda, epoch / 199.0, 1e-12);
  EXPECT_NEAR(of("progressive:gamma=2", 100, 160).lambda, std::pow(160.0 / 199, 2), 1e-12);
  EXPECT_NEAR(of("class_balanced").lambda, 1.0, 1e-12);
  EXPECT_NEAR(of("uniform").lambda, 0.0, 1e-12);
}

TEST(ForecastTest, TheSummaryTableIsThePapers) {
  const std::vector<std::string> strategies = {"uniform", "class_balanced", "square_root", "progressive"};
  const auto rows = summarise(strategies, cifar_counts(100), 200, data::Groups::parse("paper"));
  ASSERT_EQ(rows.size(), 4u);
  const std::vector<SummaryRow> paper = {{"uniform", "None", "Low", "Low"},
                                         {"class_balanced", "High", "Low", "High"},
                                         {"square_root", "Medium", "Low", "Medium"},
                                         {"progressive", "None -> High", "Low", "Low -> High"}};
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(rows[i].strategy, paper[i].strategy);
    EXPECT_EQ(rows[i].bias, paper[i].bias) << rows[i].strategy;
    EXPECT_EQ(rows[i].head_variance, paper[i].head_variance) << rows[i].strategy;
    EXPECT_EQ(rows[i].tail_variance, paper[i].tail_variance) << rows[i].strategy;
  }
}

TEST(ForecastTest, AnEmptyTailHasNoLabel) {
  const std::vector<std::string> strategies = {"uniform", "class_balanced"};
  EXPECT_EQ(summarise(strategies, cifar_counts(10), 200, data::Groups::parse("paper"))[1].tail_variance, "-");
}

TEST(ForecastTest, TheBiasOfProgressiveIsLambdaTimesThatOfClassBalancedAtEveryEpoch) {
  const Forecast balanced = of("class_balanced");
  for (const int epoch : {0, 40, 160, 199}) {
    const Forecast progressive = of("progressive", 100, epoch);
    EXPECT_NEAR(progressive.deviation.two, epoch / 199.0 * balanced.deviation.two, 1e-12);
    EXPECT_NEAR(progressive.total.bias2, std::pow(epoch / 199.0, 2) * balanced.total.bias2, 1e-12);
  }
}

TEST(ForecastTest, SquareRootLiesBetweenUniformAndClassBalancedInEveryTailClass) {
  const Forecast uniform = of("uniform"), root = of("square_root"), balanced = of("class_balanced");
  for (int k = 70; k < 100; ++k) {
    EXPECT_LT(uniform.classes[k].weight, root.classes[k].weight);
    EXPECT_LT(root.classes[k].weight, balanced.classes[k].weight);
  }
}

TEST(ForecastTest, TheDeviationGrowsWithTheImbalance) {
  EXPECT_LT(of("class_balanced", 10).deviation.two, of("class_balanced", 50).deviation.two);
  EXPECT_LT(of("class_balanced", 50).deviation.two, of("class_balanced", 100).deviation.two);
  const Deviation d = of("class_balanced").deviation;
  EXPECT_NEAR(d.two, 0.117607848, 1e-8);  // by NumPy
  EXPECT_NEAR(d.total_variation, d.one / 2, 1e-15);
}

TEST(ForecastTest, WeightsAndContributionsAddUp) {
  for (const std::string strategy : {"uniform", "class_balanced", "square_root", "progressive"}) {
    const Forecast f = of(strategy, 50, 100);
    double weights = 0, samples = 0, proposition = 0;
    for (const ClassForecast& one : f.classes) {
      weights += one.weight;
      samples += one.expected;
      proposition += one.proposition;
    }
    EXPECT_NEAR(weights, 1, 1e-12);
    EXPECT_NEAR(samples, 128, 1e-9);
    EXPECT_NEAR(proposition, f.total.proposition, 1e-15);
  }
}

}  // namespace
}  // namespace longtail::theory
