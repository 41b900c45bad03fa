#include "longtail/theory/monte_carlo.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "longtail/base/error.h"
#include "longtail/sampling/strata.h"
#include "longtail/theory/exact.h"
#include "longtail/theory/forecast.h"
#include "longtail/theory/softmax_fixture.h"

namespace longtail::theory {
namespace {

const std::vector<std::string> kStrategies = {"uniform", "class_balanced", "square_root", "progressive"};

BatchGradient gradient_of(const SoftmaxFixture& data) {
  return [&data](std::span<const std::int64_t> images, std::span<float> out) {
    std::vector<double> sum(out.size());
    for (const std::int64_t image : images) {
      for (std::size_t p = 0; p < sum.size(); ++p)
        sum[p] += data.gradient(static_cast<std::size_t>(image))[p];
    }
    for (std::size_t p = 0; p < sum.size(); ++p)
      out[p] = static_cast<float>(sum[p] / static_cast<double>(images.size()));
  };
}

std::vector<float> expected_gradient(const SoftmaxFixture& data, const std::vector<double>& weights) {
  std::vector<double> sum(data.parameters());
  for (std::size_t k = 0; k < weights.size(); ++k) {
    const auto mean = data.class_mean(static_cast<int>(k));
    for (std::size_t p = 0; p < sum.size(); ++p) sum[p] += weights[k] * mean[p];
  }
  return {sum.begin(), sum.end()};
}

// All there is to a stratified batch: one of 16 orders and one number u, here on a fine grid.
TEST(MonteCarloTest, TheFormulaOfStratifiedBatchesIsTheMeanOverTheirOrdersAndOffsets) {
  const SoftmaxFixture data({60, 25, 10, 4, 2}, 6, 11);
  const Moments moments = data.moments();
  const Draw draw = draw_of(*sampling::make_strategy("stratified:of=square_root"), data.counts(), {}, 7);
  const sampling::Strata strata(draw.weights, draw.batch);
  constexpr int kGrid = 20000;
  for (const std::vector<int>& part : {std::vector<int>{0, 1, 2, 3, 4}, {2, 3, 4}, {3}}) {
    double sum = 0;
    for (const auto& order : strata.orders()) {
      for (int step = 0; step < kGrid; ++step) {
        const std::uint64_t u = sampling::Strata::kUnit / kGrid * static_cast<std::uint64_t>(step);
        std::vector<double> off(5);
        for (std::size_t i = 0; i < 5; ++i) {
          const auto k = static_cast<std::size_t>(order.classes[i]);
          off[k] = static_cast<double>(order.count(i, u)) - draw.batch * draw.weights[k];
        }
        for (const int j : part) {
          for (const int k : part) {
            sum +=
                off[static_cast<std::size_t>(j)] * off[static_cast<std::size_t>(k)] * moments.product(j, k);
          }
        }
      }
    }
    const double expected = sum / kGrid / sampling::Strata::kOrders / (draw.batch * draw.batch);
    EXPECT_NEAR(decompose_part(moments, draw, part).between, expected, 2e-3 * expected) << part[0];
  }
}

// Ten times as many batches as below: the between-class part is small here, and 3 standard errors of 4,000
// would let a formula pass that is wrong by a twentieth. With 4,000 batches and this seed one variance
// was 3.5 standard errors off; the other 23 of twelve seeds were within 2.1.
TEST(MonteCarloTest, RealStratifiedBatchesAgreeWithTheirFormula) {
  const SoftmaxFixture data({60, 25, 10, 4, 2}, 6, 11);
  const MonteCarloPlan plan{
      .batches = 40000, .batch = 16, .seed = 7, .situation = {.epoch = 30, .epochs = 50}};
  for (const char* name : {"stratified", "stratified:of=class_balanced", "stratified:of=progressive"}) {
    SCOPED_TRACE(name);
    const auto strategy = sampling::make_strategy(name);
    const Draw draw = draw_of(*strategy, data.counts(), plan.situation, plan.batch);
    const Decomposition exact = decompose(data.moments(), draw);
    const auto expected = expected_gradient(data, draw.weights);
    const MonteCarlo result = monte_carlo(*strategy, data.counts(), plan, expected, gradient_of(data));
    EXPECT_LT(std::abs(result.variance.distance(exact.variance())), 3.0);
    EXPECT_LT(std::abs(result.along.distance(1.0)), 3.0);
    EXPECT_LT(result.mean_miss, 3.0);
    // The check has teeth: the formula of independent draws would be seen.
    Draw independent = draw;
    independent.stratified = false;
    EXPECT_GT(std::abs(result.variance.distance(decompose(data.moments(), independent).variance())), 3.0);
    const MonteCarlo pairs =
        monte_carlo_pairs(*strategy, data.counts(), plan, data.parameters(), gradient_of(data));
    EXPECT_LT(std::abs(pairs.variance.distance(exact.variance())), 3.0);
  }
}

TEST(MonteCarloTest, StratifiedBatchesVaryLessThanIndependentDrawsOfTheSameShares) {
  const SoftmaxFixture data({60, 25, 10, 4, 2}, 6, 11);
  for (const char* name : {"class_balanced", "square_root"}) {
    const auto plain =
        decompose(data.moments(), draw_of(*sampling::make_strategy(name), data.counts(), {}, 16));
    const auto strata = decompose(
        data.moments(),
        draw_of(*sampling::make_strategy(std::string("stratified:of=") + name), data.counts(), {}, 16));
    EXPECT_NEAR(strata.within, plain.within, 1e-12);
    EXPECT_LT(strata.between, 0.2 * plain.between) << name;
    EXPECT_NEAR(strata.bias2, plain.bias2, 1e-12);
  }
}

TEST(MonteCarloTest, RealBatchesAgreeWithTheExactFormulaForEveryStrategy) {
  const SoftmaxFixture data({60, 25, 10, 4, 2}, 6, 11);
  const MonteCarloPlan plan{
      .batches = 4000, .batch = 16, .seed = 7, .situation = {.epoch = 30, .epochs = 50}};
  for (const std::string& name : kStrategies) {
    SCOPED_TRACE(name);
    const auto strategy = sampling::make_strategy(name);
    const Draw draw = draw_of(*strategy, data.counts(), plan.situation, plan.batch);
    const Decomposition exact = decompose(data.moments(), draw);
    const auto expected = expected_gradient(data, draw.weights);
    const MonteCarlo result = monte_carlo(*strategy, data.counts(), plan, expected, gradient_of(data));
    EXPECT_LT(std::abs(result.variance.distance(exact.variance())), 3.0);
    EXPECT_LT(std::abs(result.along.distance(1.0)), 3.0);
    EXPECT_LT(result.mean_miss, 3.0);
    // The check has teeth: a quarter more would be seen.
    EXPECT_GT(std::abs(result.variance.distance(1.25 * exact.variance())), 3.0);

    const MonteCarlo pairs =
        monte_carlo_pairs(*strategy, data.counts(), plan, data.parameters(), gradient_of(data));
    EXPECT_LT(std::abs(pairs.variance.distance(exact.variance())), 3.0);
  }
}

TEST(MonteCarloTest, TheFinitePopulationFactorIsVisibleInUniformBatches) {
  const SoftmaxFixture data({20, 8, 4}, 6, 12);
  const MonteCarloPlan plan{.batches = 3000, .batch = 16, .seed = 7, .situation = {}};
  const auto strategy = sampling::make_strategy("uniform");
  Draw draw = draw_of(*strategy, data.counts(), plan.situation, plan.batch);
  const MonteCarlo result =
      monte_carlo(*strategy, data.counts(), plan, expected_gradient(data, draw.weights), gradient_of(data));
  EXPECT_LT(std::abs(result.variance.distance(decompose(data.moments(), draw).variance())), 3.0);
  draw.without_replacement = false;  // 31/16 times as much
  EXPECT_GT(std::abs(result.variance.distance(decompose(data.moments(), draw).variance())), 20.0);
}

TEST(MonteCarloTest, AWrongExpectationIsNoticed) {
  const SoftmaxFixture data({60, 25, 10, 4, 2}, 6, 13);
  const MonteCarloPlan plan{.batches = 500, .batch = 16, .seed = 7, .situation = {}};
  const auto strategy = sampling::make_strategy("class_balanced");
  const auto wrong = expected_gradient(data, data.moments().prior());
  EXPECT_GT(monte_carlo(*strategy, data.counts(), plan, wrong, gradient_of(data)).mean_miss, 10.0);
}

TEST(MonteCarloTest, BatchesOfUniformHoldNoImageTwiceAndDifferFromEachOther) {
  const std::vector<std::int64_t> counts = {60, 25, 10};
  const auto strategy = sampling::make_strategy("uniform");
  const MonteCarloPlan plan{.batches = 2, .batch = 90, .seed = 7, .situation = {}};
  auto first = draw_batch(*strategy, counts, plan, 0);
  EXPECT_NE(first, draw_batch(*strategy, counts, plan, 1));
  std::sort(first.begin(), first.end());
  EXPECT_EQ(std::adjacent_find(first.begin(), first.end()), first.end());
}

TEST(MonteCarloTest, AnEstimateHasTheUsualStandardError) {
  const std::vector<double> values = {1, 2, 3, 6};
  const Estimate e = estimate(values);
  EXPECT_DOUBLE_EQ(e.value, 3);
  EXPECT_DOUBLE_EQ(e.error, std::sqrt(14.0 / 3 / 4));
}

TEST(MonteCarloTest, PlansThatCannotBeAreRefused) {
  const std::vector<std::int64_t> counts = {3, 2};
  const auto strategy = sampling::make_strategy("uniform");
  EXPECT_THROW(draw_batch(*strategy, counts, {.batches = 2, .batch = 6, .seed = 1, .situation = {}}, 0),
               base::Error);
  const std::vector<float> expected(4);
  EXPECT_THROW(
      monte_carlo(*strategy, counts, {.batches = 1, .batch = 2, .seed = 1, .situation = {}}, expected, {}),
      base::Error);
}

}  // namespace
}  // namespace longtail::theory
