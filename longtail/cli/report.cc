// longtail report: turns logs into an answer, tables, figures and a page.
#include <fmt/format.h>

#include <memory>

#include "longtail/base/error.h"
#include "longtail/cli/commands.h"
#include "longtail/report/choices.h"

namespace longtail::cli {
namespace {

struct Flags {
  std::vector<std::string> inputs;
  report::Choices choices;
  std::string out, names;
  bool tables_only = false, json = false;
};

std::filesystem::path report_folder(const std::string& input) {
  const std::filesystem::path path(input);
  return std::filesystem::is_directory(path) ? path / "report" : std::filesystem::path("report");
}

report::ReportOptions options_of(const Flags& flags) {
  const std::string& select = flags.choices.select;
  if (flags.choices.at == "last" && select != "log" && select != "last") {
    base::fail<base::UsageError>(
        "--at last chooses no epoch, so --select {} would do nothing; leave one of the two out", select);
  }
  report::ReportOptions options =
      report::options_of({flags.inputs.begin(), flags.inputs.end()}, flags.choices);
  options.out = flags.out.empty() ? report_folder(flags.inputs[0]) : std::filesystem::path(flags.out);
  if (!flags.names.empty()) options.read.names = report::read_names(flags.names);
  options.tables_only = flags.tables_only;
  return options;
}

template <std::size_t n>
Check one_of(const std::array<std::string_view, n>& words) {
  return IsMember(std::vector<std::string>(words.begin(), words.end()));
}

void run(const Flags& flags) {
  const report::ReportOptions options = options_of(flags);
  const report::Report made = report::make_report(options);
  if (!flags.json) fmt::print("{}", report::to_terminal(made));
  const std::vector<std::string> remarks = report::write_report(made, options);
  if (flags.json) {
    fmt::print("{}", report::to_json(made));
    for (const std::string& warning : made.results.warnings) fmt::print(stderr, "warning: {}\n", warning);
    for (const std::string& remark : remarks) fmt::print(stderr, "{}\n", remark);
    return;
  }
  for (const std::string& remark : remarks) fmt::print("{}\n", remark);
  fmt::print("\nWritten: {}\n", (options.out / (options.tables_only ? "summary.md" : "index.html")).string());
  std::string beside = options.tables_only ? "tables/" : "summary.md, tables/";
  for (const char* name : {"figures", "results.csv", "curves.csv", "classes.csv"}) {
    const bool folder = std::filesystem::is_directory(options.out / name);
    if (std::filesystem::exists(options.out / name)) beside += fmt::format(", {}{}", name, folder ? "/" : "");
  }
  fmt::print("Beside it: {}\n", beside);
}

}  // namespace

void add_report(App& app) {
  auto flags = std::make_shared<Flags>();
  App* command = app.add_subcommand(
      "report",
      "Say which is best and how sure that is, with tables, figures and a page, from the logs of runs");
  command
      ->add_option("DIR", flags->inputs,
                   "A study folder, a folder of *.json logs (ours or the paper's), single logs, or a CSV\n"
                   "`rho,strategy,seed,overall,head,medium,tail`. Several are taken together.")
      ->required()
      ->check(ExistingPath);
  command->add_option("--out", flags->out, "Where to write. Default: DIR/report, or ./report for files.");
  command->add_option("--baseline", flags->choices.baseline,
                      "The series that the others are paired with. Default: uniform, or the first.");
  command
      ->add_option("--against", flags->choices.against,
                   "`paper`: also compare with the paper cell by cell, judge its findings by these runs, and "
                   "put uniform\n"
                   "sampling beside the field's baselines. Only where the protocol is the same; part of the "
                   "runs will do.")
      ->check(IsMember({"paper"}));
  command
      ->add_option("--std", flags->choices.deviation,
                   "Standard deviation over seeds: `population` (as the paper) or `sample`.")
      ->check(one_of(report::kDeviationWords))
      ->capture_default_str();
  command->add_option("--at", flags->choices.at, "Report the `best` epoch (as the paper) or the `last` one.")
      ->check(one_of(report::kAtWords))
      ->capture_default_str();
  command
      ->add_option(
          "--select", flags->choices.select,
          "Which epoch counts as the best: the one the `log` says, or the one with the highest `overall`, "
          "`balanced`\nor `tail` accuracy on the test images, or the `last`. Tables of single classes stay "
          "at "
          "the log's.")
      ->check(one_of(report::kSelectWords))
      ->capture_default_str();
  command->add_option("--epochs", flags->choices.epochs,
                      "Report only runs of so many epochs, or `all`, each number as a row of its own.\n"
                      "Default: the most common number; others are left out with a warning.");
  command
      ->add_option(
          "--goal", flags->choices.goal,
          "What best means: `balanced` accuracy (mean over classes), `overall`, `tail`, or `worst`, the "
          "lowest\nof head, medium and tail. [balanced; in the folder of `longtail recommend` its own]")
      ->check(IsMember({"balanced", "overall", "tail", "worst"}));
  command
      ->add_option(
          "--names", flags->names,
          "What series are called in tables, figures and sentences: a TOML file with lines as\n"
          "\"Uniform (rebalance=crt)\" = \"cRT\", on the left the series as the tables write it without this "
          "file.")
      ->check(ExistingPath);
  command->add_flag(
      "--json", flags->json,
      "Print the recommendation and the findings as JSON and nothing else; files are written as "
      "ever.");
  command->add_flag("--tables-only", flags->tables_only, "No figures and no page.");
  command->footer(
      "Examples:\n"
      "  longtail report out/study                                    a study, also a half-done one\n"
      "  longtail report results/cifar100-lt --against paper          a flat folder of logs, beside the "
      "paper\n"
      "  longtail report results.csv --tables-only --out /tmp/tables  numbers of your own\n"
      "Writes index.html (the page), summary.md, tables/ (Markdown, LaTeX, CSV), figures/ (SVG, PDF, PNG),\n"
      "results.csv and curves.csv. docs/report.md explains all.\n"
      "The answer comes first, below the title: which strategy to use, and how sure that is. Differences "
      "have\n"
      "simultaneous 95% intervals (Dunnett); from six seeds on a permutation test beside them. A file that\n"
      "cannot be used is named in a warning.");
  command->callback([flags] { run(*flags); });
}

}  // namespace longtail::cli
