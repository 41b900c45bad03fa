#include "longtail/report/predictions.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "longtail/report/test_logs.h"

namespace longtail::report {
namespace {

using testing::HasSubstr;

struct Said {
  std::string strategy;
  double rho, overall, head, tail, jump;
};

// Three seeds of each, a tenth of a point apart from what is said.
Results world(const std::vector<Said>& all, int seeds = 3) {
  std::vector<RunResult> runs;
  for (const Said& one : all) {
    for (int seed = 0; seed < seeds; ++seed) {
      const double own =
          0.1 * test::noise(7, static_cast<std::uint32_t>(one.strategy.size()),
                            static_cast<std::uint64_t>(10 * one.rho) + static_cast<std::uint64_t>(seed));
      auto log = std::make_shared<train::RunLog>();
      log->dataset = "cifar100";
      for (int epoch = 0; epoch < 30; ++epoch)
        log->tail_acc.push_back(one.tail + (epoch % 2 == 0 ? 0 : one.jump + own));
      RunResult run{.source = "run", .strategy = one.strategy, .rho = one.rho, .seed = seed + 1};
      run.best = {one.overall + own, one.head + own, 30.0, one.tail + own, one.overall + own};
      run.config = {{"strategy", one.strategy},
                    {"rho", fmt::format("{:g}", one.rho)},
                    {"seed", fmt::format("{}", seed)}};
      run.log = log;
      run.series = Series(one.strategy);
      run.condition = Condition(one.rho);
      runs.push_back(std::move(run));
    }
  }
  Results results;
  results.runs = std::move(runs);
  for (const RunResult& run : results.runs) {
    const auto add = [](auto& list, const auto& value) {
      if (std::find(list.begin(), list.end(), value) == list.end()) list.push_back(value);
    };
    add(results.series, run.series);
    add(results.conditions, run.condition);
    add(results.seeds, run.seed);
  }
  return results;
}

std::vector<std::string> verdicts(const Results& results) {
  std::vector<std::string> all;
  for (const Prediction& one : judge_predictions(results)) all.push_back(one.verdict());
  return all;
}

TEST(PredictionsTest, VolatilityIsTheRootMeanSquareChangeAfterTheFirstEpochs) {
  const std::vector<double> curve = {50, 0, 1, 1, 4};
  EXPECT_NEAR(volatility(curve, 1), std::sqrt((1.0 + 0 + 9) / 3), 1e-15);
  EXPECT_TRUE(std::isnan(volatility(curve, 4)));
  EXPECT_TRUE(std::isnan(volatility({}, 10)));
}

TEST(PredictionsTest, WithoutRunsNothingIsClaimed) {
  for (const Prediction& one : judge_predictions({})) {
    EXPECT_EQ(one.verdict(), "cannot be told");
    EXPECT_TRUE(one.claims.empty());
  }
}

const std::vector<Said> kAsPredicted = {
    {"uniform", 10, 60, 70, NAN, 0},         {"class_balanced", 10, 59, 65, NAN, 0},
    {"progressive", 10, 60.5, 69.9, NAN, 0}, {"uniform", 100, 40, 70, 8, 0.2},
    {"class_balanced", 100, 35, 60, 7, 3},   {"progressive", 100, 42, 69.9, 12, 1}};

TEST(PredictionsTest, AWorldAsThePaperPredictsItIsFoundToBeThat) {
  const Results results = world(kAsPredicted);
  EXPECT_THAT(verdicts(results), testing::ElementsAre("holds", "holds", "holds"));
  const auto all = judge_predictions(results);
  // The numbers are the report's.
  const Summary summary = summarise(results, {});
  const Comparison* tail = find_comparison(summary, Series("progressive"), Condition(100), Metric::kTail);
  ASSERT_TRUE(tail);
  ASSERT_EQ(all[0].claims.size(), 3u);  // the head twice; there is no tail at 10
  EXPECT_EQ(all[0].claims[2].sentence, "tail: above uniform");
  EXPECT_EQ(all[0].claims[2].rho, "100");
  EXPECT_EQ(all[0].claims[2].ours.words, fmt::format("{} points ({} to {})", fixed(tail->difference, 2, true),
                                                     fixed(tail->low, 2, true), fixed(tail->high, 2, true)));
  EXPECT_THAT(all[1].claims[0].ours.words, HasSubstr("; its tail stands at "));
  EXPECT_EQ(all[2].claims[0].rho, "10, 100");
}

TEST(PredictionsTest, TheOppositeDoesNotHold) {
  const Results results = world({{"uniform", 10, 60, 70, NAN, 0},
                                 {"class_balanced", 10, 50, 65, NAN, 0},
                                 {"uniform", 100, 40, 70, 8, 2},
                                 {"class_balanced", 100, 39, 60, 7, 0.5},
                                 {"progressive", 100, 42, 60, 5, 1}});
  EXPECT_THAT(verdicts(results), testing::ElementsAre("does not hold", "does not hold", "does not hold"));
}

TEST(PredictionsTest, OneSeedTellsNothingTwoTellItSoFarAndWhatIsWithinChanceStaysOpen) {
  const Results one = world(kAsPredicted, 1);
  for (const Prediction& prediction : judge_predictions(one)) {
    EXPECT_EQ(prediction.verdict(), "cannot be told");
    EXPECT_FALSE(prediction.claims.empty());
  }
  EXPECT_THAT(verdicts(world(kAsPredicted, 2))[0], testing::StartsWith("holds so far"));
  std::vector<Said> close = kAsPredicted;
  close[5].tail = 7.9;  // progressive at 100
  EXPECT_EQ(judge_predictions(world(close))[0].claims[2].ours.verdict, Verdict::kOpen);
  EXPECT_EQ(verdicts(world(close))[0], "holds in 2 of 3 comparisons; the other cannot be told");
  close[5].head = 69;  // a point below: within or not
  EXPECT_EQ(verdicts(world(close))[0], "holds in 1 of 3 comparisons; the others cannot be told");
  close[5].head = 69.9;
  close[5].tail = 5;
  EXPECT_EQ(verdicts(world(close))[0], "holds in part");  // the head matches, the tail is worse
}

}  // namespace
}  // namespace longtail::report
