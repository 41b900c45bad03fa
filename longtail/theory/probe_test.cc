#include "longtail/theory/probe.h"

#include <gtest/gtest.h>

#include <cmath>

#include "longtail/nn/init.h"
#include "longtail/theory/probe_fixture.h"

namespace longtail::theory {
namespace {

const std::vector<std::int64_t> kFiveClasses = {150, 60, 25, 10, 4};  // head, medium, medium, tail, tail

ProbeResult small_probe(int threads = 1, int batches = 200) {
  ProbeFixture f(kFiveClasses, threads);
  ProbePlan plan;
  plan.batch = 32;
  plan.batches = batches;
  plan.training_batches = 20;
  plan.situation = {.epoch = 20, .epochs = 41};
  return probe(f.meter, f.network, f.subset, data::Groups::parse("paper").of(f.subset.counts), plan);
}

TEST(ProbeTest, RealMiniBatchesAgreeWithTheExactFormulaForAllFourStrategies) {
  const ProbeResult result = small_probe();
  ASSERT_EQ(result.strategies.size(), 4u);
  for (const StrategyProbe& one : result.strategies) {
    SCOPED_TRACE(one.strategy);
    ASSERT_TRUE(one.frozen);
    EXPECT_LT(std::abs(one.frozen->variance.distance(one.total.variance())), 3.0);
    EXPECT_LT(std::abs(one.frozen->along.distance(1.0)), 3.0);
    EXPECT_LT(one.frozen->mean_miss, 3.0);
    // Softmax regression has no batch norm: training mode must say the same.
    ASSERT_TRUE(one.training);
    EXPECT_LT(std::abs(one.training->sample.variance.distance(one.total.variance())), 4.0);
    EXPECT_GT(one.training->cosine, 0.8);
  }
}

TEST(ProbeTest, OnlyUniformIsWithoutBiasAndProgressiveHasHalfOfTheBalancedBiasHalfWay) {
  const ProbeResult result = small_probe(1, 0);
  EXPECT_NEAR(result.strategies[0].total.bias2, 0, 1e-12);
  EXPECT_GT(result.strategies[1].total.bias2, result.strategies[2].total.bias2);
  EXPECT_NEAR(result.strategies[3].total.bias2 / result.strategies[1].total.bias2, 0.25, 1e-6);
  EXPECT_FALSE(result.strategies[0].frozen);
  EXPECT_EQ(result.strategies[0].training->bias2, 0.0);
  EXPECT_TRUE(result.strategies[1].training->bias2);
}

TEST(ProbeTest, TheWithinPartsOfTheGroupsAddUpToTheWhole) {
  for (const StrategyProbe& one : small_probe(1, 0).strategies) {
    double groups = 0, classes = 0;
    for (const Decomposition& part : one.groups) groups += part.within;
    for (const Decomposition& part : one.classes) classes += part.within;
    EXPECT_NEAR(groups, one.total.within, 1e-9 * one.total.within);
    EXPECT_NEAR(classes, one.total.within, 1e-9 * one.total.within);
  }
}

TEST(ProbeTest, TheResultDoesNotDependOnTheNumberOfThreads) {
  const ProbeResult one = small_probe(1, 10), three = small_probe(3, 10);
  EXPECT_EQ(one.moments.gram, three.moments.gram);
  EXPECT_EQ(one.moments.within, three.moments.within);
  for (std::size_t s = 0; s < one.strategies.size(); ++s) {
    EXPECT_EQ(one.strategies[s].frozen->variance.value, three.strategies[s].frozen->variance.value);
    EXPECT_EQ(one.strategies[s].training->sample.variance.value,
              three.strategies[s].training->sample.variance.value);
  }
}

TEST(ProbeTest, OnARealNetworkTheFormulaHoldsForTheFastestEngineToo) {
  const std::vector<std::int64_t> counts = {24, 10, 4, 2};
  base::ThreadPool pool(1);
  const data::Dataset dataset = made_up_dataset(counts);
  const data::Subset subset = whole_subset(counts);
  const nn::ResNetSpec spec = nn::make_spec("resnet20", "projection", 4, 3);
  const auto engine = nn::make_engine("auto", spec, 8, pool);
  const auto loss = nn::make_loss("cross_entropy", counts);
  GradientMeter meter(*engine, dataset, subset, *loss, 8, pool);
  NetworkState network{nn::initial_parameters(spec, 1), nn::initial_buffers(spec)};
  meter.settle(network, 1);
  ProbePlan plan;
  plan.batch = 8;
  plan.batches = 50;
  plan.training_batches = 0;
  plan.situation = {.epoch = 1, .epochs = 3};
  for (const StrategyProbe& one :
       probe(meter, network, subset, data::Groups::parse("paper").of(subset.counts), plan).strategies) {
    SCOPED_TRACE(one.strategy);
    EXPECT_LT(std::abs(one.frozen->variance.distance(one.total.variance())), 3.0);
    EXPECT_LT(std::abs(one.frozen->along.distance(1.0)), 3.0);
    EXPECT_LT(one.frozen->mean_miss, 3.0);
  }
}

TEST(ProbeTest, EveryStageReportsHowFarItIs) {
  ProbeFixture f({20, 10});
  ProbePlan plan;
  plan.strategies = {"square_root"};
  plan.batch = 8;
  plan.batches = 3;
  plan.training_batches = 4;
  std::vector<std::string> ends;
  probe(f.meter, f.network, f.subset, data::Groups::parse("paper").of(f.subset.counts), plan,
        [&](const std::string& stage, std::int64_t done, std::int64_t total) {
          if (done == total) ends.push_back(stage);
        });
  EXPECT_EQ(ends, (std::vector<std::string>{"gradients of images", "mini-batches of square_root",
                                            "training mode of square_root"}));
}

}  // namespace
}  // namespace longtail::theory
