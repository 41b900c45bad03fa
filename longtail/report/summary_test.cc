// What a summary counts: the worst group of a run, its family, and who the baseline is.
#include "longtail/report/summary.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "longtail/report/test_logs.h"

namespace longtail::report {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

Results of_lines(const test::Folder& folder, const std::string& lines) {
  base::write_atomically(folder.path() / "mine.csv", "rho,strategy,seed,overall,head,medium,tail\n" + lines);
  return read_results(std::vector{folder.path() / "mine.csv"});
}

TEST(WorstGroupTest, ARunThatLacksAGroupThatOthersHaveDoesNotTellItsWorst) {
  const test::Folder folder("worst_missing");
  const Results results =
      of_lines(folder,
               "100,uniform,1,40,60,41,10\n100,uniform,2,41,61,42,11\n100,uniform,3,42,62,43,12\n"
               "100,progressive,1,40,60,41,14\n100,progressive,2,41,61,42,15.5\n100,progressive,3,42,62,43,\n"
               "10,uniform,1,50,60,41,\n10,progressive,1,50,60,42,\n");
  const SummaryOptions options{.baseline = "", .goal = Goal::kWorst};
  const Question question = question_of(results, Condition(100), Series("uniform"), options);
  EXPECT_EQ(question.table.values[0], (std::vector<double>{10, 11, 12}));
  EXPECT_EQ(question.table.values[1][1], 15.5);
  EXPECT_TRUE(std::isnan(question.table.values[1][2])) << "not its medium classes";
  const Question without = question_of(results, Condition(10), Series("uniform"), options);
  EXPECT_EQ(without.table.values[1][0], 42) << "nobody has a tail there";
}

TEST(WorstGroupTest, ItsFamilyIsCountedAndItsSpreadRemarkedOnLikeThoseOfTheMetrics) {
  const test::Folder folder("worst_family");
  std::string lines;
  for (int seed = 1; seed <= 5; ++seed) {
    const auto line = [&](const char* strategy, double tail) {
      lines += fmt::format("100,{0},{1},{2:.2f},{3:.2f},{4:.2f},{5:.2f}\n", strategy, seed,
                           40 + test::noise(1, 3, static_cast<std::uint64_t>(10 * tail) + seed),
                           60 + test::noise(2, 3, static_cast<std::uint64_t>(10 * tail) + seed),
                           41 + test::noise(3, 3, static_cast<std::uint64_t>(10 * tail) + seed), tail);
    };
    line("uniform", 10 + 0.01 * seed);
    line("class_balanced", 11 + 0.01 * (seed % 2));
    line("progressive", seed % 2 == 0 ? 5 : 20);
  }
  const Results results = of_lines(folder, lines);
  const Summary overall = summarise(results, {.baseline = "", .goal = Goal::kOverall});
  EXPECT_THAT(overall.remarks, Contains(HasSubstr("4 such families were looked at; the goal's, overall")));
  EXPECT_THAT(overall.remarks, Not(Contains(HasSubstr("worst"))));
  const Summary worst = summarise(results, {.baseline = "", .goal = Goal::kWorst});
  EXPECT_THAT(worst.remarks,
              Contains(HasSubstr("5 such families were looked at; the goal's, the worst group's "
                                 "accuracy, is the primary one.")));
  EXPECT_THAT(worst.remarks,
              Contains(HasSubstr("Accuracy of the worst group at ρ = 100: the spread over seeds "
                                 "differs grossly between the strategies")));
}

TEST(SummaryTest, ARaceThatDoesNotTellItsBaselineHasThatOfAnyReport) {
  const test::Folder folder("no_raced_baseline");
  const Results results = of_lines(folder,
                                   "100,class_balanced,1,40,60,41,10\n100,uniform,1,40,60,41,10\n"
                                   "100,progressive,1,40,60,41,10\n");
  EXPECT_EQ(summarise(results, {.baseline = "", .looks = LookPlan{}}).baseline, Series("uniform"));
  EXPECT_EQ(summarise(results, {.baseline = "", .looks = LookPlan{.baseline = "progressive"}}).baseline,
            Series("progressive"));
}

}  // namespace
}  // namespace longtail::report
