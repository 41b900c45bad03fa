// The tables of accuracies where runs are missing, and how their numbers are printed.
#include "longtail/report/tables.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "longtail/base/file.h"
#include "longtail/report/figures.h"
#include "longtail/report/page.h"
#include "longtail/report/report.h"
#include "longtail/report/test_logs.h"

namespace longtail::report {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

TEST(TableTest, ABoundThatIsNotNoughtNeverReadsSo) {
  EXPECT_EQ(fixed_bound(-0.048, 1, true), "-0.05");
  EXPECT_EQ(fixed_bound(0.048, 1, true), "+0.05");
  EXPECT_EQ(fixed_bound(-0.0004, 1, true), "-0.0004");
  EXPECT_EQ(fixed_bound(-0.06, 1, true), "-0.1");
  EXPECT_EQ(fixed_bound(1.26, 1, true), "+1.3");
  EXPECT_EQ(fixed_bound(0, 2, true), "+0.00");
  EXPECT_EQ(fixed_bound(-1e-12, 1, true), "+0.0");
  EXPECT_EQ(fixed_bound(kMissing, 1), "n/a");
  EXPECT_EQ(printed(bound(-0.003, 2)), "-0.003");
  EXPECT_EQ(printed(bound(-0.03, 2)), "-0.03");
}

TEST(GroupTableTest, HasTheSeriesWithARunInItsConditionAndSaysWhichGroupHasNoValue) {
  const test::Folder folder("group_rows");
  base::write_atomically(
      folder.path() / "mine.csv",
      std::string_view("rho,strategy,seed,overall,head,medium,tail\n10,uniform,1,56,63,41,\n"
                       "100,uniform,1,39,66,37,10\n100,progressive,1,40,65,39,12\n"));
  const std::vector<std::filesystem::path> paths = {folder.path() / "mine.csv"};
  const Results results = read_results(paths);
  const auto names = [](const Table& table) {
    std::vector<std::string> all;
    for (const auto& row : table.rows) all.push_back(row[0].text);
    return all;
  };
  for (const bool deviations : {false, true}) {
    const Table ten = groups_table(results, Condition(10), {}, deviations);
    EXPECT_THAT(names(ten), ElementsAre("Uniform"));
    EXPECT_THAT(ten.notes, ElementsAre("Tail: n/a, the CSV does not tell it at ρ = 10."));
    const Table hundred = groups_table(results, Condition(100), {}, deviations);
    EXPECT_THAT(names(hundred), ElementsAre("Uniform", "Progressive"));
    EXPECT_THAT(hundred.notes, IsEmpty());
  }
}

// The scripts of the figures.
std::map<std::string, std::string> drawn_by_name(const Results& results, const Summary& summary) {
  std::map<std::string, std::string> drawn;
  for (const NamedFigure& one : make_figures(results, summary))
    EXPECT_TRUE(drawn.emplace(one.name, one.figure.body()).second) << one.name;
  return drawn;
}

std::map<std::string, std::string> captions_by_name(const std::vector<Table>& tables) {
  std::map<std::string, std::string> captions;
  for (const Table& table : tables) EXPECT_TRUE(captions.emplace(table.id, table.caption).second) << table.id;
  return captions;
}

// The images of the tail's classes are not in the test set.
train::RunLog without_tested_tail(const char* strategy) {
  train::RunLog log = test::make_log({strategy, 100, 1, 6});
  log.tail_acc.assign(log.tail_acc.size(), kMissing);
  const auto groups = data::Groups::parse(log.groups).of(log.class_counts);
  for (train::FullResult* one : {&log.best, &log.last}) {
    one->accuracy.tail = kMissing;
    one->balanced = one->accuracy.overall;
    for (std::size_t k = 0; k < groups.size(); ++k) {
      if (groups[k] == data::Group::kTail) one->per_class[k] = kMissing;
    }
  }
  return log;
}

TEST(GroupTableTest, AGroupWithoutTestImagesIsNotSaidToHaveNoClass) {
  const test::Folder folder("untested_tail");
  for (const char* strategy : {"uniform", "progressive"}) folder.add(strategy, without_tested_tail(strategy));
  const Results results = read_results(std::vector{folder.path()});
  EXPECT_TRUE(results.untested(Condition(100), Metric::kTail));
  EXPECT_FALSE(results.untested(Condition(100), Metric::kMedium));
  EXPECT_THAT(groups_table(results, Condition(100), {}, false).notes,
              ElementsAre("Tail: n/a, none of its classes has a test image at ρ = 100."));
  const Summary summary = summarise(results, {});
  EXPECT_THAT(summary.remarks,
              Contains("Balanced accuracy is overall accuracy here: every class that has test "
                       "images has as many."));
  std::map<std::string, std::string> drawn = drawn_by_name(results, summary);
  ASSERT_TRUE(drawn.contains("groups_rho100"));
  EXPECT_THAT(drawn["groups_rho100"], HasSubstr("'n/a: untested'"));
  for (const auto& [name, script] : drawn) EXPECT_THAT(script, Not(HasSubstr("no class"))) << name;
}

TEST(GroupTableTest, AGroupWithoutClassesIsSaidToHaveNone) {
  const test::Folder folder("no_tail_logs");
  test::write_grid(folder, {10}, {1}, 6);
  const Results results = read_results(std::vector{folder.path()});
  EXPECT_THAT(groups_table(results, Condition(10), {}, false).notes,
              ElementsAre("Tail: n/a, no class is in this group at ρ = 10."));
  EXPECT_THAT(drawn_by_name(results, summarise(results, {}))["groups_rho10"], HasSubstr("'n/a: no class'"));
}

TEST(TableCaptionTest, TheEpochOfACsvIsNotKnown) {
  const test::Folder folder("csv_captions");
  const auto captions = [&](const SummaryOptions& options) {
    std::string all;
    const Results results = read_results(std::vector{folder.path()});
    for (const Table& table : all_tables(results, summarise(results, options))) all += table.caption + "\n";
    return all;
  };
  test::write_grid(folder, {100}, {1, 2}, 6);
  EXPECT_THAT(captions({.baseline = "", .at = At::kLast}), HasSubstr(", last epoch."));
  const std::string csv = results_csv(read_results(std::vector{folder.path()}), At::kLast);
  const test::Folder other("csv_captions_csv");
  base::write_atomically(other.path() / "results.csv", csv);
  const std::vector<std::filesystem::path> paths = {other.path() / "results.csv"};
  const Results results = read_results(paths);
  EXPECT_THAT(overall_table(results, {}).caption, HasSubstr("over 2 seeds, as the CSV has them."));
  for (const Table& table : all_tables(results, summarise(results, {})))
    EXPECT_THAT(table.caption, Not(HasSubstr("epoch"))) << table.id;
}

TEST(GroupTableTest, WhatResultsDoNotTellIsNotAGroupWithoutClasses) {
  const test::Folder folder("untold_last"), csv("untold_last_csv");
  folder.add("log", test::make_log({"uniform", 100, 1, 6}));
  base::write_atomically(
      csv.path() / "mine.csv",
      std::string_view("rho,strategy,seed,overall,head,medium,tail\n50,uniform,1,56,63,41,\n"));
  const std::vector<std::filesystem::path> paths = {folder.path(), csv.path() / "mine.csv"};
  const Table table =
      groups_table(read_results(paths), Condition(50), {.baseline = "", .at = At::kLast}, false);
  EXPECT_THAT(table.notes, Contains("Head: n/a, the CSV does not tell it at ρ = 50."));
  EXPECT_THAT(table.notes, Contains("Tail: n/a, the CSV does not tell it at ρ = 50."));
}

TEST(TableNamesTest, SeriesOrDataThatDifferInSignsAloneHaveFilesOfTheirOwn) {
  const test::Folder folder("signs");
  std::string csv = "rho,strategy,seed,overall,head,medium,tail,data\n";
  for (const char* data : {"own-birds", "own_birds"}) {
    for (const char* strategy : {"uniform", "power:q=0.5", "power:q=-0.5"}) {
      for (const int seed : {1, 2, 3})
        csv += fmt::format("100,{},{},{},60,40,10,{}\n", strategy, seed,
                           40 + seed + 0.1 * static_cast<double>(csv.size()), data);
    }
  }
  base::write_atomically(folder.path() / "mine.csv", csv);
  const Results results = read_results(std::vector{folder.path() / "mine.csv"});
  const Summary summary = summarise(results, {});
  auto captions = captions_by_name(all_tables(results, summary));
  EXPECT_THAT(captions["paired_power_q_0_5"], HasSubstr("Power (q=-0.5) minus Uniform"));
  EXPECT_THAT(captions["paired_power_q_0_5_2"], HasSubstr("Power (q=0.5) minus Uniform"));
  EXPECT_THAT(captions["intervals_own_birds_rho100"], HasSubstr("own_birds, ρ = 100"));
  EXPECT_THAT(captions["intervals_own_birds_rho100_2"], HasSubstr("own-birds, ρ = 100"));
  EXPECT_THAT(drawn_by_name(results, summary), Not(IsEmpty()));
}

TEST(TableNamesTest, TableFigureAndFilesOnThePageOfOneNameAreOfTheSameData) {
  const test::Folder folder("one_slug");
  for (const char* data : {"own-birds", "own_birds"}) {
    train::RunLog log = test::make_log({"uniform", 100, 1, 6});
    log.dataset = log.config["dataset"] = data;
    folder.add(data, log);
  }
  ReportOptions options;
  options.inputs = {folder.path()};
  const Report report = make_report(options);
  auto captions = captions_by_name(report.tables);
  auto drawn = drawn_by_name(report.results, report.summary);
  ASSERT_EQ(report.results.conditions.size(), 2u);
  for (const Condition& condition : report.results.conditions) {
    const std::string slug = condition.slug();
    EXPECT_THAT(captions["groups_" + slug], HasSubstr(condition.phrase()));
    EXPECT_THAT(captions["every_class_" + slug], HasSubstr(condition.phrase()));
    EXPECT_THAT(drawn["groups_" + slug], HasSubstr(condition.phrase()));
  }
  // The buttons beside the classes.
  const auto data = nlohmann::json::parse(live_state(report, {})).at("data");
  ASSERT_EQ(data.at("conditions").size(), 2u);
  for (const auto& condition : data.at("conditions")) {
    const auto slug = condition.at("slug").get<std::string>();
    EXPECT_THAT(data.at("files").at("every_class_" + slug).at("csv").get<std::string>(), Not(IsEmpty()));
    EXPECT_THAT(captions["every_class_" + slug], HasSubstr(condition.at("title").get<std::string>()));
  }
}

TEST(IntervalsTableTest, AFamilyJudgedByItsOwnSpreadsIsNotSaidToBeDunnetts) {
  const test::Folder folder("own_spreads");
  std::string csv = "rho,strategy,seed,overall,head,medium,tail\n";
  const double wild[] = {30, 39, 44};
  for (int seed = 1; seed <= 3; ++seed) {
    csv += fmt::format("100,uniform,{},{},40,40,\n", seed, 50 + 0.3 * seed);
    csv += fmt::format("100,progressive,{},{},40.5,{},\n", seed, 51 + 0.2 * seed, 41 + 0.1 * (seed % 2));
    csv += fmt::format("100,square_root,{},{},{},{},\n", seed, 49 + 0.4 * (seed % 2), wild[seed - 1],
                       40 + 0.1 * seed);
  }
  base::write_atomically(folder.path() / "mine.csv", csv);
  const Results results = read_results(std::vector{folder.path() / "mine.csv"});
  const Table table = *intervals_table(summarise(results, {}), Condition(100));
  ASSERT_EQ(table.notes.size(), 2u);
  EXPECT_THAT(table.notes[1],
              testing::StartsWith("Head: none of these, but each difference by its own spread"));
  for (const char* strategy : {"Uniform", "Progressive"}) {
    const auto row = std::find_if(table.rows.begin(), table.rows.end(), [&](const auto& one) {
      return one[0].text == "Head" && one[1].text == strategy;
    });
    ASSERT_NE(row, table.rows.end()) << strategy;
    EXPECT_EQ(printed((*row)[6]), "n/a") << strategy;
  }
  csv.clear();
  for (int seed = 1; seed <= 3; ++seed)
    csv += fmt::format("100,uniform,{0},{1},60,40,10\n100,progressive,{0},{2},60,40,10\n", seed, 40 + seed,
                       41 + 1.1 * seed);
  base::write_atomically(folder.path() / "mine.csv", "rho,strategy,seed,overall,head,medium,tail\n" + csv);
  const Results calm = read_results(std::vector{folder.path() / "mine.csv"});
  EXPECT_EQ(intervals_table(summarise(calm, {}), Condition(100))->notes.size(), 1u);
}

TEST(IntervalsTableTest, WhereEveryFamilyIsJudgedByItsOwnSpreadsNothingIsSaidToBeDunnetts) {
  const test::Folder folder("all_own_spreads");
  std::string csv = "rho,strategy,seed,overall,head,medium,tail\n";
  const double wild[] = {30, 39, 44};
  for (int seed = 1; seed <= 3; ++seed) {
    csv += fmt::format("100,uniform,{0},40,40,40,\n100,progressive,{0},40.5,40.5,40.5,\n", seed);
    csv += fmt::format("100,square_root,{0},{1},{1},{1},\n", seed, wild[seed - 1]);
  }
  base::write_atomically(folder.path() / "mine.csv", csv);
  const Summary summary = summarise(read_results(std::vector{folder.path() / "mine.csv"}), {});
  ASSERT_EQ(summary.families.size(), 3u);
  for (const FamilyOf& one : summary.families) ASSERT_EQ(one.family.method, Method::kSeparate);
  EXPECT_THAT(
      intervals_table(summary, Condition(100))->notes,
      ElementsAre("Overall, Head and Medium: each difference by its own spread (paired t, Bonferroni's "
                  "correction); bounds are n/a where it has none. Best low and high: minus the best of the "
                  "others. Ruled out: by such an interval, if anything is established."));
  EXPECT_THAT(summary.remarks, Not(Contains(HasSubstr("Dunnett"))));
  EXPECT_THAT(summary.remarks, Not(Contains(HasSubstr("one residual"))));
  EXPECT_THAT(summary.remarks, Contains(HasSubstr("with Uniform (paired t with Bonferroni's correction, each "
                                                  "difference by its own spread). Established:")));
}

TEST(IntervalsTableTest, WithoutAnyIntervalNoMethodIsNamed) {
  const test::Folder folder("no_interval");
  base::write_atomically(folder.path() / "mine.csv",
                         std::string_view("rho,strategy,seed,overall,head,medium,tail\n"
                                          "100,uniform,1,40,60,40,10\n100,progressive,1,41,60,40,12\n"));
  const Results results = read_results(std::vector{folder.path() / "mine.csv"});
  const auto table = intervals_table(summarise(results, {}), Condition(100));
  ASSERT_TRUE(table);
  EXPECT_THAT(table->notes, IsEmpty());
}

}  // namespace
}  // namespace longtail::report
