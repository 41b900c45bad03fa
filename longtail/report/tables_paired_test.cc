// The tables of differences when the series are many, by a calculation of their own.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "longtail/base/file.h"
#include "longtail/report/report.h"
#include "longtail/report/tables.h"
#include "longtail/report/test_logs.h"

namespace longtail::report {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

// Uniform and `others` strategies s1, s2, ...: s1 is best; the last one has the first seed only.
Results results_of(int others, const test::Folder& folder) {
  std::string csv = "rho,strategy,seed,overall,head,medium,tail\n";
  for (int i = 0; i <= others; ++i) {
    for (int seed = 1; seed <= 3; ++seed) {
      if (i == others && seed > 1) continue;
      const double value = 40 + seed + (i == 0 ? 0 : others - 2 * i) + 0.1 * ((i * seed) % 3);
      csv += fmt::format("100,{},{},{},{},{},{}\n", i == 0 ? "uniform" : fmt::format("s{}", i), seed, value,
                         value + 20, value, value - 20);
    }
  }
  base::write_atomically(folder.path() / "mine.csv", csv);
  return read_results(std::vector{folder.path() / "mine.csv"});
}

std::vector<std::string> column(const Table& table, std::size_t c) {
  std::vector<std::string> all;
  for (const auto& row : table.rows) all.push_back(printed(row[c]));
  return all;
}

TEST(PairedTablesTest, ManySeriesAreOneTableTheBestFirst) {
  const test::Folder folder("many_series");
  const Results results = results_of(8, folder);
  const Summary summary = summarise(results, {});
  const Table table = *differences_table(results, summary, Condition(100));
  EXPECT_THAT(column(table, 0), ElementsAre("S1", "S2", "S3", "S4", "S5", "S6", "S7", "S8"));
  EXPECT_THAT(column(table, 1), ElementsAre("3", "3", "3", "3", "3", "3", "3", "1"));
  for (const auto& row : table.rows) {
    const Comparison& c =
        *find_comparison(summary, Series("s" + row[0].text.substr(1)), Condition(100), Metric::kOverall);
    EXPECT_EQ(row[2].value, c.difference);
    EXPECT_NEAR(row[2].value - row[2].spread, c.low, 1e-9);
    EXPECT_NEAR(row[2].value + row[2].spread, c.high, 1e-9);
    EXPECT_EQ(row[2].bold, c.low > 0 || c.high < 0) << row[0].text;
  }
  EXPECT_THAT(to_csv(table), HasSubstr("Strategy,Seeds,Overall,Overall half width,"));
}

TEST(PairedTablesTest, EveryPairOfManySeriesIsInOneTable) {
  const test::Folder folder("many_pairs");
  const Results results = results_of(8, folder);
  const Table table = *all_pairs_table(results, summarise(results, {}), Condition(100));
  EXPECT_EQ(table.id, "paired_rho100");
  ASSERT_EQ(table.rows.size(), 4u * 8u);
  std::vector<std::string> first, last;
  for (const Cell& cell : table.rows[0]) first.push_back(printed(cell));
  for (const Cell& cell : table.rows[7]) last.push_back(printed(cell));
  EXPECT_THAT(first, ElementsAre("Overall", "S1", "+6.10", "+6.20", "+6.00", "+6.10", "3/3"));
  EXPECT_THAT(last, ElementsAre("Overall", "S8", "-7.80", "n/a", "n/a", "-7.80", "1/1"));
}

TEST(PairedTablesTest, AReportOfManySeriesHasTheTableWhereOneOfFewHasSentences) {
  const test::Folder folder("many_words"), out("many_words_out");
  for (const int others : {6, 7}) {
    results_of(others, folder);
    ReportOptions options;
    options.inputs = {folder.path() / "mine.csv"};
    options.out = out.path();
    const Report report = make_report(options);
    std::vector<std::string> ids;
    for (const Table& table : report.tables) ids.push_back(table.id);
    const bool many = others == 7;
    EXPECT_EQ(testing::Value(ids, Contains("differences_rho100")), many);
    EXPECT_EQ(testing::Value(ids, Contains("paired_rho100")), many);
    EXPECT_EQ(testing::Value(ids, Contains("paired_s1")), !many);
    for (const std::string& words : {to_terminal(report), to_summary(report)}) {
      EXPECT_EQ(testing::Value(words, HasSubstr("(points), the best first")), many);
      EXPECT_EQ(testing::Value(words, HasSubstr("accuracy at ρ = 100: S1 is above Uniform by")), !many);
      EXPECT_THAT(words, HasSubstr("series is compared by one seed"));
    }
  }
}

TEST(PairedTablesTest, SeriesThatLackTheSameSeedsShareAWarningIfTheyAreMany) {
  const test::Folder folder("lacking");
  test::write_grid(folder, {100}, {1}, 3);
  folder.add("more", test::make_log({.strategy = "uniform", .seed = 2, .epochs = 3}));
  EXPECT_THAT(read_results(std::vector{folder.path()}).warnings,
              Contains("Class-Balanced at ρ = 100: seed 2 missing."));
  for (const char* strategy : {"effective_number", "repeat_factor"})
    folder.add(strategy, test::make_log({.strategy = strategy, .seed = 1, .epochs = 3}));
  const std::vector<std::string> warnings = read_results(std::vector{folder.path()}).warnings;
  EXPECT_THAT(warnings, Contains(HasSubstr("5 of 6 series at ρ = 100: seed 2 missing (Class-Balanced, ")));
  EXPECT_THAT(warnings, Contains(HasSubstr(" and 3 others).")));
  EXPECT_THAT(warnings, Not(Contains("Class-Balanced at ρ = 100: seed 2 missing.")));
}

TEST(PairedTablesTest, TheSmallestPossiblePValueIsThatOfTheLargestNumberOfPairs) {
  const test::Folder folder("few_pairs");
  std::string csv = "rho,strategy,seed,overall,head,medium,tail\n";
  for (int seed = 1; seed <= 6; ++seed) {
    for (const char* strategy : {"uniform", "progressive", "square_root"}) {
      if (std::string_view(strategy) == "square_root" && seed > 3) continue;
      csv += fmt::format("100,{},{},4{},60,40,2{}\n", strategy, seed, seed, (seed * 3) % 7);
    }
  }
  base::write_atomically(folder.path() / "mine.csv", csv);
  const Results results = read_results(std::vector{folder.path() / "mine.csv"});
  const Summary summary = summarise(results, {});
  EXPECT_THAT(paired_table(results, summary, Series("square_root"))->notes,
              Contains("No p-values: they need at least 6 seeds (with 3 the smallest possible is 0.25)."));
  EXPECT_THAT(paired_table(results, summary, Series("progressive"))->notes,
              Not(Contains(HasSubstr("No p-values"))));
}

// Eight series beside uniform in three seeds, s8 the best. Its tail is told in none of them, that of s2 in two.
Results with_untold_tails(const test::Folder& folder, bool any_tail) {
  std::string csv = "rho,strategy,seed,overall,head,medium,tail\n";
  for (int i = 0; i <= 8; ++i) {
    for (int seed = 1; seed <= 3; ++seed) {
      const double value = 40 + seed + 0.5 * i + 0.1 * ((i * seed) % 3);
      const bool told = any_tail && i != 8 && (i != 2 || seed < 3);
      csv += fmt::format("100,{},{},{},60,40,{}\n", i == 0 ? "uniform" : fmt::format("s{}", i), seed, value,
                         told ? fmt::format("{}", value - 20) : "");
    }
  }
  base::write_atomically(folder.path() / "mine.csv", csv);
  return read_results(std::vector{folder.path() / "mine.csv"});
}

TEST(PairedTablesTest, SeriesThatDoNotTellTheGoalAreTheLastAndWithoutAnyItIsByOverallAccuracy) {
  const test::Folder folder("untold_tails");
  for (const bool any_tail : {true, false}) {
    const Results results = with_untold_tails(folder, any_tail);
    const Summary summary = summarise(results, {.baseline = "", .goal = Goal::kTail});
    const Table table = *differences_table(results, summary, Condition(100));
    if (any_tail) {
      EXPECT_THAT(column(table, 0), ElementsAre("S7", "S6", "S5", "S4", "S3", "S2", "S1", "S8"));
      EXPECT_THAT(column(table, 1), ElementsAre("3", "3", "3", "3", "3", "3", "3", "3"));
      EXPECT_THAT(table.notes, Contains(HasSubstr("Seeds: of the metric that has the most")));
    } else {
      EXPECT_THAT(column(table, 0), ElementsAre("S8", "S7", "S6", "S5", "S4", "S3", "S2", "S1"));
      EXPECT_THAT(table.notes, Not(Contains(HasSubstr("Seeds:"))));
    }
    EXPECT_EQ(all_pairs_table(results, summary, Condition(100))->rows.size(), any_tail ? 8u * 4 - 1 : 8u * 3);
  }
}

TEST(PairedTablesTest, WithoutIntervalsThereIsNoNoteOnThem) {
  const test::Folder folder("one_seed_note");
  const auto notes = [&](const char* last_seed) {
    std::string csv = "rho,strategy,seed,overall,head,medium,tail\n";
    for (int i = 0; i <= 8; ++i) {
      for (int seed = 1; seed <= std::stoi(last_seed); ++seed)
        csv += fmt::format("100,{},{},{},60,40,20\n", i == 0 ? "uniform" : fmt::format("s{}", i), seed,
                           40 + i + 0.1 * ((i * seed) % 3));
    }
    base::write_atomically(folder.path() / "mine.csv", csv);
    const Results results = read_results(std::vector{folder.path() / "mine.csv"});
    return differences_table(results, summarise(results, {}), Condition(100))->notes;
  };
  EXPECT_THAT(notes("3"), Contains(HasSubstr("± half of the 95% interval")));
  EXPECT_THAT(notes("1"), testing::IsEmpty());
}

}  // namespace
}  // namespace longtail::report
