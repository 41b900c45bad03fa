// A whole report: reads logs, makes statistics, tables, figures and the page, and says the answer in words.
//
//   OUT/summary.md               the answer in words with the main tables
//   OUT/index.html               the page: one file, works offline
//   OUT/tables/ID.{md,tex,csv}   and all.tex, all.md
//   OUT/figures/NAME.{svg,pdf,png}
//   OUT/results.csv              one line per run, in the form that `longtail report` reads
//   OUT/curves.csv               mean and deviation by epoch
//   OUT/classes.csv              every class with its accuracy and interval
//   OUT/files.txt                what reports wrote there
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "longtail/report/against.h"
#include "longtail/report/notes.h"
#include "longtail/report/results.h"
#include "longtail/report/summary.h"
#include "longtail/report/table.h"

namespace longtail::report {

struct ReportOptions {
  std::vector<std::filesystem::path> inputs;
  std::filesystem::path out;
  ReadOptions read;
  SummaryOptions summary;
  bool tables_only = false;    // no figures, no page
  bool against_paper = false;  // compare also with the field's baselines
};

struct Report {
  Results results;
  Summary summary;
  std::vector<Table> tables;         // those against the paper and the field at the end
  std::vector<std::string> against;  // sentences: statements and refusals
  std::vector<Claim> claims;         // of the paper, if the runs were compared with it
  std::vector<StudyNotes> notes;     // of each study folder among the inputs
  std::vector<RunResult> under_way;  // unfinished runs, if asked for; no number includes them
};

Report make_report(const ReportOptions& options);

// Writes the files; returns remarks on what could not be made (no gnuplot). A UsageError if it would
// overwrite an input, or a file that no report wrote (out_folder.h).
std::vector<std::string> write_report(const Report& report, const ReportOptions& options);

// The answer for a terminal: findings, main tables, warnings. (words.cc)
std::string to_terminal(const Report& report);
// The same as Markdown, with the paired tables too.
std::string to_summary(const Report& report);

// The recommendation and the findings for programs. (json.cc)
std::string to_json(const Report& report);

// "Sampling strategies on CIFAR-100-LT", with the name of the study before it if there is one;
// "12 runs · 4 strategies · ...".
std::string report_title(const Report& report);
std::string report_facts(const Results& results);

std::string results_csv(const Results& results, At at);
std::string curves_csv(const Results& results, const SummaryOptions& options);

}  // namespace longtail::report
