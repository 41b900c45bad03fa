// Names that want to be more than names, through everything a report is: nothing of them is run, and every
// output stays what it is. The page has its turn in a browser (tests/page).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "longtail/base/error.h"
#include "longtail/base/gnuplot.h"
#include "longtail/base/hostile_names.h"
#include "longtail/base/quote.h"
#include "longtail/base/text.h"
#include "longtail/report/figures.h"
#include "longtail/report/report.h"
#include "longtail/report/tables.h"
#include "longtail/report/test_logs.h"

namespace longtail::report {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

// The current folder while it lives: where a name that got its way would leave PWNED.
class Inside {
 public:
  explicit Inside(const fs::path& folder) : before_(fs::current_path()) { fs::current_path(folder); }
  ~Inside() { fs::current_path(before_); }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;

 private:
  fs::path before_;
};

// Runs whose strategies, losses, data sets and classes have hostile names, also those that a log may not
// have: as if the refusal at reading had failed.
Report hostile_report() {
  std::vector<RunResult> runs;
  const std::vector<std::string> names = base::hostile_names();
  for (std::size_t i = 0; i < names.size(); ++i) {
    for (const std::int64_t seed : {1, 2}) {
      auto log = std::make_shared<train::RunLog>(
          test::make_log({.strategy = "uniform", .seed = seed, .epochs = 6, .classes = 10}));
      log->strategy = names[i];
      log->dataset = i % 2 == 0 ? "cifar100" : "x' \"<script>\n\\";
      log->class_names[0] = names[i];
      RunResult run;
      run.source = names[i];
      run.strategy = names[i];
      run.rho = log->rho;
      run.seed = seed;
      run.best = {50, 60, 50, 40};
      run.last = run.best;
      run.config = log->config;
      run.config["dataset"] = log->dataset;
      run.config["loss"] = i % 3 == 0 ? "cross_entropy" : names[i];
      run.log = std::move(log);
      runs.push_back(std::move(run));
    }
  }
  Report report;
  report.results = detail::arrange(std::move(runs), names, {});
  report.summary = summarise(report.results, {});
  report.tables = all_tables(report.results, report.summary);
  return report;
}

TEST(HostileNames, ALogIsRefusedIfAnyTextInItHasAControlCharacter) {
  const nlohmann::json good = train::to_json(test::make_log({.epochs = 6, .classes = 10}));
  ASSERT_NO_THROW(train::from_json(good));
  int refused = 0;
  for (const std::string& name : base::hostile_names()) {
    for (const char* place :
         {"/strategy", "/dataset", "/config/loss", "/class_names/3", "/fingerprint/engine"}) {
      nlohmann::json log = good;
      log[nlohmann::json::json_pointer(place)] = name;
      if (base::is_plain(name)) continue;
      ++refused;
      try {
        train::from_json(log);
        ADD_FAILURE() << place << " was taken: " << base::quote::terminal(name);
      } catch (const base::Error& error) {
        EXPECT_TRUE(base::is_plain(error.what())) << base::quote::terminal(error.what());
      }
    }
    nlohmann::json log = good;
    log["config"][name] = 1;
    if (!base::is_plain(name)) {
      EXPECT_THROW(train::from_json(log), base::Error);
    }
  }
  EXPECT_GT(refused, 50);
}

TEST(HostileNames, FiguresOfThemRunNothing) {
  if (!base::has_gnuplot()) GTEST_SKIP() << "gnuplot is not installed";
  const test::Folder folder("hostile_figures");
  const Inside inside(folder.path());
  const Report report = hostile_report();
  for (const NamedFigure& named : make_figures(report.results, report.summary)) {
    named.figure.write(folder.path() / (named.name + ".svg"));
    const std::string svg = base::read_text(folder.path() / (named.name + ".svg"));
    for (const char* element : {"<script", "<img", "<svg onload", "<a ", "<foreignObject"}) {
      EXPECT_THAT(svg, Not(HasSubstr(element))) << named.name;
    }
  }
  EXPECT_FALSE(fs::exists("PWNED"));
}

TEST(HostileNames, LatexTablesOfThemRunNothingEvenWhereLatexMayRunCommands) {
  if (!test::has_latex()) GTEST_SKIP() << test::kNoLatex;
  const test::Folder folder("hostile_latex");
  const Inside inside(folder.path());
  const Report report = hostile_report();
  for (const Table& table : report.tables) base::write_atomically(table.id + ".tex", to_latex(table));
  base::write_atomically("all.tex", latex_document(report.tables));
  // Letters that the font lacks are complaints; a PDF comes out all the same.
  const int ignored = std::system("pdflatex -shell-escape -interaction=nonstopmode all.tex >log.txt 2>&1");
  static_cast<void>(ignored);
  EXPECT_TRUE(fs::exists("all.pdf"));
  EXPECT_FALSE(fs::exists("PWNED"));
  EXPECT_THAT(base::read_text("log.txt"), Not(HasSubstr("Undefined control sequence")));
}

TEST(HostileNames, CsvFilesOfThemKeepTheirColumnsAndHaveNoFormula) {
  const Report report = hostile_report();
  std::vector<std::string> files = {results_csv(report.results, At::kBest), curves_csv(report.results, {})};
  for (const Table& table : report.tables) files.push_back(to_csv(table));
  for (const std::string& file : files) {
    const std::vector<std::string> lines = base::split(base::trim(file), '\n');
    const std::size_t columns = base::csv_cells(lines[0]).size();
    for (const std::string& line : lines) {
      EXPECT_EQ(base::csv_cells(line).size(), columns) << line;
      for (std::string cell : base::split(line, ',')) {
        if (cell.starts_with('"')) cell.erase(0, 1);
        const bool formula =
            !cell.empty() && std::string_view("=+-@").find(cell[0]) != std::string_view::npos;
        EXPECT_TRUE(!formula || base::parse_real(cell)) << line;
      }
    }
  }
}

TEST(HostileNames, AResultsCsvWithThemIsReadBackAsItWasWritten) {
  const Report report = hostile_report();
  std::vector<std::string> warnings;
  const std::string text = results_csv(report.results, At::kBest);
  const std::vector<report::RunResult> runs = read_csv(text, "results.csv", warnings);
  EXPECT_EQ(runs.size(), report.results.runs.size()) << (warnings.empty() ? "" : warnings[0]);
  warnings.clear();
  const std::string header = "rho,strategy,seed,overall,head,medium,tail\n";
  EXPECT_TRUE(read_csv(header + "100,a\x1b[2J,1,50,50,50,50\n", "x.csv", warnings).empty());
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_TRUE(base::is_plain(warnings[0]));
}

TEST(HostileNames, TerminalAndMarkdownShowThemAsText) {
  const Report report = hostile_report();
  const std::string words = to_terminal(report);
  EXPECT_EQ(base::quote::terminal(words), words);
  for (const Table& table : report.tables) {
    const std::string markdown = to_markdown(table);
    EXPECT_THAT(markdown, Not(HasSubstr("<script"))) << table.id;
    EXPECT_THAT(markdown, Not(HasSubstr("](javascript"))) << table.id;
  }
  EXPECT_THAT(to_summary(report), Not(HasSubstr("<script")));
}

TEST(Unverified, LogsWithoutAHashAreCalledSo) {
  const test::Folder folder("unverified");
  folder.add("a", test::make_log({.seed = 1, .epochs = 6, .classes = 10}));
  ReportOptions options;
  options.inputs = {folder.path()};
  EXPECT_THAT(to_terminal(make_report(options)), Not(HasSubstr("Unverified")));
  nlohmann::json old = train::to_json(test::make_log({.seed = 2, .epochs = 6, .classes = 10}));
  base::write_atomically(folder.path() / "b.json", old.dump());
  EXPECT_THAT(to_terminal(make_report(options)),
              HasSubstr("Unverified: 1 of 2 logs carries no hash of its results"));
  old = train::to_json(test::make_log({.seed = 1, .epochs = 6, .classes = 10}));
  base::write_atomically(folder.path() / "a.json", old.dump());
  EXPECT_THAT(to_terminal(make_report(options)),
              HasSubstr("Unverified: 2 of 2 logs carry no hash of their results"));
  options.inputs = {folder.path() / "a.json"};
  EXPECT_THAT(to_terminal(make_report(options)),
              HasSubstr("Unverified: 1 of 1 log carries no hash of its results"));
}

TEST(Unverified, ASingleLogThatCannotBeUsedIsTheWholeAnswer) {
  const test::Folder folder("single");
  base::write_atomically(folder.path() / "bad.json", std::string_view("{}"));
  ReportOptions options;
  options.inputs = {folder.path() / "bad.json"};
  try {
    make_report(options);
    FAIL();
  } catch (const base::Error& error) {
    EXPECT_THAT(error.what(), Not(HasSubstr("no run to report")));
    EXPECT_THAT(error.what(), HasSubstr("bad.json"));
  }
}

}  // namespace
}  // namespace longtail::report
