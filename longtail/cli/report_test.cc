// report and compare as a person runs them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "longtail/base/test_paths.h"
#include "longtail/cli/testing.h"
#include "longtail/report/test_logs.h"

namespace longtail::cli {
namespace {

using nlohmann::json;
using report::test::Folder;
using report::test::make_log;
using testing::HasSubstr;

TEST(ReportCommandTest, PrintsTheAnswerAndWritesWhereItSays) {
  const Folder logs("cli_report");
  report::test::write_grid(logs, {100}, {1, 2, 3}, 5);
  const Outcome outcome = run_program({"report", logs.path().string(), "--tables-only"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(
      outcome.out,
      HasSubstr("Tail accuracy at ρ = 100: Progressive is above Uniform by 3.89 points (+3.65 to +4.13), "
                "above for 3 of 3 seeds."));
  EXPECT_THAT(outcome.out, HasSubstr("\nUse progressive. Balanced accuracy 43.1; "));
  EXPECT_TRUE(std::filesystem::exists(logs.path() / "report/tables/overall.tex"));
  EXPECT_FALSE(std::filesystem::exists(logs.path() / "report/index.html"));
}

TEST(ReportCommandTest, TheAnswerIsWhereTheHelpSaysAndAnInputIsNeverOverwritten) {
  EXPECT_THAT(run_program({"report", "--help"}).out, HasSubstr("The answer comes first, below the title: "));
  const Folder mine("cli_mine");
  const std::string csv = (mine.path() / "results.csv").string();
  const std::string_view text =
      "# mine\nrho,strategy,seed,overall,head,medium,tail\n100,uniform,1,50,60,40,20\n";
  base::write_atomically(csv, text);
  const Outcome outcome = run_program({"report", csv, "--tables-only", "--out", mine.path().string()});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("results.csv is what the report is made from"));
  EXPECT_EQ(base::read_text(csv), text);
}

TEST(ReportCommandTest, NamesComeFromAFileAndAWrongFileIsAUsageError) {
  const Folder logs("cli_names");
  report::test::write_grid(logs, {100}, {1, 2, 3}, 5);
  const std::string names = (logs.path() / "names.toml").string();
  base::write_atomically(names, std::string_view("\"Progressive\" = \"Slowly to balance\"\n"));
  const Outcome outcome = run_program({"report", logs.path().string(), "--tables-only", "--names", names});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("\nUse Slowly to balance. "));
  EXPECT_THAT(base::read_text(logs.path() / "report/tables/overall.tex"), HasSubstr("Slowly to balance"));
  base::write_atomically(names, std::string_view("Progressive (gamma=2) = \"Ours\"\n"));
  const Outcome wrong = run_program({"report", logs.path().string(), "--tables-only", "--names", names});
  EXPECT_EQ(wrong.code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("names.toml:1: "));
}

TEST(ReportCommandTest, JsonIsTheRecommendationAndTheFindingsAndNothingElseOnStandardOutput) {
  const Folder logs("cli_json");
  report::test::write_grid(logs, {10, 100}, {1, 2, 3}, 5);
  base::write_atomically(logs.path() / "broken.json", std::string_view("{"));
  for (const bool tables_only : {true, false}) {
    std::vector<std::string> words = {"report", logs.path().string(), "--json"};
    if (tables_only) words.push_back("--tables-only");
    const Outcome outcome = run_program(words);
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr("warning: "));
    EXPECT_THAT(outcome.err, HasSubstr("broken.json"));
    const json said = json::parse(outcome.out);  // throws on anything beside the one object
    EXPECT_EQ(said.size(), 2u);
    const json& answer = said.at("recommendation");
    EXPECT_EQ(answer.at("series"), "progressive");
    EXPECT_EQ(answer.at("goal"), "balanced");
    EXPECT_EQ(answer.at("condition"), "100");
    EXPECT_EQ(answer.at("other_conditions").size(), 1u);
    EXPECT_THAT(answer.at("sentence").get<std::string>(), testing::StartsWith("Use progressive. "));
    EXPECT_THAT(base::read_text(logs.path() / "report/summary.md"),
                HasSubstr(answer.at("sentence").get<std::string>()));
    std::set<std::string> metrics, verdicts;
    for (const json& finding : said.at("findings")) {
      std::set<std::string> keys;
      for (const auto& [key, value] : finding.items()) keys.insert(key);
      EXPECT_EQ(keys, (std::set<std::string>{"metric", "condition", "series", "baseline", "difference", "low",
                                             "high", "verdict"}));
      metrics.insert(finding.at("metric"));
      verdicts.insert(finding.at("verdict"));
      EXPECT_EQ(finding.at("baseline"), "uniform");
      if (!finding.at("low").is_null()) {
        EXPECT_LE(finding.at("low").get<double>(), finding.at("difference").get<double>());
        EXPECT_LE(finding.at("difference").get<double>(), finding.at("high").get<double>());
      }
    }
    EXPECT_EQ(metrics, (std::set<std::string>{"overall", "balanced", "head", "medium", "tail"}));
    EXPECT_TRUE(verdicts.contains("established"));
  }
}

TEST(ReportCommandTest, TheSeriesInJsonIsNullWhereNothingCanBeRecommended) {
  const Folder logs("cli_json_null");
  report::test::write_grid(logs, {100}, {1}, 5);
  const Outcome outcome =
      run_program({"report", logs.path().string(), "--json", "--tables-only", "--goal", "tail"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const json said = json::parse(outcome.out);
  EXPECT_TRUE(said.at("recommendation").at("series").is_null());
  EXPECT_EQ(said.at("recommendation").at("goal"), "tail");
  EXPECT_THAT(said.at("recommendation").at("sentence").get<std::string>(),
              testing::StartsWith("Nothing can be recommended. With one seed"));
  ASSERT_FALSE(said.at("findings").empty());
  for (const json& finding : said.at("findings")) {
    EXPECT_EQ(finding.at("verdict"), "cannot be told");
    EXPECT_TRUE(finding.at("low").is_null());
    EXPECT_TRUE(finding.at("difference").is_number());
  }
}

TEST(ReportCommandTest, ThePapersNumbersComeOutOfItsCsv) {
  const Folder out("cli_paper");
  const std::string csv = base::source_dir() + "/longtail/report/data/paper_per_seed.csv";
  const Outcome outcome =
      run_program({"report", csv, "--tables-only", "--out", out.path().string(), "--against", "paper"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("Progressive     57.6 ± 0.2*  44.1 ± 0.5*  40.0 ± 0.6*"));
  EXPECT_THAT(outcome.out, HasSubstr("within 0.00 points in every cell compared"));
}

TEST(ReportCommandTest, AFlatFolderOfSomeOfThePapersRunsIsComparedOnTheTerminalAndInMarkdown) {
  const Folder logs("cli_against");
  for (const char* strategy : {"uniform", "progressive"}) {
    for (std::int64_t seed : {42, 123}) {
      logs.add(std::string(strategy) + "-rho100-seed" + std::to_string(seed),
               make_log({strategy, 100, seed, 200, 100, strategy[0] == 'p' ? 4.0 : 0.0}));
    }
  }
  const Outcome outcome =
      run_program({"report", logs.path().string(), "--against", "paper", "--tables-only"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  const std::string summary = base::read_text(logs.path() / "report/summary.md");
  for (const std::string& words : {outcome.out, summary}) {
    EXPECT_THAT(words, HasSubstr("Against the paper: overall accuracy is within"));
    EXPECT_THAT(words,
                HasSubstr("Of the paper's 36 runs, 32 are missing here. ρ = 10: all; ρ = 50: all; ρ = 100: "
                          "Uniform (seed 456), Class-Balanced, Square-Root, Progressive (seed 456)."));
    EXPECT_THAT(words, HasSubstr("Ours beside the paper's published results (%), cell by cell."));
    EXPECT_THAT(words, HasSubstr("Progressive minus Uniform (percentage points), the paper's and ours."));
    EXPECT_THAT(words, HasSubstr("Tail: progressive is above uniform for every seed"));
    EXPECT_THAT(words, HasSubstr("holds so far"));
  }
  EXPECT_THAT(outcome.out, HasSubstr("Written: " + (logs.path() / "report/summary.md").string()));
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
  const Outcome idle = run_program({"report", empty.path().string(), "--at", "last", "--select", "tail"});
  EXPECT_EQ(idle.code, 2);
  EXPECT_THAT(idle.err, HasSubstr("--select tail would do nothing"));
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
