// report and compare as a person runs them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "longtail/cli/testing.h"
#include "longtail/report/test_logs.h"

namespace longtail::cli {
namespace {

using report::test::Folder;
using report::test::make_log;
using testing::HasSubstr;
using testing::Not;

TEST(ReportCommandTest, PrintsTheAnswerAndWritesWhereItSays) {
  const Folder logs("cli_report");
  report::test::write_grid(logs, {100}, {1, 2, 3}, 5);
  const Outcome outcome = run_program({"report", logs.path().string(), "--tables-only"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out,
              HasSubstr("Tail accuracy at ρ = 100: Progressive is above Uniform for 3 of 3 seeds, +"));
  EXPECT_THAT(outcome.out, HasSubstr("No p-value is shown below 6 seeds"));
  EXPECT_TRUE(std::filesystem::exists(logs.path() / "report/tables/overall.tex"));
  EXPECT_FALSE(std::filesystem::exists(logs.path() / "report/index.html"));
}

TEST(ReportCommandTest, ThePapersNumbersComeOutOfItsCsv) {
  const Folder out("cli_paper");
  const std::string csv = LONGTAIL_SOURCE_DIR "/longtail/report/data/paper_per_seed.csv";
  const Outcome outcome =
      run_program({"report", csv, "--tables-only", "--out", out.path().string(), "--against", "paper"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("Progressive     57.6 ± 0.2*  44.1 ± 0.5*  40.0 ± 0.6*"));
  EXPECT_THAT(outcome.out, HasSubstr("within 0.00 points in every cell compared"));
}

TEST(ReportCommandTest, TheStandardDeviationAndTheEpochCanBeChosen) {
  const Folder logs("cli_choices");
  report::test::write_grid(logs, {100}, {1, 2, 3}, 5);
  const std::string folder = logs.path().string();
  const auto said = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"report", folder, "--tables-only"});
    return run_program(more).out;
  };
  EXPECT_THAT(said({"--std", "sample"}), HasSubstr("those of a sample"));
  EXPECT_THAT(said({"--at", "last"}), HasSubstr("last epoch"));
  EXPECT_THAT(said({"--baseline", "progressive"}), HasSubstr("Uniform is below Progressive"));
}

TEST(ReportCommandTest, WarningsNameTheFileAndTheRestIsReported) {
  const Folder logs("cli_warnings");
  report::test::write_grid(logs, {100}, {1}, 5);
  base::write_atomically(logs.path() / "half.json", "{");
  const Outcome outcome = run_program({"report", logs.path().string(), "--tables-only"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.out, HasSubstr("half.json"));
  EXPECT_THAT(outcome.out, HasSubstr("Uniform"));
}

TEST(ReportCommandTest, WrongUsageIsTwoAndNothingToReportIsOne) {
  const Folder empty("cli_empty");
  EXPECT_EQ(run_program({"report"}).code, 2);
  EXPECT_EQ(run_program({"report", "/nowhere/at/all"}).code, 2);
  EXPECT_EQ(run_program({"report", empty.path().string(), "--epochs", "many"}).code, 2);
  const Outcome nothing = run_program({"report", empty.path().string()});
  EXPECT_EQ(nothing.code, 1);
  EXPECT_THAT(nothing.err, HasSubstr("no run to report"));
}

TEST(CompareCommandTest, ShowsTwoRunsSideBySide) {
  const Folder logs("cli_compare");
  logs.add("a", make_log({"uniform", 100, 1, 5}));
  logs.add("b", make_log({"progressive", 100, 1, 5, 100, 4}));
  const Outcome outcome =
      run_program({"compare", (logs.path() / "a.json").string(), (logs.path() / "b.json").string()});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("A: uniform"));
  EXPECT_THAT(outcome.out, HasSubstr("best: tail"));
  EXPECT_EQ(run_program({"compare", (logs.path() / "a.json").string()}).code, 2);
}

}  // namespace
}  // namespace longtail::cli
