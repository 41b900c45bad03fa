// The tables of accuracies where runs are missing, and how their numbers are printed.
#include "longtail/report/tables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "longtail/base/file.h"
#include "longtail/report/test_logs.h"

namespace longtail::report {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

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

TEST(GroupTableTest, HasTheSeriesWithARunInItsConditionAndSaysOfWhichGroupThereIsNoClass) {
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
    EXPECT_THAT(ten.notes, ElementsAre("Tail: n/a, no class is in this group at ρ = 10."));
    const Table hundred = groups_table(results, Condition(100), {}, deviations);
    EXPECT_THAT(names(hundred), ElementsAre("Uniform", "Progressive"));
    EXPECT_THAT(hundred.notes, IsEmpty());
  }
}

}  // namespace
}  // namespace longtail::report
