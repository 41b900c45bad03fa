#include "longtail/report/choices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "longtail/base/error.h"
#include "longtail/base/file.h"

namespace longtail::report {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

std::string refusal(const Choices& choices) {
  try {
    options_of({"logs"}, choices);
  } catch (const base::UsageError& error) {
    return error.what();
  }
  return "taken";
}

TEST(ChoicesTest, NothingChosenIsTheReportOfThePaper) {
  const ReportOptions options = options_of({"a", "b"}, {});
  EXPECT_EQ(options.inputs, (std::vector<fs::path>{"a", "b"}));
  EXPECT_EQ(options.summary.at, At::kBest);
  EXPECT_EQ(options.summary.goal, Goal::kBalanced);
  EXPECT_EQ(options.summary.deviation, Deviation::kPopulation);
  EXPECT_EQ(options.read.select, Select::kAsLogged);
  EXPECT_FALSE(options.read.epochs);
  EXPECT_FALSE(options.against_paper);
  EXPECT_FALSE(options.summary.looks);
}

TEST(ChoicesTest, EveryWordHasItsMeaning) {
  const ReportOptions options = options_of({"a"}, {.baseline = "progressive",
                                                   .goal = "worst",
                                                   .deviation = "sample",
                                                   .at = "last",
                                                   .select = "tail",
                                                   .epochs = "200",
                                                   .against = "paper"});
  EXPECT_EQ(options.summary.baseline, "progressive");
  EXPECT_EQ(options.summary.goal, Goal::kWorst);
  EXPECT_EQ(options.summary.deviation, Deviation::kSample);
  EXPECT_EQ(options.summary.at, At::kLast);
  EXPECT_EQ(options.read.select, Select::kTail);
  EXPECT_EQ(options.read.epochs, 200);
  EXPECT_TRUE(options.against_paper);
  EXPECT_EQ(options_of({"a"}, {.select = "overall"}).read.select, Select::kOverall);
  EXPECT_EQ(options_of({"a"}, {.select = "balanced"}).read.select, Select::kBalanced);
  EXPECT_EQ(options_of({"a"}, {.select = "last"}).summary.at, At::kLast) << "the best epoch is the last";
  EXPECT_EQ(options_of({"a"}, {.epochs = "all"}).read.epochs, 0);
}

TEST(ChoicesTest, AWordThatIsNotThereIsRefusedWithThoseThatAre) {
  EXPECT_THAT(refusal({.at = "lats"}), AllOf(HasSubstr("best, last"), HasSubstr("did you mean `last`?")));
  EXPECT_THAT(refusal({.goal = "head"}), HasSubstr("balanced, overall, tail and worst"));
  EXPECT_THAT(refusal({.select = "head"}), HasSubstr("log, overall, balanced, tail, last"));
  EXPECT_THAT(refusal({.deviation = ""}), HasSubstr("population, sample"));
  EXPECT_THAT(refusal({.against = "field"}), HasSubstr("paper"));
  for (const char* epochs : {"many", "0", "-3", "1.5", "99999999999"})
    EXPECT_THAT(refusal({.epochs = epochs}), HasSubstr("a number or `all`")) << epochs;
}

TEST(ChoicesTest, TheFolderOfARaceIsReportedAsItsLooksDecided) {
  const fs::path folder = fs::path(testing::TempDir()) / ("choices" + std::to_string(::getpid()));
  base::make_folder(folder);
  EXPECT_FALSE(options_of({folder}, {}).summary.looks);
  base::write_atomically(folder / kRaceFile, "{}\n");
  const ReportOptions race = options_of({folder}, {});
  EXPECT_TRUE(race.summary.looks);
  EXPECT_EQ(race.summary.at, At::kLast);
  EXPECT_FALSE(options_of({folder, folder}, {}).summary.looks) << "a race and other runs are no race";
  fs::remove_all(folder);
}

}  // namespace
}  // namespace longtail::report
