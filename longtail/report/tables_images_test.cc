// The tables of what the test images say, on runs whose predictions are written out.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>

#include "longtail/base/hash.h"
#include "longtail/report/compare.h"
#include "longtail/report/tables.h"
#include "longtail/report/test_logs.h"

namespace longtail::report {
namespace {

constexpr int kClasses = 3, kImages = 5;  // of each class

// Right on the first `right[k] + shift` images of class k, otherwise one class too far.
train::Predictions said(std::array<int, kClasses> right, int shift) {
  train::Predictions all{.classes = kClasses};
  for (std::int32_t k = 0; k < kClasses; ++k) {
    for (int i = 0; i < kImages; ++i) {
      const bool hit = i < right[static_cast<std::size_t>(k)] + shift;
      all.labels.push_back(k);
      all.best.push_back({hit ? k : (k + 1) % kClasses, 0.5F});
    }
  }
  all.last = all.best;
  return all;
}

RunResult run_of(const test::Folder& folder, const std::string& strategy, std::int64_t seed,
                 const train::Predictions& predictions) {
  auto log = std::make_shared<train::RunLog>();
  log->class_counts = {300, 30, 3};
  log->class_names = {"wren", "tit", "auk"};
  log->best.confusion.assign(kClasses, std::vector<int>(kClasses, 0));
  for (std::size_t i = 0; i < predictions.size(); ++i) {
    const auto row = static_cast<std::size_t>(predictions.labels[i]);
    ++log->best.confusion[row][static_cast<std::size_t>(predictions.best[i].label)];
  }
  for (std::size_t k = 0; k < kClasses; ++k)
    log->best.per_class.push_back(100.0 * log->best.confusion[k][k] / kImages);
  const auto& p = log->best.per_class;
  const double mean = (p[0] + p[1] + p[2]) / 3;
  RunResult run{.source = (folder.path() / fmt::format("{}{}.json", strategy, seed)).string(),
                .strategy = strategy};
  run.rho = 100;
  run.seed = seed;
  run.best = {mean, p[0], p[1], p[2], mean};
  run.series = Series(strategy);
  run.condition = Condition(100);
  const std::string bytes = train::predictions_bytes(predictions);
  base::write_atomically(train::predictions_path(run.source), std::string_view(bytes));
  log->predictions = base::sha256(std::string_view(bytes));
  run.log = log;
  return run;
}

Results made_up(const test::Folder& folder) {
  Results results;
  for (const std::int64_t seed : {1, 2}) {
    const int shift = static_cast<int>(seed) - 1;
    results.runs.push_back(run_of(folder, "uniform", seed, said({4, 2, 0}, shift)));
    results.runs.push_back(run_of(folder, "progressive", seed, said({3, 3, 1}, shift)));
  }
  results.series = {Series("uniform"), Series("progressive")};
  results.conditions = {Condition(100)};
  results.seeds = {1, 2};
  return results;
}

TEST(ImageTablesTest, EveryClassHasItsMeanOverSeedsAndWilsonsIntervalForItsTestImages) {
  const test::Folder folder("image_classes");
  const Results results = made_up(folder);
  const Summary summary = summarise(results, {});
  const auto table = classes_table(results, summary, Condition(100));
  ASSERT_TRUE(table);
  ASSERT_EQ(table->rows.size(), 3u);
  EXPECT_EQ(table->rows[1][0].text, "tit");
  EXPECT_EQ(table->rows[1][1].value, 30);
  EXPECT_EQ(table->rows[1][2].value, kImages);
  // uniform on the second class: 2 and 3 of 5.
  const Interval share = wilson(0.5, kImages);
  EXPECT_EQ(table->rows[1][3].text,
            fmt::format("50 ({}–{})", fixed(100 * share.low, 0), fixed(100 * share.high, 0)));
  EXPECT_NE(classes_csv(results, At::kBest)
                .find(fmt::format("100,uniform,tit,30,5,50.0000,{:.4f},", 100 * share.low)),
            std::string::npos);
}

TEST(ImageTablesTest, StrategiesArePairedWithTheBaselineByImageAndWithoutPredictionsNotAtAll) {
  const test::Folder folder("image_pairs");
  const Results results = made_up(folder);
  const Summary summary = summarise(results, {});
  const auto table = image_pairs_table(results, summary, Condition(100));
  ASSERT_TRUE(table);
  ASSERT_EQ(table->rows.size(), 1u);
  std::vector<train::Predictions> files;
  for (const auto& run : results.runs) files.push_back(*predictions_of(run.source, *run.log));
  const PredictionPair pairs[] = {{&files[0], &files[1]}, {&files[2], &files[3]}};
  const auto expected = pair_images(pairs, At::kBest);
  const auto& row = table->rows[0];
  EXPECT_EQ(row[1].value, 2);  // one image of the second class and one of the third, in both seeds
  EXPECT_EQ(row[2].value, 1);
  EXPECT_NEAR(row[3].value, 100.0 / 15, 1e-9);
  EXPECT_NEAR(row[4].value, expected->low, 1e-12);
  EXPECT_NEAR(row[5].value, expected->high, 1e-12);
  const Comparison* seeds =
      find_comparison(summary, Series("progressive"), Condition(100), Metric::kBalanced);
  ASSERT_TRUE(seeds);
  EXPECT_NEAR(row[3].value, seeds->mean, 1e-9);  // the images and the log tell the same difference

  EXPECT_NE(table->notes[0].find("15 test images, 2 seeds. Gained"), std::string::npos) << table->notes[0];
  // The difference is the same in both seeds.
  EXPECT_TRUE(table->notes[0].ends_with("; seeds: cannot be told.")) << table->notes[0];

  for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
    std::filesystem::remove(entry.path());
  EXPECT_FALSE(image_pairs_table(results, summary, Condition(100)));
}

TEST(ImageTablesTest, WhereSeedsAreMissingItIsSaidHowManyThePairsHave) {
  const test::Folder folder("image_seeds");
  Results results = made_up(folder);
  results.runs.push_back(run_of(folder, "square_root", 2, said({3, 2, 1}, 1)));
  results.series.emplace_back("square_root");
  const auto table = image_pairs_table(results, summarise(results, {}), Condition(100));
  ASSERT_TRUE(table);
  ASSERT_EQ(table->rows.size(), 2u);
  EXPECT_NE(table->notes[0].find("15 test images, 1 to 2 seeds. Gained"), std::string::npos)
      << table->notes[0];
}

TEST(ImageTablesTest, TheIntervalsBySeedsAreDunnettsWhereTheSpreadIsOneForAll) {
  const test::Folder folder("image_pooled");
  Results results;
  results.series = {Series("uniform"), Series("progressive")};
  results.conditions = {Condition(100)};
  results.seeds = {1, 2};
  for (const std::int64_t seed : results.seeds) {
    results.runs.push_back(run_of(folder, "uniform", seed, said({3, 3, 1}, 0)));
    results.runs.push_back(run_of(folder, "progressive", seed, said({seed == 1 ? 4 : 3, 3, 1}, 0)));
  }
  const auto table = image_pairs_table(results, summarise(results, {}), Condition(100));
  ASSERT_TRUE(table);
  EXPECT_TRUE(table->notes.at(0).ends_with(
      "; seeds: Dunnett's, for all strategies together. Neither contains the other."))
      << table->notes.at(0);
}

TEST(ImageTablesTest, WhatTheIntervalsBySeedsAreIsAsTheirFamilyIsJudged) {
  const test::Folder folder("image_methods");
  Results results;
  results.series = {Series("uniform"), Series("progressive"), Series("square_root")};
  results.conditions = {Condition(100)};
  const auto note = [&] {
    return image_pairs_table(results, summarise(results, {}), Condition(100))->notes.at(0);
  };
  constexpr std::array<int, 3> kWild = {0, 4, 2};
  for (const std::int64_t seed : {1, 2, 3}) {
    results.seeds.push_back(seed);
    results.runs.push_back(run_of(folder, "uniform", seed, said({3, 3, 1}, 0)));
    results.runs.push_back(run_of(folder, "progressive", seed, said({4, 3, 1}, 0)));
    const int right = kWild[static_cast<std::size_t>(seed - 1)];
    results.runs.push_back(run_of(folder, "square_root", seed, said({right, right, right}, 0)));
    if (seed == 1) {
      EXPECT_TRUE(note().ends_with("; seeds: cannot be told.")) << note();
    }
  }
  EXPECT_TRUE(note().ends_with(
      "; seeds: paired t, Bonferroni's correction, for all strategies together. Neither contains the other."))
      << note();
}

}  // namespace
}  // namespace longtail::report
