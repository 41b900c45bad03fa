// Results as a table of numbers, without logs: one line per run.
#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "longtail/base/error.h"
#include "longtail/base/quote.h"
#include "longtail/base/text.h"
#include "longtail/report/results.h"

namespace longtail::report {
namespace {

// A report's own CSV has whole series for strategies: "progressive:gamma=2 (lr=0.05)".
Series series_of_cell(const std::string& cell) {
  const std::size_t open = cell.find(" (");
  if (open == std::string::npos || !cell.ends_with(')') || cell.ends_with(" ()")) return Series(cell);
  return Series(cell.substr(0, open), cell.substr(open + 2, cell.size() - open - 3));
}

}  // namespace

std::vector<RunResult> read_csv(std::string_view content, const std::string& source,
                                std::vector<std::string>& warnings) {
  std::vector<RunResult> runs;
  bool header = true;
  int number = 0;
  for (const std::string& raw : base::split(content, '\n')) {
    ++number;
    const std::string_view line = base::trim(raw);
    if (line.empty() || line[0] == '#') continue;
    if (header) {
      if (line != "rho,strategy,seed,overall,head,medium,tail") {
        base::fail("{}: line {} is not the header `rho,strategy,seed,overall,head,medium,tail`", source,
                   number);
      }
      header = false;
      continue;
    }
    const std::vector<std::string> cells = base::csv_cells(line);
    const auto wrong = [&](std::string_view why) {
      warnings.push_back(fmt::format("{}: line {}: {}; left out.", source, number, why));
    };
    if (cells.size() != 7) {
      wrong(fmt::format("{} columns instead of 7", cells.size()));
      continue;
    }
    const auto rho = base::parse_real(base::trim(cells[0]));
    const auto seed = base::parse_integer(base::trim(cells[2]));
    RunResult run{.source = fmt::format("{}:{}", source, number),
                  .strategy = std::string(base::trim(cells[1]))};
    run.best.fill(std::nan(""));
    if (!base::is_plain(run.strategy)) {
      wrong("the name of the strategy has a control character or is not UTF-8");
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
    runs.push_back(std::move(run));
  }
  if (header) base::fail("{}: is empty", source);
  return runs;
}

}  // namespace longtail::report
