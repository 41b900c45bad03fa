#include "longtail/report/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <utility>

#include "longtail/base/error.h"
#include "longtail/base/file.h"
#include "longtail/base/gnuplot.h"
#include "longtail/base/text.h"
#include "longtail/base/threads.h"
#include "longtail/report/curves.h"
#include "longtail/report/figures.h"
#include "longtail/report/out_folder.h"
#include "longtail/report/page.h"
#include "longtail/report/race.h"
#include "longtail/report/tables.h"

namespace longtail::report {
namespace {

// The files of a report except its figures, by their names in its folder.
using Texts = std::map<std::string, std::string>;

// Logs without a hash of their results: from the paper, another program, or an older longtail.
std::string unverified(const Results& results) {
  std::size_t logs = 0, without = 0;
  for (const RunResult& run : results.runs) {
    logs += run.log != nullptr;
    without += run.log && !run.log->verified;
  }
  if (without == 0) return "";
  const std::string which = fmt::format("Unverified: {} of {} log{}", without, logs, logs == 1 ? "" : "s");
  return which + (without == 1
                      ? " carries no hash of its results, so only its agreement with itself was checked."
                      : " carry no hash of their results, so only their agreement with themselves was "
                        "checked.");
}

void add_tables(const std::vector<Table>& tables, Texts& texts) {
  std::string markdown;
  for (const Table& table : tables) {
    const std::string name = "tables/" + table.id;
    texts[name + ".md"] = to_markdown(table);
    texts[name + ".tex"] = to_latex(table);
    texts[name + ".csv"] = to_csv(table);
    markdown += to_markdown(table) + "\n";
  }
  texts["tables/all.md"] = std::move(markdown);
  texts["tables/all.tex"] = latex_document(tables);
}

Texts texts_of(const Report& report, const ReportOptions& options) {
  Texts texts;
  add_tables(report.tables, texts);
  texts["summary.md"] = to_summary(report);
  texts["results.csv"] = results_csv(report.results, options.summary.at);
  if (std::string classes = classes_csv(report.results, options.summary.at);
      std::count(classes.begin(), classes.end(), '\n') > 1)
    texts["classes.csv"] = std::move(classes);
  if (options.tables_only) return texts;
  if (report.results.has_logs()) texts["curves.csv"] = curves_csv(report.results, options.summary);
  texts["index.html"] = page(report);
  return texts;
}

void write_texts(const Texts& texts, const std::filesystem::path& folder) {
  base::make_folder(folder / "tables");
  std::vector<const Texts::value_type*> all;
  for (const auto& one : texts) all.push_back(&one);
  // Each file is synced to the disk; in parallel they wait together instead of one after the other.
  base::ThreadPool pool(8);
  pool.run(static_cast<int>(all.size()), [&](int i, int) {
    const auto& [name, text] = *all[static_cast<std::size_t>(i)];
    base::write_atomically(folder / name, text);
  });
}

// A CSV has one result per run and does not say of which epoch.
std::size_t without_epochs(const Results& results) {
  return static_cast<std::size_t>(std::count_if(results.runs.begin(), results.runs.end(),
                                                [](const RunResult& run) { return !run.last; }));
}

void check_last_epochs(Results& results) {
  const std::size_t without = without_epochs(results);
  if (without == results.runs.size())
    base::fail<base::UsageError>(
        "the last epoch is asked for, but a CSV has one result per run and does not say of which epoch; "
        "leave out --at last (or --select last)");
  if (without > 0)
    results.warnings.push_back(fmt::format(
        "{} of {} results are from a CSV, which does not tell the last epoch; they are n/a under --at last.",
        without, results.runs.size()));
}

void note_unselected(Results& results) {
  const std::size_t without = without_epochs(results);
  if (without == 0 || results.select == Select::kAsLogged) return;
  const std::string why = "a CSV has one result per run and does not say of which epoch";
  results.warnings.push_back(
      without == results.runs.size()
          ? fmt::format("--select {} is ignored: {}.", select_name(results.select), why)
          : fmt::format("--select {} is ignored for {} of {} results: {}.", select_name(results.select),
                        without, results.runs.size(), why));
}

}  // namespace

Report make_report(const ReportOptions& options) {
  Report report;
  report.results = read_results(options.inputs, options.read);
  report.notes = read_notes(options.inputs, report.results.warnings);
  for (std::string& warning : races_not_applied(options.inputs))
    report.results.warnings.push_back(base::to_utf8(warning));
  std::vector<RunResult>& runs = report.results.runs;
  const auto finished =
      std::stable_partition(runs.begin(), runs.end(), [](const RunResult& run) { return !run.under_way; });
  report.under_way.assign(std::make_move_iterator(finished), std::make_move_iterator(runs.end()));
  runs.erase(finished, runs.end());
  // Tables only have rows for the remaining series.
  for (auto& [condition, numbers] : report.results.trainings)
    numbers = detail::trainings_in(report.results, condition);
  if (runs.empty()) {
    report.summary.baseline = report.results.plainest;
    return report;
  }
  if (options.summary.at == At::kLast) check_last_epochs(report.results);
  note_unselected(report.results);
  report.summary = summarise(report.results, options.summary);
  if (const std::string remark = unverified(report.results); !remark.empty())
    report.summary.remarks.push_back(remark);
  report.tables = all_tables(report.results, report.summary);
  if (options.against_paper) {
    for (Against& against : std::array{against_paper(report.results, options.summary),
                                       against_field(report.results, options.summary)}) {
      for (Table& table : against.tables) report.tables.push_back(std::move(table));
      for (Claim& claim : against.claims) report.claims.push_back(std::move(claim));
      for (auto* sentences : {&against.statements, &against.refusals}) {
        report.against.insert(report.against.end(), sentences->begin(), sentences->end());
      }
    }
  }
  return report;
}

std::vector<std::string> write_report(const Report& report, const ReportOptions& options) {
  const Texts texts = texts_of(report, options);
  const bool drawn = !options.tables_only && base::has_gnuplot();
  const auto figures = drawn ? make_figures(report.results, report.summary) : std::vector<NamedFigure>{};
  FileNames files;
  for (const auto& [name, text] : texts) files.insert(name);
  for (const NamedFigure& figure : figures) {
    for (const char* ending : kFigureEndings) files.insert("figures/" + figure.name + ending);
  }
  base::make_folder(options.out);
  claim_folder(options.out, files, options.inputs);
  write_texts(texts, options.out);
  if (drawn) {
    base::make_folder(options.out / "figures");
    draw(figures, options.out / "figures");
  }
  clear_stale(options.out, files);
  if (options.tables_only || drawn) return {};
  return {
      "The figures for print were left out: gnuplot is not installed (Debian: gnuplot-nox) or cannot be "
      "confined on this system (seccomp)."};
}

std::string curves_csv(const Results& results, const SummaryOptions& options) {
  std::string out = "condition,series,epoch";
  for (Track track : kTracks) out += fmt::format(",{0},{0}_std", track_name(track));
  out += '\n';
  for (const Condition& condition : results.conditions) {
    for (const Series& series : results.series) {
      std::array<Curve, kTracks.size()> curves;
      for (std::size_t t = 0; t < curves.size(); ++t) {
        curves[t] = curve(results, series, condition, kTracks[t], options.deviation);
      }
      for (std::size_t e = 0; e < curves[0].mean.size(); ++e) {
        out += fmt::format("{},{},{}", csv_escape(condition.text()), csv_escape(series.text()), e + 1);
        for (const Curve& one : curves) {
          const bool there = e < one.mean.size() && std::isfinite(one.mean[e]);
          out += there ? fmt::format(",{:.4f},{:.4f}", one.mean[e], one.deviation[e]) : ",,";
        }
        out += '\n';
      }
    }
  }
  return out;
}

}  // namespace longtail::report
