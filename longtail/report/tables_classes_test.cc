#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "longtail/report/tables.h"
#include "longtail/report/test_logs.h"

namespace longtail::report {
namespace {

using testing::ElementsAre;

// Three classes (500, 50 and 5 images: head, medium, tail) of ten test images each.
Results results_of(const std::vector<std::vector<std::vector<int>>>& confusions) {
  Results results;
  results.series = {Series("uniform")};
  results.conditions = {Condition(100)};
  for (std::size_t i = 0; i < confusions.size(); ++i) {
    auto log = std::make_shared<train::RunLog>(
        test::make_log({.seed = static_cast<std::int64_t>(i), .epochs = 2, .classes = 3}));
    log->class_names = {"cat", "dog", "owl"};
    log->best.confusion = confusions[i];
    log->best.per_class.clear();
    for (std::size_t k = 0; k < 3; ++k) log->best.per_class.push_back(10.0 * confusions[i][k][k]);
    RunResult& run = results.runs.emplace_back();
    run.series = Series("uniform");
    run.condition = Condition(100);
    run.seed = static_cast<std::int64_t>(i);
    run.rho = 100;
    run.log = log;
    results.seeds.push_back(run.seed);
  }
  return results;
}

std::vector<std::string> words(const Table& table, std::size_t row) {
  std::vector<std::string> all;
  for (const Cell& cell : table.rows[row]) all.push_back(printed(cell));
  return all;
}

const Results kTwo = results_of({{{9, 1, 0}, {4, 6, 0}, {7, 1, 2}}, {{10, 0, 0}, {2, 8, 0}, {5, 1, 4}}});

TEST(ClassTablesTest, TheConfusionByGroupSaysWhereTheImagesOfAGroupGo) {
  const Table table = *group_confusion_table(kTwo, Condition(100), {});
  ASSERT_EQ(table.rows.size(), 3u);
  EXPECT_THAT(words(table, 0), ElementsAre("Uniform", "head", "95.0", "0.0", "5.0", "0.0"));
  EXPECT_THAT(words(table, 1), ElementsAre("Uniform", "medium", "70.0", "30.0", "0.0", "0.0"));
  EXPECT_THAT(words(table, 2), ElementsAre("Uniform", "tail", "30.0", "60.0", "10.0", "0.0"));
}

TEST(ClassTablesTest, TheWorstPairsComeFirst) {
  const Table table = *worst_pairs_table(kTwo, Condition(100), {});
  ASSERT_EQ(table.rows.size(), 4u);
  EXPECT_THAT(words(table, 0), ElementsAre("Uniform", "owl", "5", "cat", "500", "60.0"));
  EXPECT_THAT(words(table, 1), ElementsAre("Uniform", "dog", "50", "cat", "500", "30.0"));
  EXPECT_THAT(words(table, 3), ElementsAre("Uniform", "cat", "500", "dog", "50", "5.0"));
}

TEST(ClassTablesTest, EveryClassHasItsMeanOverSeeds) {
  const Table table = *every_class_table(kTwo, Condition(100), {});
  EXPECT_EQ(table.id, "every_class_rho100");
  ASSERT_EQ(table.rows.size(), 3u);
  EXPECT_THAT(words(table, 0), ElementsAre("cat", "500", "head", "95.0 ± 5.0"));
  EXPECT_THAT(words(table, 2), ElementsAre("owl", "5", "tail", "30.0 ± 10.0"));
  EXPECT_THAT(
      to_csv(table),
      testing::StartsWith("Class,Images,Group,Uniform,Uniform std\ncat,500.0000,head,95.0000,5.0000\n"));
}

TEST(ClassTablesTest, LogsWithoutMatricesMakeNoTableOfConfusions) {
  Results bare = results_of({{{9, 1, 0}, {4, 6, 0}, {7, 1, 2}}});
  auto log = std::make_shared<train::RunLog>(*bare.runs[0].log);
  log->best.confusion.clear();
  bare.runs[0].log = log;
  EXPECT_FALSE(group_confusion_table(bare, Condition(100), {}));
  EXPECT_FALSE(worst_pairs_table(bare, Condition(100), {}));
  EXPECT_TRUE(every_class_table(bare, Condition(100), {}));
}

TEST(ClassTablesTest, ATableLongerThanAPageGoesOverSeveral) {
  Table table{.id = "t", .caption = "Long."};
  table.columns = {{"A", true}};
  for (int i = 0; i < 101; ++i) table.rows.push_back({text(std::to_string(i))});
  const std::string latex = to_latex(table);
  EXPECT_THAT(latex, testing::HasSubstr("\\caption{Long. Part 3 of 3.}"));
  EXPECT_THAT(latex, testing::HasSubstr("\\label{tab:t}"));
  EXPECT_THAT(latex, testing::HasSubstr("\\label{tab:t-3}"));
  std::size_t floats = 0;
  for (auto at = latex.find("\\begin{table}"); at != std::string::npos;
       at = latex.find("\\begin{table}", at + 1))
    ++floats;
  EXPECT_EQ(floats, 3u);
}

}  // namespace
}  // namespace longtail::report
