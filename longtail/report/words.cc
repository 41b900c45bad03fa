// The report in words: for a terminal and as Markdown.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "longtail/base/quote.h"
#include "longtail/base/text.h"
#include "longtail/report/report.h"
#include "longtail/report/tables.h"

namespace longtail::report {
namespace {

using base::quote::markdown;

bool is_against(const Table& table) { return table.id.starts_with("against"); }
// The tables that a reader wants first.
bool is_main(const Table& table) {
  return table.id == "overall" || table.id == "balanced" ||
         (table.id.starts_with("groups_") && !table.id.starts_with("groups_std"));
}

// pics/clean/ -> clean
std::string last_part(std::string path) {
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos || path.size() == 1 ? path : path.substr(slash + 1);
}

const char* mark(bool established) { return established ? "●" : "○"; }

std::string claims_text(const std::vector<Claim>& claims) {
  std::string out = "The paper's findings, by our numbers (● holds, × does not)\n", finding, sentence;
  bool open = false;
  if (std::all_of(claims.begin(), claims.end(),
                  [](const Claim& claim) { return claim.ours.verdict == Verdict::kOpen; })) {
    return "The paper's findings cannot be told yet; summary.md lists what each needs.\n";
  }
  for (const Claim& claim : claims) {
    open = open || claim.ours.verdict == Verdict::kOpen;
    if (claim.ours.verdict == Verdict::kOpen) continue;
    if (claim.finding != finding) out += "  " + claim.finding + "\n";
    if (claim.sentence != sentence) out += "     " + claim.sentence + "\n";
    finding = claim.finding;
    sentence = claim.sentence;
    out += fmt::format("       {} ρ = {}: {}. Paper: {}. Ours: {}.\n",
                       claim.ours.verdict == Verdict::kHolds ? "●" : "×", claim.rho,
                       verdict_words(claim.ours), claim.paper, claim.ours.words);
  }
  return out +
         (open ? "  (Those that cannot be told need runs that are not here; summary.md lists them.)\n" : "");
}

// The findings of a condition: overall and tail first, or all of them.
std::vector<const Finding*> findings_of(const Summary& summary, const Condition& condition, bool all) {
  std::vector<const Finding*> found;
  for (const Finding& finding : summary.findings) {
    const bool main = finding.metric != Metric::kHead && finding.metric != Metric::kMedium;
    if (finding.condition == condition && summary.shows(finding.metric) && (all || main))
      found.push_back(&finding);
  }
  return found;
}

}  // namespace

std::string report_facts(const Results& results) {
  const auto count = [](std::size_t n, const char* one, const char* many) {
    return fmt::format("{} {}", n, n == 1 ? one : many);
  };
  std::set<std::string> strategies;
  std::set<double> ratios;
  std::set<int> epochs;  // of the trainings, including those behind rebalanced runs
  for (const RunResult& run : results.runs) {
    strategies.insert(run.strategy);
    ratios.insert(run.rho);
    if (run.log && run.log->trained_epochs() > 0) epochs.insert(run.log->trained_epochs());
  }
  std::vector<std::string> parts = {count(results.runs.size(), "run", "runs"),
                                    count(strategies.size(), "strategy", "strategies")};
  if (results.series.size() != strategies.size())
    parts.push_back(count(results.series.size(), "series", "series"));
  parts.push_back(count(ratios.size(), "imbalance ratio", "imbalance ratios"));
  if (results.conditions.size() != ratios.size())
    parts.push_back(count(results.conditions.size(), "condition", "conditions"));
  parts.push_back(count(results.seeds.size(), "seed", "seeds"));
  if (epochs.size() == 1) parts.push_back(fmt::format("{} epochs", *epochs.begin()));
  if (epochs.size() > 1) parts.push_back(fmt::format("{} to {} epochs", *epochs.begin(), *epochs.rbegin()));
  return base::join(parts, " · ");
}

std::string report_title(const Report& report) {
  std::set<std::string> datasets;
  for (const RunResult& run : report.results.runs) {
    if (run.log) datasets.insert(run.log->dataset);
  }
  const std::map<std::string, std::string> known = {
      {"cifar10", "CIFAR-10-LT"}, {"cifar100", "CIFAR-100-LT"}, {"fashion_mnist", "Fashion-MNIST-LT"}};
  std::vector<std::string> names, studies;
  for (const StudyNotes& study : report.notes) {
    if (!study.name.empty()) studies.push_back(study.name);
  }
  for (const std::string& dataset : datasets) {
    // A user's own data has a path (folder:pics/clean) and no name: the name of the study says more, and the
    // last part of the path is better than all of it.
    const auto found = known.find(dataset);
    const std::size_t colon = dataset.find(':');
    if (found != known.end()) {
      names.push_back(found->second);
    } else if (colon == std::string::npos) {
      names.push_back(dataset);
    } else if (studies.empty()) {
      names.push_back(last_part(dataset.substr(colon + 1)));
    }
  }
  const std::string on = names.empty() ? "" : " on " + base::join(names, " and ");
  return studies.empty() ? "Sampling strategies" + on
                         : base::join(studies, " and ") + ": sampling strategies" + on;
}

std::string to_terminal(const Report& report) {
  const Summary& summary = report.summary;
  std::string out = report_title(report) + ": " + report_facts(report.results) + "\n\n";
  for (const std::string& lead : summary.leads) out += lead + "\n";
  if (!summary.leads.empty()) out += "\n";
  const auto& conditions = report.results.conditions;
  if (many_series(report.results)) {
    for (const Table& table : report.tables) {
      if (table.id.starts_with("differences_")) out += to_text(table) + "\n";
    }
  } else {
    for (auto condition = conditions.rbegin(); condition != conditions.rend(); ++condition) {
      for (const Finding* finding : findings_of(summary, *condition, false)) {
        out += fmt::format("  {} {}\n", mark(finding->established), finding->sentence);
      }
    }
    if (!summary.findings.empty())
      out += "  (● established, ○ not established; head and medium are in the tables)\n\n";
  }
  for (const Table& table : report.tables) {
    if (is_main(table)) out += to_text(table) + "\n";
  }
  if (!summary.leads.empty()) out += "(* the best mean)\n";
  for (const std::string& remark : summary.remarks) out += remark + "\n";
  if (!report.against.empty()) out += "\nBeside the published results\n\n";
  for (const std::string& sentence : report.against) out += sentence + "\n";
  for (const Table& table : report.tables) {
    if (is_against(table) && table.id != "against_findings") out += "\n" + to_text(table);
  }
  if (!report.claims.empty()) out += "\n" + claims_text(report.claims);
  if (!report.results.warnings.empty()) out += "\n";
  for (const std::string& warning : report.results.warnings) out += "warning: " + warning + "\n";
  return base::quote::terminal(out);
}

std::string to_summary(const Report& report) {
  const Summary& summary = report.summary;
  std::string out = "# " + markdown(report_title(report)) + "\n\n" + report_facts(report.results) + "\n\n";
  for (const std::string& lead : summary.leads) out += markdown(lead) + "\n\n";
  const auto& conditions = report.results.conditions;
  if (!summary.findings.empty() && !many_series(report.results)) {
    out += "## Findings\n\n● established, ○ not established.\n\n";
    for (auto condition = conditions.rbegin(); condition != conditions.rend(); ++condition) {
      for (const Finding* finding : findings_of(summary, *condition, true))
        out += fmt::format("- {} {}\n", mark(finding->established), markdown(finding->sentence));
      out += "\n";
    }
  }
  for (const std::string& remark : summary.remarks) out += markdown(remark) + "\n\n";
  out += "## Tables\n\n";
  for (const Table& table : report.tables) {
    if (is_main(table) || table.id.starts_with("differences_") || table.id.starts_with("paired_") ||
        table.id.starts_with("intervals_") || table.id.starts_with("noise_") ||
        table.id.starts_with("images_") || table.id == "best_final")
      out += to_markdown(table) + "\n";
  }
  if (!report.against.empty()) out += "## Beside the published results\n\n";
  for (const std::string& sentence : report.against) out += markdown(sentence) + "\n\n";
  for (const Table& table : report.tables) {
    if (is_against(table)) out += to_markdown(table) + "\n";
  }
  if (!report.results.warnings.empty()) out += "## Warnings\n\n";
  for (const std::string& warning : report.results.warnings) out += "- " + markdown(warning) + "\n";
  return out;
}

}  // namespace longtail::report
