#include "longtail/report/results.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "longtail/base/error.h"
#include "longtail/report/compare.h"
#include "longtail/report/report.h"
#include "longtail/report/summary.h"
#include "longtail/report/tables.h"
#include "longtail/report/test_logs.h"
#include "longtail/train/config.h"

namespace longtail::report {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

Results read(const std::filesystem::path& path, const ReadOptions& options = {}) {
  return read_results(std::vector{path}, options);
}

TEST(ResultsTest, AFolderOfLogsBecomesAGridInThePapersOrder) {
  const test::Folder folder("grid");
  test::write_grid(folder, {10, 100}, {456, 42, 123}, 10);
  const Results results = read(folder.path());
  EXPECT_THAT(test::texts(results.series),
              ElementsAre("uniform", "class_balanced", "square_root", "progressive"));
  EXPECT_THAT(test::texts(results.conditions), ElementsAre("10", "100"));
  EXPECT_THAT(results.seeds, ElementsAre(42, 123, 456));
  EXPECT_EQ(results.runs.size(), 24u);
  EXPECT_THAT(results.warnings, ElementsAre());
}

TEST(ResultsTest, AnEmptyGroupIsNeverANumber) {
  const test::Folder folder("empty_group");
  test::write_grid(folder, {10}, {1, 2, 3}, 10);
  const Results results = read(folder.path());
  EXPECT_TRUE(results.values(Series("uniform"), Condition(10), Metric::kTail, At::kBest).empty());
  EXPECT_EQ(results.values(Series("uniform"), Condition(10), Metric::kMedium, At::kBest).size(), 3u);
  EXPECT_EQ(find_comparison(summarise(results, {}), Series("progressive"), Condition(10), Metric::kTail),
            nullptr);
}

TEST(ResultsTest, WhatCannotBeUsedIsNamedAndTheRestIsReported) {
  const test::Folder folder("damaged");
  test::write_grid(folder, {100}, {1, 2, 3}, 10);
  base::write_atomically(folder.path() / "broken.json", "{\"strategy\": ");
  base::write_atomically(folder.path() / "other.json", "{\"answer\": 42}");
  nlohmann::json future = nlohmann::json::parse(base::read_text(folder.path() / "uniform_100_1.json"));
  future["schema"] = 99;
  base::write_atomically(folder.path() / "future.json", future.dump());
  folder.add("short", test::make_log({"uniform", 100, 4, 7}));
  folder.add("uniform_again", test::make_log({"uniform", 100, 2, 10}));
  train::RunLog stopped = test::make_log({"uniform", 100, 5, 10});
  stopped.finished = false;
  folder.add("stopped", stopped);

  const Results results = read(folder.path());
  EXPECT_EQ(results.runs.size(), 12u);
  EXPECT_THAT(results.warnings, Contains(HasSubstr("broken.json")));
  EXPECT_THAT(results.warnings, Contains(HasSubstr("other.json")));
  EXPECT_THAT(results.warnings, Contains(testing::AllOf(HasSubstr("future.json"), HasSubstr("schema 99"))));
  EXPECT_THAT(results.warnings, Contains(testing::AllOf(HasSubstr("short.json"), HasSubstr("7 epochs"))));
  EXPECT_THAT(results.warnings,
              Contains(testing::AllOf(HasSubstr("uniform_again.json"), HasSubstr("the same run as"))));
  EXPECT_THAT(results.warnings,
              Contains(testing::AllOf(HasSubstr("stopped.json"), HasSubstr("not finished"))));
  EXPECT_EQ(results.warnings.size(), 6u);
}

TEST(ResultsTest, PairsAreFormedOnlyWhereBothSidesExist) {
  const test::Folder folder("missing");
  test::write_grid(folder, {50, 100}, {1, 2, 3, 4}, 10);
  std::filesystem::remove(folder.path() / "uniform_100_2.json");
  std::filesystem::remove(folder.path() / "progressive_100_3.json");
  const Results results = read(folder.path());
  EXPECT_THAT(results.warnings, Contains("Uniform at ρ = 100: seed 2 missing."));
  EXPECT_THAT(results.warnings, Contains("Progressive at ρ = 100: seed 3 missing."));
  const Summary summary = summarise(results, {});
  EXPECT_THAT(find_comparison(summary, Series("progressive"), Condition(100), Metric::kTail)->seeds,
              ElementsAre(1, 4));
  EXPECT_THAT(find_comparison(summary, Series("progressive"), Condition(50), Metric::kTail)->seeds,
              ElementsAre(1, 2, 3, 4));
}

TEST(SummaryTest, CaptionsAndRemarksSayHowManySeedsThereAreWhenSomeAreMissing) {
  const test::Folder folder("fewer");
  test::write_grid(folder, {100}, {1, 2, 3}, 10);
  std::filesystem::remove(folder.path() / "progressive_100_3.json");
  const Results results = read(folder.path());
  EXPECT_THAT(overall_table(results, {}).caption, HasSubstr("Mean ± std over 2 to 3 seeds"));
  EXPECT_THAT(groups_table(results, Condition(100), {}, false).caption, HasSubstr("Mean over 2 to 3 seeds"));
  EXPECT_THAT(summarise(results, {}).remarks, Contains(HasSubstr("4 such families were looked at")));
}

TEST(SummaryTest, TheCaptionOfAConditionCountsItsOwnSeeds) {
  const test::Folder folder("seeds_of_a_condition");
  test::write_grid(folder, {100}, {1, 2, 3}, 10);
  test::write_grid(folder, {50}, {1}, 10);
  const Results results = read(folder.path());
  EXPECT_THAT(overall_table(results, {}).caption, HasSubstr("Mean ± std over 1 to 3 seeds"));
  EXPECT_THAT(groups_table(results, Condition(100), {}, true).caption, HasSubstr("Mean ± std over 3 seeds"));
  EXPECT_THAT(groups_table(results, Condition(50), {}, true).caption, HasSubstr("One seed"));
}

TEST(SummaryTest, AFamilyOfOneSeedIsNotCountedAmongThoseThatChanceMayEstablishSomethingIn) {
  const test::Folder folder("one_seed");
  test::write_grid(folder, {100}, {1, 2, 3}, 10);
  test::write_grid(folder, {50}, {1}, 10);
  EXPECT_THAT(summarise(read(folder.path()), {}).remarks,
              Contains(HasSubstr("4 such families were looked at")));
}

TEST(ResultsTest, AnyParameterThatVariesMakesAnotherSeries) {
  const test::Folder folder("varies");
  for (std::int64_t seed : {1, 2}) {
    for (const char* rate : {"0.1", "0.05"}) {
      train::RunLog log = test::make_log({"progressive:gamma=2", 100, seed, 10});
      log.config["lr"] = rate;
      folder.add(std::string(rate) + "_" + std::to_string(seed), log);
    }
  }
  const Results results = read(folder.path());
  EXPECT_THAT(test::texts(results.series),
              ElementsAre("progressive:gamma=2 (lr=0.05)", "progressive:gamma=2 (lr=0.1)"));
  EXPECT_THAT(results.warnings, ElementsAre());
  EXPECT_EQ(results.series[0].title(), "Progressive (gamma=2, lr=0.05)");
}

TEST(ResultsTest, AnotherNetworkMayBeginWithOtherWeightsTheSameOneMayNot) {
  const test::Folder folder("other_network");
  train::RunLog log = test::make_log({"uniform", 100, 1, 10});
  folder.add("linear", log);
  log.config["head"] = "cosine";
  log.fingerprint.init = "others";
  folder.add("cosine", log);
  EXPECT_THAT(read(folder.path()).warnings, ElementsAre());
  log.config["lr"] = "0.05";
  log.fingerprint.init = "still others";
  folder.add("cosine_lr", log);
  EXPECT_THAT(
      read(folder.path()).warnings,
      ElementsAre(AllOf(HasSubstr("cosine_lr.json: other initial weights than"), HasSubstr("cosine.json"))));
}

TEST(ResultsTest, AnotherValueOfATrainersOwnParameterMayMeanOtherWeights) {
  const test::Folder folder("trainers_network");
  train::RunLog log = test::make_log({"uniform", 100, 1, 10});
  log.config["network"] = "resnet20";
  folder.add("a", log);
  log.config["network"] = "mobilenet_v2";
  log.fingerprint.init = "others";
  folder.add("b", log);
  EXPECT_THAT(read(folder.path()).warnings, ElementsAre());
}

TEST(ResultsTest, AnotherDataSetIsAnotherConditionAndTwoEnginesOfOneRunAreTwoSeries) {
  const test::Folder folder("axes");
  train::RunLog log = test::make_log({"uniform", 100, 1, 10});
  folder.add("a", log);
  log.fingerprint.engine = "amx";
  folder.add("b", log);
  log.dataset = log.config["dataset"] = "fashion";
  folder.add("c", log);
  const Results results = read(folder.path());
  EXPECT_THAT(test::texts(results.series), ElementsAre("uniform (engine=amx)", "uniform (engine=onednn)"));
  EXPECT_THAT(test::texts(results.conditions), ElementsAre("cifar100, 100", "fashion, 100"));
  EXPECT_EQ(results.conditions[0].phrase(), "cifar100, ρ = 100");
}

TEST(ResultsTest, OddEpochsCanBeAskedForOrReportedApart) {
  const test::Folder folder("epochs");
  folder.add("a", test::make_log({"uniform", 100, 1, 10}));
  folder.add("b", test::make_log({"uniform", 100, 2, 10}));
  folder.add("c", test::make_log({"uniform", 100, 3, 20}));
  EXPECT_EQ(read(folder.path()).epochs(), 10);
  EXPECT_EQ(read(folder.path(), {.epochs = 20}).runs.size(), 1u);
  EXPECT_THAT(test::texts(read(folder.path(), {.epochs = 0}).series),
              ElementsAre("uniform (epochs=10)", "uniform (epochs=20)"));
  try {
    read(folder.path(), {.epochs = 30});
    FAIL() << "no run has 30 epochs";
  } catch (const base::UsageError& error) {
    EXPECT_STREQ(error.what(), "no run has 30 epochs; there are runs of 10, 20");
  }
}

TEST(ResultsTest, OtherGroupsAreAnotherCondition) {
  const test::Folder folder("groups");
  train::RunLog log = test::make_log({"uniform", 100, 1, 10});
  folder.add("a", log);
  log.groups = "50,10";
  log.group_sizes = {50, 30, 20};
  folder.add("b", log);
  const Results results = read(folder.path());
  EXPECT_THAT(test::texts(results.conditions), ElementsAre("groups=50,10, 100", "groups=paper, 100"));
  EXPECT_EQ(results.runs.size(), 2u);
}

TEST(ResultsTest, TheSeriesNearestToTheDefaultsIsKnown) {
  const test::Folder folder("defaults");
  for (const char* loss : {"class_weighted", "cross_entropy", "focal"}) {
    train::RunLog log = test::make_log({"uniform", 100, 1, 10});
    log.config["loss"] = loss;
    folder.add(loss, log);
  }
  const Results results = read(folder.path());
  EXPECT_EQ(results.plainest.text(), "uniform");
  EXPECT_THAT(test::texts(results.series),
              ElementsAre("uniform", "uniform (loss=class_weighted)", "uniform (loss=focal)"));
}

TEST(ResultsTest, MixingIsNamedWithoutTheCropAndFlipBeforeIt) {
  const test::Folder folder("mixing");
  for (const char* augment : {"crop_flip", "crop_flip+mixup:alpha=1", "none"}) {
    train::RunLog log = test::make_log({"uniform", 100, 1, 10});
    log.config["augment"] = augment;
    folder.add(augment, log);
  }
  EXPECT_THAT(test::texts(read(folder.path()).series),
              ElementsAre("uniform", "uniform (augment=none)", "uniform (mixup:alpha=1)"));
}

TEST(ResultsTest, ANumberAtItsDefaultIsNamedWhereItVaries) {
  const test::Folder folder("numbers");
  for (const char* lr : {"0.1", "0.2"}) {
    train::RunLog log = test::make_log({"uniform", 100, 1, 10});
    log.config["lr"] = lr;
    folder.add(lr, log);
  }
  EXPECT_THAT(test::texts(read(folder.path()).series), ElementsAre("uniform (lr=0.1)", "uniform (lr=0.2)"));
}

TEST(ResultsTest, OnlyTheSeriesThatWasDoneTwiceIsCalledByItsEngineAndTheLargerIsTheBaseline) {
  const test::Folder folder("twice");
  for (std::int64_t seed : {1, 2}) {
    train::RunLog log = test::make_log({"uniform", 100, seed, 10});
    log.fingerprint.engine = "onednn";
    folder.add("uniform_" + std::to_string(seed), log);
    log = test::make_log({"progressive", 100, seed, 10});
    log.fingerprint.engine = "onednn";
    folder.add("progressive_" + std::to_string(seed), log);
  }
  train::RunLog log = test::make_log({"uniform", 100, 1, 10});
  log.fingerprint.engine = "amx";
  folder.add("again", log);
  const Results results = read(folder.path());
  EXPECT_THAT(test::texts(results.series),
              ElementsAre("uniform (engine=amx)", "uniform (engine=onednn)", "progressive"));
  EXPECT_EQ(results.plainest.text(), "uniform (engine=onednn)");
  EXPECT_THAT(results.warnings, Contains(HasSubstr("2 engines (amx, onednn)")));
}

TEST(ResultsTest, WhatComesFromTheSameTrainingIsKnown) {
  const test::Folder folder("trainings");
  const auto add = [&](const std::string& name, const std::string& strategy, const std::string& loss,
                       const std::string& rebalance) {
    train::RunConfig config;
    config.strategy = strategy;
    config.loss = loss;
    config.rebalance = rebalance;
    config.epochs = 10;
    train::RunLog log = test::make_log({strategy, 100, 1, 10});
    log.config = train::config_map(config);
    folder.add(name, log);
  };
  add("a", "uniform", "cross_entropy", "none");
  add("b", "uniform", "cross_entropy", "crt");
  add("c", "uniform", "deferred:at=8", "none");
  add("d", "uniform", "logit_adjusted", "none");
  add("e", "progressive", "cross_entropy", "none");
  const Results results = read(folder.path());
  EXPECT_THAT(test::texts(results.series),
              ElementsAre("uniform", "uniform (loss=deferred:at=8)", "uniform (loss=logit_adjusted)",
                          "uniform (rebalance=crt)", "progressive"));
  const std::vector<int>& of = results.trainings.at(results.conditions[0]);
  EXPECT_EQ(of[0], of[1]);
  EXPECT_EQ(of[0], of[3]);
  EXPECT_EQ(std::set<int>(of.begin(), of.end()).size(), 3u);
  // What somebody else's trainer calls its own is by itself.
  train::RunLog own = test::make_log({"my_sampler", 100, 1, 10});
  own.config["strategy"] = "my_sampler";
  folder.add("f", own);
  const Results more = read(folder.path());
  const std::vector<int>& with = more.trainings.at(more.conditions[0]);
  EXPECT_EQ(std::set<int>(with.begin(), with.end()).size(), 4u) << more.conditions.size();
}

TEST(ResultsTest, EnginesThatAreMixedAreNamedInAWarningThatSaysWhetherPairsAreAcrossThem) {
  const test::Folder folder("engines");
  const auto add = [&](const char* strategy, std::int64_t seed, const char* engine) {
    train::RunLog log = test::make_log({strategy, 100, seed, 10});
    log.fingerprint.engine = engine;
    folder.add(strategy + std::to_string(seed), log);
  };
  add("uniform", 1, "amx");
  add("progressive", 1, "amx");
  add("uniform", 2, "onednn");
  EXPECT_THAT(read(folder.path()).warnings,
              Contains(AllOf(HasSubstr("2 engines (amx, onednn)"), HasSubstr("no pair is across"))));
  add("progressive", 2, "amx");
  EXPECT_THAT(read(folder.path()).warnings, Contains(AllOf(HasSubstr("2 engines (amx, onednn)"),
                                                           HasSubstr("pairs across them are not exact"))));
}

TEST(ResultsTest, AnAccuracyThatIsNoPercentageIsLeftOut) {
  const test::Folder folder("nonsense");
  folder.add("a", test::make_log({"uniform", 100, 1, 10}));
  train::RunLog log = test::make_log({"uniform", 100, 2, 10});
  log.best.accuracy.overall = 1e300;
  folder.add("b", log);
  const Results results = read(folder.path());
  EXPECT_EQ(results.runs.size(), 1u);
  EXPECT_THAT(results.warnings, Contains(HasSubstr("not a percentage")));
}

TEST(ResultsTest, OtherImagesUnderTheSameSeedAreWarnedOf) {
  const test::Folder folder("fingerprints");
  folder.add("a", test::make_log({"uniform", 100, 1, 10}));
  train::RunLog log = test::make_log({"progressive", 100, 1, 10});
  log.fingerprint.subset = "something else";
  folder.add("b", log);
  EXPECT_THAT(read(folder.path()).warnings, ElementsAre(HasSubstr("another subset")));
}

TEST(ResultsTest, AStudyFolderIsReadThroughItsRuns) {
  const test::Folder folder("study_folder");
  for (const char* name : {"uniform-1", "uniform-2"})
    std::filesystem::create_directories(folder.path() / "runs" / name);
  folder.add("runs/uniform-1/log", test::make_log({"uniform", 100, 1, 10}));
  const Results results = read(folder.path());
  EXPECT_EQ(results.runs.size(), 1u);
  EXPECT_THAT(results.warnings, ElementsAre(HasSubstr("1 of 2 runs has no log yet (uniform-2)")));
}

TEST(ResultsTest, AWrongLineOfACsvIsNamedAndTheResultsReadBackTheSame) {
  std::vector<std::string> warnings;
  const auto runs = read_csv(
      "rho,strategy,seed,overall,head,medium,tail\n100,uniform,1,40,60,40,\n100,uniform,2,nan,1,1,1\n100,"
      "uniform\n",
      "a.csv", warnings);
  ASSERT_EQ(runs.size(), 1u);
  EXPECT_TRUE(std::isnan(runs[0].best[3]));
  EXPECT_THAT(warnings, ElementsAre(HasSubstr("line 3"), HasSubstr("line 4")));
  EXPECT_THROW(read_csv("a,b\n", "b.csv", warnings), base::Error);

  const std::string again = results_csv(detail::arrange(runs, {}, {}), At::kBest);
  EXPECT_EQ(again, "rho,strategy,seed,overall,head,medium,tail\n100,uniform,1,40,60,40,\n");
}

TEST(ResultsTest, TheManyRunsOfAStudyThatHaveNotStartedAreOneWarning) {
  const test::Folder folder("not_started");
  for (int seed = 1; seed <= 9; ++seed)
    std::filesystem::create_directories(folder.path() / "runs" / ("uniform-" + std::to_string(seed)));
  folder.add("runs/uniform-5/log", test::make_log({"uniform", 100, 5, 10}));
  EXPECT_THAT(read(folder.path()).warnings,
              ElementsAre(HasSubstr(
                  "8 of 9 runs have no log yet (uniform-1, uniform-2, uniform-3 and 5 more); left out.")));
}

TEST(ResultsTest, ThePapersOwnLogsAreReadAndTheirEmptyGroupsAreNotZero) {
  const test::Folder folder("published");
  for (std::int64_t seed : {42, 123}) {
    test::add_published(folder, test::make_log({"uniform", 10, seed, 10}));
    test::add_published(folder, test::make_log({"progressive", 10, seed, 10}));
  }
  const Results results = read(folder.path());
  EXPECT_THAT(results.warnings, ElementsAre(HasSubstr("4 logs carry no fingerprint")));
  EXPECT_THAT(test::texts(results.series), ElementsAre("uniform", "progressive"));
  EXPECT_TRUE(results.values(Series("uniform"), Condition(10), Metric::kTail, At::kBest).empty());
  EXPECT_TRUE(results.values(Series("uniform"), Condition(10), Metric::kTail, At::kLast).empty());
  EXPECT_EQ(results.values(Series("uniform"), Condition(10), Metric::kOverall, At::kLast).size(), 2u);
  EXPECT_EQ(results.runs[0].config.at("milestones"), "160,180");
}

TEST(ResultsTest, NothingToReportIsAnError) {
  const test::Folder folder("nothing");
  EXPECT_THROW(read(folder.path()), base::Error);
}

TEST(SummaryTest, WithThreeSeedsThereIsAnIntervalAndNoPValue) {
  const test::Folder folder("three_seeds");
  test::write_grid(folder, {100}, {1, 2, 3}, 10);
  const Summary summary = summarise(read(folder.path()), {});
  for (const Comparison& c : summary.comparisons) EXPECT_FALSE(c.p || c.holm_p || c.interval);
  for (const Comparison& c : summary.comparisons) EXPECT_TRUE(c.low < c.difference && c.difference < c.high);
  for (const Finding& finding : summary.findings) EXPECT_THAT(finding.sentence, Not(HasSubstr("p =")));
}

TEST(SummaryTest, WithSixSeedsAKnownEffectGetsItsPValueIntervalAndCorrection) {
  const test::Folder folder("six_seeds");
  test::write_grid(folder, {100}, {1, 2, 3, 4, 5, 6}, 10);
  const Summary summary = summarise(read(folder.path()), {});
  const Comparison* tail = find_comparison(summary, Series("progressive"), Condition(100), Metric::kTail);
  ASSERT_TRUE(tail->p && tail->holm_p && tail->interval);
  EXPECT_NEAR(tail->mean, 4, 0.3);       // the effect that was put in
  EXPECT_DOUBLE_EQ(*tail->p, 2.0 / 64);  // the smallest that six pairs can give
  EXPECT_GT(tail->interval->low, 3.5);
  EXPECT_LT(tail->interval->high, 4.5);
  EXPECT_GT(*tail->holm_p, 0.05);    // twelve comparisons were made
  EXPECT_TRUE(tail->established());  // by Dunnett's interval; sign flips are a check
  EXPECT_EQ(summary.comparisons.size(), 15u);
  EXPECT_THAT(summary.remarks, Contains(HasSubstr("over the 12 comparisons made")));
}

TEST(SummaryTest, WithTwelveSeedsAKnownEffectSurvivesTheCorrection) {
  const test::Folder folder("twelve_seeds");
  std::vector<std::int64_t> seeds(12);
  for (std::size_t i = 0; i < seeds.size(); ++i) seeds[i] = static_cast<std::int64_t>(i) + 1;
  test::write_grid(folder, {100}, seeds, 5, 30);
  const Summary summary = summarise(read(folder.path()), {});
  EXPECT_TRUE(find_comparison(summary, Series("progressive"), Condition(100), Metric::kTail)->established());
  EXPECT_FALSE(find_comparison(summary, Series("progressive"), Condition(100), Metric::kHead)
                   ->established());  // none was put in
}

TEST(SummaryTest, NoDifferenceIsSaidToBeNone) {
  const test::Folder folder("equal");
  for (std::int64_t seed : {1, 2, 3}) {
    train::RunLog log = test::make_log({"uniform", 100, seed, 5});
    folder.add("a" + std::to_string(seed), log);
    log.strategy = "progressive";
    folder.add("b" + std::to_string(seed), log);
  }
  const Summary summary = summarise(read(folder.path()), {});
  EXPECT_EQ(summary.findings[0].sentence,
            "Overall accuracy at ρ = 100: Progressive and Uniform do not differ in any of 3 seeds.");
  EXPECT_FALSE(summary.findings[0].established);
}

TEST(ResultsTest, SelectTakesTheFirstEpochWithTheHighestAccuracyOfItsKind) {
  const test::Folder folder("select");
  train::RunLog log = test::make_log({"uniform", 100, 1, 6});
  log.tail_acc = {1, 9, 3, 9, 2, 4};
  log.best.accuracy.tail = log.tail_acc[static_cast<std::size_t>(log.best_epoch)];
  log.last.accuracy.tail = log.tail_acc.back();
  folder.add("one", log);
  const std::vector<std::filesystem::path> paths = {folder.path()};
  const Results tail = read_results(paths, {.select = Select::kTail, .epochs = std::nullopt});
  EXPECT_EQ(accuracy(tail.runs[0], Metric::kTail, At::kBest), 9);
  EXPECT_EQ(accuracy(tail.runs[0], Metric::kOverall, At::kBest), log.test_acc[1]);
  EXPECT_EQ(accuracy(tail.runs[0], Metric::kBalanced, At::kBest), log.test_acc[1]);  // as many images in each
  const Results overall = read_results(paths, {.select = Select::kOverall, .epochs = std::nullopt});
  EXPECT_EQ(accuracy(overall.runs[0], Metric::kOverall, At::kBest), log.best.accuracy.overall);
}

TEST(CompareTest, ImagesArePairedByClassAndGiveAnIntervalOfTheDifference) {
  train::Predictions a{.classes = 2, .labels = {0, 0, 0, 0, 1, 1}}, b = a;
  for (const int said : {0, 0, 1, 1, 1, 0}) a.best.push_back({said, 1});
  for (const int said : {0, 0, 0, 1, 1, 1}) b.best.push_back({said, 1});
  const auto paired = [&](At at) {
    const PredictionPair both[] = {{&a, &b}};
    return pair_images(both, at);
  };
  const auto pairs = paired(At::kBest);
  ASSERT_TRUE(pairs);
  EXPECT_EQ(pairs->gained, 2.0);
  EXPECT_EQ(pairs->lost, 0.0);
  // One of four gained in class 0, one of two in class 1.
  EXPECT_NEAR(pairs->balanced, 100 * (0.25 + 0.5) / 2, 1e-9);
  const double error = 100 * 0.5 * std::sqrt(0.25 * 0.75 / 4 + 0.5 * 0.5 / 2);
  EXPECT_NEAR(pairs->high - pairs->balanced, 1.959964 * error, 1e-9);
  // With a second seed, in which nothing differs, an image counts by the mean of both.
  const PredictionPair seeds[] = {{&a, &b}, {&b, &b}};
  const auto both = pair_images(seeds, At::kBest);
  ASSERT_TRUE(both);
  EXPECT_EQ(both->gained, 1.0);
  EXPECT_NEAR(both->balanced, pairs->balanced / 2, 1e-9);
  EXPECT_NEAR(both->high - both->balanced, 1.959964 * error / 2, 1e-9);
  // The last epochs, by themselves.
  a.last = b.best;
  b.last = a.best;
  EXPECT_NEAR(paired(At::kLast)->balanced, -pairs->balanced, 1e-9);
  b.labels[0] = 1;
  EXPECT_FALSE(paired(At::kBest));
}

TEST(SummaryTest, AnUnknownBaselineIsRefusedWithASuggestion) {
  const test::Folder folder("baseline");
  test::write_grid(folder, {100}, {1}, 5);
  try {
    summarise(read(folder.path()), {.baseline = "progresive"});
    FAIL() << "took it";
  } catch (const base::UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("did you mean `progressive`?"));
  }
}

}  // namespace
}  // namespace longtail::report
