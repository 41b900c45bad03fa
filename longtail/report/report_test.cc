#include "longtail/report/report.h"
#include "longtail/base/test_paths.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>

#include "longtail/base/error.h"
#include "longtail/base/file.h"
#include "longtail/base/gnuplot.h"
#include "longtail/base/text.h"
#include "longtail/report/archive.h"
#include "longtail/report/compare.h"
#include "longtail/report/figures.h"
#include "longtail/report/tables.h"
#include "longtail/report/test_logs.h"
#include "longtail/train/config.h"

namespace longtail::report {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsSupersetOf;

ReportOptions options_for(const test::Folder& logs, const test::Folder& out) {
  ReportOptions options;
  options.inputs = {logs.path()};
  options.out = out.path();
  options.against_paper = true;
  return options;
}

std::vector<std::string> ids(const Report& report) {
  std::vector<std::string> all;
  for (const Table& table : report.tables) all.push_back(table.id);
  return all;
}

TEST(TableTest, NumbersNeverReadMinusZeroAndMissingOnesReadNa) {
  EXPECT_EQ(fixed(-0.001, 2, true), "+0.00");
  EXPECT_EQ(fixed(-0.004, 1), "0.0");
  EXPECT_EQ(fixed(2.7233, 2, true), "+2.72");
  EXPECT_EQ(printed(number(kMissing, 1)), "n/a");
  EXPECT_EQ(printed(number(13.86, 0.047, 1)), "13.9 ± 0.0");
}

TEST(TableTest, WordsAreEscapedInEveryForm) {
  EXPECT_EQ(latex_escape("a_b & 50% <ρ>"), "a\\_b \\& 50\\% $<$$\\rho$$>$");
  EXPECT_EQ(html_escape("<b>\"&\"</b>"), "&lt;b&gt;&quot;&amp;&quot;&lt;/b&gt;");
  EXPECT_EQ(csv_escape("a,\"b\""), "\"a,\"\"b\"\"\"");
}

TEST(TableTest, ACsvGivesADeviationAColumnOfItsOwn) {
  Table table{.id = "t", .caption = "c"};
  table.columns = {{"Strategy", true}, {"Overall"}};
  table.rows = {{text("uniform"), number(39.74, 0.4, 1)}, {text("other"), number(kMissing, 1)}};
  EXPECT_EQ(to_csv(table), "Strategy,Overall,Overall std\nuniform,39.7400,0.4000\nother,,\n");
}

TEST(ReportTest, LogsGiveEveryTableOfThePaper) {
  const test::Folder logs("all_tables_in"), out("all_tables_out");
  test::write_grid(logs, {10, 50, 100}, {42, 123, 456}, 10);
  const Report report = make_report(options_for(logs, out));
  EXPECT_THAT(ids(report),
              IsSupersetOf({"dataset", "group_counts", "overall", "groups_rho10", "groups_rho50",
                            "groups_rho100", "groups_std_rho100", "per_seed_overall", "per_seed_groups_rho50",
                            "paired_progressive", "best_final", "training", "bias_variance"}));
}

TEST(NotesTest, KnowParagraphsListsHeadingsAndCodeAndQuoteTheRest) {
  EXPECT_EQ(
      notes_html("# A & B\n\none\ntwo\n\n- x\n* <y>\n```\n  a <b>\n# c\n```\nend"),
      "<h3>A &amp; B</h3>\n<p>one\ntwo\n</p>\n<ul class=\"plain\"><li>x</li>\n<li>&lt;y&gt;</li>\n</ul>\n"
      "<pre>  a &lt;b&gt;\n# c\n</pre>\n<p>end\n</p>\n");
  EXPECT_EQ(notes_html(""), "");
  EXPECT_EQ(notes_html("###"), "<h3></h3>\n");
}

TEST(ReportTest, AFolderOfPicturesIsCalledByItsStudyOrByTheLastPartOfItsPath) {
  Report report;
  auto log = std::make_shared<train::RunLog>();
  report.results.runs.emplace_back().log = log;
  log->dataset = "folder:pics/clean/";
  EXPECT_EQ(report_title(report), "Sampling strategies on clean");
  report.notes = {{"birds", "", ""}};
  EXPECT_EQ(report_title(report), "birds: sampling strategies");
  log->dataset = "cifar100";
  EXPECT_EQ(report_title(report), "birds: sampling strategies on CIFAR-100-LT");
}

TEST(ArchiveTest, LeavesOutALogThatChangedAndAnArchiveThatIsTooLargeAndSaysSo) {
  const test::Folder logs("archive");
  test::write_grid(logs, {100}, {42}, 3);
  const Results results = read_results(std::vector{logs.path()});
  const Archive whole = pack_logs(results);
  EXPECT_EQ(whole.logs, 4);
  EXPECT_EQ(whole.remark, "");
  EXPECT_EQ(pack_logs(results).packed, whole.packed) << "the same logs, the same bytes";
  const Archive large = pack_logs(results, 1000);
  EXPECT_TRUE(large.packed.empty());
  EXPECT_THAT(large.remark, HasSubstr("The 4 logs are not in this page: packed they have"));
  logs.add("uniform_100_42", test::make_log({.seed = 7, .epochs = 3}));
  const Archive fewer = pack_logs(results);
  EXPECT_EQ(fewer.logs, 3);
  EXPECT_THAT(fewer.remark, HasSubstr("1 log was changed while the report was made and is left out."));
}

TEST(ArchiveTest, Base64IsThatOfTheRfc) {
  for (const auto& [plain, coded] : {std::pair("", ""), std::pair("f", "Zg=="), std::pair("fo", "Zm8="),
                                     std::pair("foo", "Zm9v"), std::pair("foobar", "Zm9vYmFy")}) {
    EXPECT_EQ(base64(plain), coded);
  }
  EXPECT_EQ(base64("\xff\xfe"), "//4=");
}

TEST(ReportTest, TheDataSetTablesAreThePapers) {
  const test::Folder logs("data_tables");
  test::write_grid(logs, {10, 50, 100}, {42}, 3);
  const Results results = read_results(std::vector{logs.path()});
  const auto cells = [](const Table& table, std::size_t row) {
    std::vector<std::string> words;
    for (std::size_t c = 1; c < table.columns.size(); ++c) words.push_back(printed(table.rows[row][c]));
    return words;
  };
  const Table dataset = *dataset_table(results);
  EXPECT_THAT(cells(dataset, 0), testing::ElementsAre("19,572", "12,607", "10,847"));
  EXPECT_THAT(cells(dataset, 2), testing::ElementsAre("500", "500", "500"));
  EXPECT_THAT(cells(dataset, 3), testing::ElementsAre("49", "9", "5"));
  EXPECT_THAT(cells(dataset, 4), testing::ElementsAre("158", "71", "50"));
  const Table groups = *group_counts_table(results);
  EXPECT_THAT(cells(groups, 0), testing::ElementsAre("69", "41", "35"));
  EXPECT_THAT(cells(groups, 1), testing::ElementsAre("31", "40", "34"));
  EXPECT_THAT(cells(groups, 2), testing::ElementsAre("0", "19", "31"));
}

TEST(ReportTest, TheBiasVarianceTableSaysWhatThePaperSays) {
  const test::Folder logs("bias_variance");
  test::write_grid(logs, {100}, {42}, 10);
  const Table table = *bias_variance_table(read_results(std::vector{logs.path()}));
  std::vector<std::vector<std::string>> words;
  for (const auto& row : table.rows)
    words.push_back({printed(row[0]), printed(row[1]), printed(row[2]), printed(row[3]), printed(row[4])});
  const std::vector<std::vector<std::string>> expected = {
      {"Uniform", "None", "Low", "Low", "Unbiased; neglects tail"},
      {"Class-Balanced", "High", "Low", "High", "Equal class weight; overfits tail"},
      {"Square-Root", "Medium", "Low", "Medium", "Intermediate compromise"},
      {"Progressive", "None → High", "Low", "Low → High", "Adaptive schedule"}};
  EXPECT_EQ(words, expected);
}

TEST(ReportTest, EverythingIsWrittenAndEveryLatexTableCompiles) {
  const test::Folder logs("write_in"), out("write_out");
  test::write_grid(logs, {10, 100}, {42, 123, 456}, 10);
  const ReportOptions options = options_for(logs, out);
  const Report report = make_report(options);
  const auto remarks = write_report(report, options);
  for (const Table& table : report.tables) {
    for (const char* ending : {".md", ".tex", ".csv"}) {
      EXPECT_TRUE(std::filesystem::exists(out.path() / "tables" / (table.id + ending))) << table.id << ending;
    }
  }
  EXPECT_TRUE(std::filesystem::exists(out.path() / "index.html"));
  if (base::has_gnuplot()) {
    EXPECT_TRUE(remarks.empty());
    for (const char* name :
         {"overall", "groups_rho10", "groups_rho100", "effect_of_rho", "paired", "convergence_rho100",
          "group_curves_rho10", "per_class_rho100", "schedules", "class_distribution"}) {
      for (const char* ending : {".svg", ".pdf", ".png"}) {
        EXPECT_GT(std::filesystem::file_size(out.path() / "figures" / (std::string(name) + ending)), 3000u)
            << name << ending;
      }
    }
  }
  if (!test::has_latex()) GTEST_SKIP() << test::kNoLatex;
  EXPECT_EQ(test::latex_complaint(out.path() / "tables"), "");
}

TEST(ReportTest, ACsvGivesOnlyWhatACsvCanFill) {
  const test::Folder out("csv_out");
  ReportOptions options;
  options.inputs = {std::filesystem::path(base::source_dir()) / "longtail/report/data/paper_per_seed.csv"};
  options.out = out.path();
  const Report report = make_report(options);
  EXPECT_THAT(ids(report), testing::Not(Contains("dataset")));
  EXPECT_THAT(ids(report), testing::Not(Contains("best_final")));
  write_report(report, options);
  EXPECT_FALSE(std::filesystem::exists(out.path() / "curves.csv"));
  EXPECT_TRUE(std::filesystem::exists(out.path() / "index.html"));
}

TEST(ReportTest, AGroupWithoutAValueInTheCsvIsSaidInTheFigure) {
  const test::Folder in("no_tail_in"), out("no_tail_out");
  base::write_atomically(
      in.path() / "mine.csv",
      std::string_view("rho,strategy,seed,overall,head,medium,tail\n10,uniform,1,50,60,40,\n"
                       "20,uniform,1,45,58,32,\n10,square_root,1,51,60,42,\n"
                       "20,square_root,1,46,58,34,\n"));
  ReportOptions options;
  options.inputs = {in.path() / "mine.csv"};
  options.out = out.path();
  const auto remarks = write_report(make_report(options), options);
  if (!base::has_gnuplot()) GTEST_SKIP() << "gnuplot is not installed";
  EXPECT_THAT(remarks, testing::IsEmpty());
  EXPECT_THAT(base::read_text(out.path() / "figures/effect_of_rho.svg"), HasSubstr("no value in the CSV"));
}

TEST(ReportTest, WhatAnEarlierReportWroteDoesNotStayBesideANewOne) {
  const test::Folder logs("stale_in"), out("stale_out");
  test::write_grid(logs, {100}, {1, 2}, 5);
  ReportOptions options = options_for(logs, out);
  write_report(make_report(options), options);
  base::write_atomically(out.path() / "tables/mine.md", std::string_view("my own"));
  EXPECT_TRUE(std::filesystem::exists(out.path() / "tables/paired_progressive.md"));
  for (const auto& entry : std::filesystem::directory_iterator(logs.path())) {
    if (entry.path().filename().string().find("progressive") != std::string::npos)
      std::filesystem::remove(entry.path());
  }
  options.tables_only = true;
  write_report(make_report(options), options);
  EXPECT_FALSE(std::filesystem::exists(out.path() / "tables/paired_progressive.md"));
  EXPECT_FALSE(std::filesystem::exists(out.path() / "index.html"));
  EXPECT_TRUE(std::filesystem::exists(out.path() / "tables/all.tex"));
  EXPECT_TRUE(std::filesystem::exists(out.path() / "tables/mine.md")) << "not ours to remove";
}

TEST(ReportTest, AHighestMeanThatIsSharedIsSaidToBe) {
  const test::Folder in("tie_in"), out("tie_out");
  base::write_atomically(
      in.path() / "mine.csv",
      std::string_view("rho,strategy,seed,overall,head,medium,tail\n10,uniform,1,50,60,40,0\n"
                       "10,square_root,1,51,60,42,0\n10,progressive,1,51,60,42,0\n"));
  ReportOptions options;
  options.inputs = {in.path() / "mine.csv"};
  options.out = out.path();
  const Report report = make_report(options);
  EXPECT_THAT(report.summary.leads,
              testing::ElementsAre(
                  "Nothing can be recommended. With one seed there is no telling a difference from the "
                  "spread between seeds: run at least three seeds. So far square-root and progressive "
                  "share the highest overall accuracy (51.0)."));
  for (const Table& table : report.tables) {
    if (table.id != "overall") continue;
    for (const auto& row : table.rows) EXPECT_FALSE(row.back().bold);
  }
}

TEST(ReportTest, TheSameLogsGiveTheSamePage) {
  const test::Folder logs("same_in"), out("same_out");
  test::write_grid(logs, {100}, {1, 2, 3, 4, 5, 6}, 5);
  const ReportOptions options = options_for(logs, out);
  write_report(make_report(options), options);
  const std::string first = base::read_text(out.path() / "index.html");
  write_report(make_report(options), options);
  EXPECT_EQ(first, base::read_text(out.path() / "index.html"));
}

TEST(AgainstTest, AnotherProtocolIsNotComparedAndTheReportSaysInWhat) {
  const test::Folder logs("protocol");
  test::write_grid(logs, {100}, {1}, 10);
  const Results results = read_results(std::vector{logs.path()});
  const Against paper = against_paper(results, {});
  EXPECT_TRUE(paper.tables.empty());
  EXPECT_THAT(paper.refusals, Contains(HasSubstr("epochs (200 there, 10 here)")));
  const Against field = against_field(results, {});
  EXPECT_TRUE(field.tables.empty());
  EXPECT_THAT(field.refusals, Contains(testing::AllOf(HasSubstr("shortcut (pad there, projection here)"),
                                                      HasSubstr("LDAM-DRW"))));
}

TEST(AgainstTest, TheSameProtocolIsComparedWithTheFieldsBaselines) {
  const test::Folder logs("pad");
  train::RunLog log = test::make_log({"uniform", 100, 1, 200});
  log.config["shortcut"] = "pad";
  logs.add("a", log);
  const Against field = against_field(read_results(std::vector{logs.path()}), {});
  ASSERT_EQ(field.tables.size(), 1u);
  EXPECT_EQ(field.tables[0].rows.size(), 4u);
  EXPECT_EQ(printed(field.tables[0].rows[0][2]), "38.32");
  EXPECT_THAT(field.tables[0].rows[0][5].text, HasSubstr("Cao et al."));
}

// The rows of a data block of a figure.
std::string block(const NamedFigure& figure, const std::string& name) {
  const std::string& body = figure.figure.body();
  const std::size_t start = body.find("$" + name + " << END_OF_BLOCK\n");
  if (start == std::string::npos) return "";
  const std::size_t from = body.find('\n', start) + 1;
  return body.substr(from, body.find("END_OF_BLOCK", from) - from);
}

std::map<std::string, NamedFigure> figures_of(const test::Folder& logs) {
  const Results results = read_results(std::vector{logs.path()});
  std::map<std::string, NamedFigure> all;
  for (const NamedFigure& figure : make_figures(results, summarise(results, {})))
    all.emplace(figure.name, figure);
  return all;
}

TEST(FiguresTest, TheLineOfFewClassesGoesThroughItsPointsAndTheMeanOfManyIsSaid) {
  const test::Folder few("few_classes"), many("many_classes");
  test::write_grid(few, {100}, {42, 123}, 5, 3);
  test::write_grid(many, {100}, {42, 123}, 5, 100);
  const NamedFigure three = figures_of(few).at("per_class_rho100");
  EXPECT_EQ(std::ranges::count(block(three, "class0"), '\n'), 3);
  EXPECT_EQ(block(three, "trend0"), block(three, "class0"));
  EXPECT_THAT(three.figure.body(), testing::Not(HasSubstr("lines: mean of")));
  const NamedFigure hundred = figures_of(many).at("per_class_rho100");
  EXPECT_NE(block(hundred, "trend0"), block(hundred, "class0"));
  EXPECT_THAT(hundred.figure.body(), HasSubstr("lines: mean of 17 classes"));
  EXPECT_THAT(figures_of(few).at("class_distribution").figure.body(), HasSubstr("set xtics 1, 1\n"));
}

TEST(FiguresTest, ThePairedFigureNamesTheBaselineAndHasOneScale) {
  const test::Folder logs("paired_figure");
  test::write_grid(logs, {100}, {42, 123, 456}, 5);
  const std::string body = figures_of(logs).at("paired").figure.body();
  EXPECT_THAT(body, HasSubstr("Difference from Uniform by seed, percentage points"));
  std::size_t ranges = 0;
  for (std::size_t at = body.find("set xrange"); at != std::string::npos;
       at = body.find("set xrange", at + 1))
    ++ranges;
  EXPECT_EQ(ranges, 1u);
  EXPECT_THAT(body, HasSubstr("set format x '%h'")) << "a space before the number moves it off its tick";
}

TEST(FiguresTest, ErrorBarsAndBandsStayBetweenNoughtAndAHundredPercent) {
  const test::Folder logs("error_bars");
  for (const auto& [seed, low] : {std::pair(1, 0.0), std::pair(2, 0.0), std::pair(3, 40.0)}) {
    train::RunLog log = test::make_log({.strategy = "uniform", .seed = seed, .epochs = 1, .classes = 2});
    for (train::FullResult* result : {&log.best, &log.last}) {
      result->per_class = {low, low};
      result->balanced = low;
      result->accuracy.overall = result->accuracy.head = low;
      (std::isnan(result->accuracy.tail) ? result->accuracy.medium : result->accuracy.tail) = low;
    }
    log.test_acc = log.head_acc = {low};
    (std::isnan(log.tail_acc[0]) ? log.medium_acc : log.tail_acc) = {low};
    logs.add(std::to_string(seed), log);
  }
  const auto figures = figures_of(logs);
  const std::vector<std::string> bar = base::split(block(figures.at("overall"), "bar0"), ' ');
  ASSERT_EQ(bar.size(), 5u);
  EXPECT_LT(*base::parse_real(bar[1]), 14);
  EXPECT_EQ(bar[3], "0") << "13.3 - 18.9 is below nought";
  const std::vector<std::string> band =
      base::split(block(figures.at("convergence_rho100"), "test_acc0"), ' ');
  ASSERT_EQ(band.size(), 4u);
  EXPECT_EQ(band[2], "0");
}

TEST(FiguresTest, TheTrainingLossIsOnALogarithmicAxis) {
  const test::Folder logs("loss_axis");
  test::write_grid(logs, {100}, {42, 123}, 8);
  const std::string body = figures_of(logs).at("convergence_rho100").figure.body();
  const std::size_t title = body.find("set title 'Training loss'");
  ASSERT_NE(title, std::string::npos);
  EXPECT_EQ(body.find("\nset logscale y", title), body.find("logscale y", title) - 5);
  EXPECT_THAT(body.substr(0, title), testing::Not(HasSubstr("\nset logscale y")));
}

TEST(FiguresTest, EverySeriesLooksDifferentAndTheFourStrategiesAlwaysTheSame) {
  Results results;
  for (const char* strategy :
       {"uniform", "class_balanced", "square_root", "progressive", "progressive:gamma=2", "power:q=0.25"})
    results.series.emplace_back(strategy);
  results.series.emplace_back("uniform", "lr=0.05");
  const std::vector<Look> all = looks(results);
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      EXPECT_NE(std::tie(all[i].colour, all[i].point), std::tie(all[j].colour, all[j].point))
          << results.series[i].text() << results.series[j].text();
    }
  }
  Results alone;
  alone.series = {Series("progressive")};
  EXPECT_EQ(looks(alone)[0].colour, all[3].colour);
  EXPECT_EQ(looks(alone)[0].point, all[3].point);
}

TEST(CompareTest, TwoRunsAreShownSideBySideWithWhatDiffersAndWhatMoved) {
  const test::Folder logs("compare");
  logs.add("a", test::make_log({"uniform", 100, 1, 10}));
  logs.add("b", test::make_log({"progressive", 100, 1, 10, 100, 4}));
  const std::string words = compare_runs({logs.path() / "a.json", logs.path() / "b.json"});
  EXPECT_THAT(words, HasSubstr("A: uniform"));
  EXPECT_THAT(words, HasSubstr("B had the same training images and the same initial weights as A."));
  EXPECT_THAT(words, HasSubstr("gained: thing_"));
  const std::size_t tail = words.find("best: tail");
  EXPECT_THAT(words.substr(tail, 60), HasSubstr("(+"));
}

TEST(CompareTest, EveryRunHasALetterOfItsOwn) {
  const test::Folder logs("compare_letters");
  logs.add("a", test::make_log({"uniform", 100, 1, 10}));
  logs.add("b", test::make_log({"progressive", 100, 1, 10}));
  std::vector<std::filesystem::path> paths(53, logs.path() / "a.json");
  paths[26] = logs.path() / "b.json";
  const std::string words = compare_runs(paths);
  EXPECT_THAT(words, HasSubstr("\nZ: uniform"));
  EXPECT_THAT(words, HasSubstr("\nAA: progressive"));
  EXPECT_THAT(words, HasSubstr("\nAZ: uniform"));
  EXPECT_THAT(words, HasSubstr("\nBA: uniform"));
  EXPECT_THAT(words, testing::Not(HasSubstr("\nA: progressive")));
  EXPECT_THAT(words, HasSubstr("AA had the same training images"));
}

TEST(CompareTest, AClassThatMovedByLessThanHalfAPointIsNotListed) {
  const test::Folder logs("compare_little");
  train::RunLog a = test::make_log({"uniform", 100, 1, 10}), b = a;
  b.best.per_class[3] += 0.4;
  b.best.per_class[4] -= 0.4;  // the mean stays
  logs.add("a", a);
  logs.add("b", b);
  const std::string same = compare_runs({logs.path() / "a.json", logs.path() / "b.json"});
  EXPECT_THAT(same, testing::Not(HasSubstr("gained:")));
  EXPECT_THAT(same, testing::Not(HasSubstr("lost:")));
  b.best.per_class[5] += 7;
  b.best.per_class[6] -= 7;
  logs.add("b", b);
  const std::string moved = compare_runs({logs.path() / "a.json", logs.path() / "b.json"});
  EXPECT_THAT(moved, HasSubstr("  gained: thing_5 +7 (n = "));
  EXPECT_THAT(moved, testing::ContainsRegex("  lost:   thing_6 .7 .n = "));
  EXPECT_THAT(moved.substr(moved.find("gained:")), testing::Not(HasSubstr("thing_3")));
}

TEST(CompareTest, AClassWithoutTestImagesIsNotAmongThoseThatMoved) {
  const test::Folder logs("compare_nan");
  train::RunLog a = test::make_log({"uniform", 100, 1, 10}), b = a;
  for (const std::size_t none : {0u, 20u, 50u, 99u})
    a.best.per_class[none] = b.best.per_class[none] = kMissing;
  b.best.per_class[5] += 7;
  b.best.per_class[60] += 3;
  b.best.per_class[6] -= 7;
  b.best.per_class[61] -= 3;
  logs.add("a", a);
  logs.add("b", b);
  const std::string moved = compare_runs({logs.path() / "a.json", logs.path() / "b.json"});
  EXPECT_THAT(moved, testing::ContainsRegex("  gained: thing_5 .7 .n = [0-9]+., thing_60 .3 .n = [0-9]+.\n"));
  EXPECT_THAT(moved, testing::ContainsRegex("  lost:   thing_6 .7 .n = [0-9]+., thing_61 .3 .n = [0-9]+.\n"));
}

TEST(ReportTest, TheLastEpochOfACsvIsRefusedAndBesideLogsWarnedOf) {
  const test::Folder in("last_csv");
  base::write_atomically(
      in.path() / "mine.csv",
      std::string_view("rho,strategy,seed,overall,head,medium,tail\n100,mine,1,50,60,40,20\n"));
  ReportOptions options;
  options.inputs = {in.path() / "mine.csv"};
  EXPECT_NO_THROW(make_report(options));
  options.summary.at = At::kLast;
  EXPECT_THROW(make_report(options), base::UsageError);
  in.add("log", test::make_log({"uniform", 100, 1, 10}));
  options.inputs.push_back(in.path() / "log.json");
  EXPECT_THAT(make_report(options).results.warnings, Contains(HasSubstr("1 of 2 results are from a CSV")));
}

TEST(ReportTest, TrainingsAreThoseOfTheSeriesThatAreFinished) {
  const test::Folder logs("trainings_live");
  const auto add = [&](const std::string& strategy, const std::string& rebalance, bool finished) {
    train::RunConfig config;
    config.strategy = strategy;
    config.rebalance = rebalance;
    config.epochs = finished ? 10 : 20;
    train::RunLog log = test::make_log({strategy, 100, 1, 10});
    log.config = train::config_map(config);
    log.finished = finished;
    logs.add(strategy + "_" + rebalance, log);
  };
  add("uniform", "none", false);
  add("square_root", "none", true);
  add("progressive", "none", true);
  add("progressive", "crt", true);
  ReportOptions options;
  options.inputs = {logs.path()};
  options.read.unfinished = true;
  const Report report = make_report(options);
  ASSERT_EQ(report.under_way.size(), 1u);
  const Condition condition = report.results.conditions.at(0);
  ASSERT_EQ(report.results.series_in(condition).size(), 3u);
  const std::vector<int>& of = report.results.trainings.at(condition);
  ASSERT_EQ(of.size(), 3u);
  EXPECT_NE(of[0], of[1]);
  EXPECT_EQ(of[1], of[2]);
}

}  // namespace
}  // namespace longtail::report
