// Results as a table of numbers, without logs: one line per run.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "longtail/base/error.h"
#include "longtail/base/quote.h"
#include "longtail/base/text.h"
#include "longtail/report/report.h"
#include "longtail/report/results.h"
#include "longtail/report/table.h"

namespace longtail::report {
namespace {

// A report's own CSV has whole series for strategies: "progressive:gamma=2 (lr=0.05)".
Series series_of_cell(const std::string& cell) {
  const std::size_t open = cell.find(" (");
  if (open == std::string::npos || !cell.ends_with(')') || cell.ends_with(" ()")) return Series(cell);
  return Series(cell.substr(0, open), cell.substr(open + 2, cell.size() - open - 3));
}

constexpr std::string_view kHeader = "rho,strategy,seed,overall,head,medium,tail";
constexpr std::string_view kDataHeader = "rho,strategy,seed,overall,head,medium,tail,data";

// Whether the line has the columns of the header; blanks around them do not count.
bool is_header(std::string_view line, std::string_view header) {
  std::vector<std::string> cells = base::csv_cells(line);
  for (std::string& cell : cells) cell = std::string(base::trim(cell));
  return cells == base::split(header, ',');
}

}  // namespace

std::vector<RunResult> read_csv(std::string_view content, const std::string& source,
                                std::vector<std::string>& warnings) {
  std::vector<RunResult> runs;
  bool header = true;
  std::size_t columns = 7;
  int number = 0;
  for (const std::string& raw : base::split(base::without_mark(content), '\n')) {
    ++number;
    const std::string_view line = base::trim(raw);
    if (line.empty() || line[0] == '#') continue;
    if (header) {
      const bool with_data = is_header(line, kDataHeader);
      if (!with_data && !is_header(line, kHeader))
        base::fail("{}: line {} is not the header `{}`", source, number, kHeader);
      columns += with_data;
      header = false;
      continue;
    }
    const std::vector<std::string> cells = base::csv_cells(line);
    const auto wrong = [&](std::string_view why) {
      warnings.push_back(fmt::format("{}: line {}: {}; left out.", source, number, why));
    };
    if (cells.size() != columns) {
      wrong(fmt::format("{} columns instead of {}", cells.size(), columns));
      continue;
    }
    const auto rho = base::parse_real(base::trim(cells[0]));
    const auto seed = base::parse_integer(base::trim(cells[2]));
    RunResult run{.source = fmt::format("{}:{}", source, number),
                  .strategy = std::string(base::trim(cells[1]))};
    run.best.fill(std::nan(""));
    const std::string data(columns > 7 ? base::trim(cells[7]) : "");
    if (!base::is_plain(run.strategy) || !base::is_plain(data)) {
      wrong("the name of the strategy or of the data has a control character or is not UTF-8");
      continue;
    }
    bool good = rho && *rho >= 1 && seed && !run.strategy.empty();
    for (std::size_t i = 0; good && i < 4; ++i) {
      const std::string_view cell = base::trim(cells[i + 3]);
      const auto value = cell.empty() && i > 0 ? std::optional(std::nan("")) : base::parse_real(cell);
      good = value && (cell.empty() || (*value >= 0 && *value <= 100));
      if (good) run.best[i] = *value;
    }
    if (!good) {
      wrong("not a ratio, a strategy, a seed and accuracies from 0 to 100");
      continue;
    }
    run.rho = *rho;
    run.seed = *seed;
    run.series = series_of_cell(run.strategy);
    run.condition = Condition(data, run.rho);
    runs.push_back(std::move(run));
  }
  if (header) base::fail("{}: is empty", source);
  return runs;
}

std::string results_csv(const Results& results, At at) {
  const bool with_data = std::any_of(results.conditions.begin(), results.conditions.end(),
                                     [](const Condition& one) { return !one.data().empty(); });
  std::string out = fmt::format("{}\n", with_data ? kDataHeader : kHeader);
  for (const Condition& condition : results.conditions) {
    for (const Series& series : results.series) {
      for (std::int64_t seed : results.seeds) {
        const RunResult* run = results.find(series, condition, seed);
        if (!run) continue;
        // A series that differs by more than its strategy keeps its whole name, so that it stays a series of
        // its own.
        std::string name = series.text();
        std::replace(name.begin(), name.end(), ',', ';');
        out += fmt::format("{:g},{},{}", run->rho, csv_escape(name), seed);
        for (Metric metric : kMetrics) {
          const double value = accuracy(*run, metric, at);
          out += std::isfinite(value) ? fmt::format(",{}", value) : ",";
        }
        if (with_data) out += "," + csv_escape(condition.data());
        out += '\n';
      }
    }
  }
  return out;
}

}  // namespace longtail::report
