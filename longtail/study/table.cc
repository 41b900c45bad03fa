#include "longtail/study/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace longtail::study {
namespace {

struct Cell {
  int runs = 0;  // in the grid
  std::vector<train::EpochResult> results;
};

double mean(const std::vector<train::EpochResult>& results, double train::EpochResult::*member) {
  double sum = 0;
  for (const auto& result : results) sum += result.*member;
  return sum / static_cast<double>(results.size());
}

std::string number(double value, int width) {
  return value == value ? fmt::format("{:>{}.1f}", value, width) : fmt::format("{:>{}}", "--", width);
}

train::EpochResult mean_result(const Cell& cell) {
  using R = train::EpochResult;
  return {mean(cell.results, &R::overall), mean(cell.results, &R::head), mean(cell.results, &R::medium),
          mean(cell.results, &R::tail), 0};
}

std::string cell_text(const Cell& cell) {
  if (cell.results.empty()) return "";
  const train::EpochResult result = mean_result(cell);
  return number(result.overall, 5) + " " + groups_text(result, 4);
}

std::string seeds_text(const Cell& cell) {
  return cell.results.empty() ? "" : fmt::format("{}/{}", cell.results.size(), cell.runs);
}

// Distinct values in order of first appearance.
template <class Range>
std::vector<std::string> distinct(const Range& values) {
  std::vector<std::string> result;
  for (const auto& value : values) {
    if (std::find(result.begin(), result.end(), value) == result.end()) result.push_back(value);
  }
  return result;
}

using Cells = std::map<std::pair<std::string, std::string>, Cell>;  // (label, rho)
constexpr std::size_t kCell = 20;                                   // " 38.3 67.1/36.2/ 7.0"
constexpr std::size_t kSeeds = 6;                                   // "  3/3 "

std::vector<std::string> matrix(const std::vector<std::string>& labels, const std::vector<std::string>& rhos,
                                Cells& cells, std::size_t label_width, bool with_seeds) {
  const std::size_t width = kCell + (with_seeds ? kSeeds : 0);
  std::string top = fmt::format("{:<{}}", "", label_width), head = top;
  for (const std::string& rho : rhos) {
    top += fmt::format("  {:<{}}", rho, width - 1);
    head +=
        fmt::format("  {:<{}}", with_seeds ? "  all head/med./tail seeds" : "  all head/med./tail", width);
  }
  std::vector<std::string> lines = {top, head};
  for (const std::string& label : labels) {
    std::string line = fmt::format("{:<{}}", label, label_width);
    for (const std::string& rho : rhos) {
      const Cell& cell = cells[{label, rho}];
      std::string text = fmt::format("{:<{}}", cell_text(cell), kCell);
      if (with_seeds) text += fmt::format(" {:>4} ", seeds_text(cell));
      line += " " + text;
    }
    lines.push_back(line);
  }
  return lines;
}

std::vector<std::string> stacked(const std::vector<std::string>& labels, const std::vector<std::string>& rhos,
                                 Cells& cells, std::size_t label_width) {
  std::vector<std::string> lines;
  for (const std::string& rho : rhos) {
    lines.push_back(fmt::format("{:<{}}   all head/med./tail seeds", rho, label_width));
    for (const std::string& label : labels) {
      const Cell& cell = cells[{label, rho}];
      if (cell.results.empty()) continue;
      lines.push_back(fmt::format("{:<{}} {} {:>4}", label, label_width, cell_text(cell), seeds_text(cell)));
    }
  }
  return lines;
}

}  // namespace

std::string groups_text(const train::EpochResult& result, int width) {
  return fmt::format("{}/{}/{}", number(result.head, width), number(result.medium, width),
                     number(result.tail, width));
}

std::vector<std::string> row_labels(std::span<const PlannedRun> runs) {
  std::vector<const base::ParamTable<train::RunConfig>::Entry*> varied;
  for (const auto& entry : train::run_params().entries()) {
    const std::string& name = entry.info.name;
    if (!entry.info.identity || name == "rho" || name == "seed" || name == "strategy") continue;
    std::set<std::string> values;
    for (const PlannedRun& run : runs) values.insert(entry.get(run.config));
    if (values.size() > 1) varied.push_back(&entry);
  }
  std::map<std::string, std::set<std::string>> params;  // of the trainer
  for (const PlannedRun& run : runs) {
    for (const auto& [key, value] : run.trainer.value_or(Trainer{}).params) params[key].insert(value);
  }
  std::vector<std::string> labels;
  for (const PlannedRun& run : runs) {
    std::string label = run.config.strategy;
    for (const auto* entry : varied) {
      const std::string value = entry->get(run.config);
      if (!train::goes_without_saying(entry->info.name, value))
        label += fmt::format(", {} {}", entry->info.name, value);
    }
    for (const auto& [key, value] : run.trainer.value_or(Trainer{}).params) {
      if (params[key].size() > 1) label += fmt::format(", {} {}", key, value);
    }
    labels.push_back(label);
  }
  return labels;
}

std::vector<std::string> result_table(std::span<const PlannedRun> runs, std::span<const RunState> states,
                                      int width) {
  const std::vector<std::string> labels = row_labels(runs);
  std::vector<std::string> rhos;
  Cells cells;
  bool any = false;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    rhos.push_back(data::severity(runs[i].config.subset));
    Cell& cell = cells[{labels[i], rhos[i]}];
    ++cell.runs;
    if (states[i].status != Status::kDone) continue;
    cell.results.push_back(states[i].best);
    any = true;
  }
  if (!any) return {};
  const auto rows = distinct(labels), columns = distinct(rhos);
  std::size_t label_width = 8;
  for (const std::string& label : rows) label_width = std::max(label_width, label.size());
  const auto fits = [&](std::size_t cell) {
    return label_width + columns.size() * (cell + 1) <= static_cast<std::size_t>(width);
  };
  if (fits(kCell + kSeeds)) return matrix(rows, columns, cells, label_width, true);
  if (fits(kCell)) return matrix(rows, columns, cells, label_width, false);
  return stacked(rows, columns, cells, label_width);
}

}  // namespace longtail::study
