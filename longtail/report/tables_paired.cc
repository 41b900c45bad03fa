// The tables of differences from the baseline: one table per series, as in the paper, or one for all if there
// are many.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "longtail/report/tables.h"
#include "longtail/report/tables_parts.h"

namespace longtail::report {
namespace {

void add_pair_columns(Table& table, const Results& results, bool tests) {
  add_seed_columns(table, results);
  table.columns.push_back({"Mean"});
  table.columns.push_back({"Sign agreement"});
  if (tests) {
    for (const char* title : {"95% low", "95% high", "p", "p (Holm)"}) table.columns.push_back({title});
  }
}

void add_pair_cells(std::vector<Cell>& row, const Results& results, const Comparison& c, bool tests) {
  if (results.seeds.size() > kSeedColumns) {
    row.push_back(number(c.pairs(), 0));
  } else {
    for (std::int64_t seed : results.seeds) {
      const auto at = std::find(c.seeds.begin(), c.seeds.end(), seed);
      const bool there = at != c.seeds.end();
      row.push_back(
          difference(there ? c.differences[static_cast<std::size_t>(at - c.seeds.begin())] : kMissing, 2));
    }
  }
  row.push_back(difference(c.mean, 2));
  row.push_back(text(fmt::format("{}/{}", c.agreement, c.pairs())));
  row.back().bold = c.unanimous() && c.pairs() > 1;
  if (tests) {
    row.push_back(difference(c.interval ? c.interval->low : kMissing, 2));
    row.push_back(difference(c.interval ? c.interval->high : kMissing, 2));
    row.push_back(number(c.p.value_or(kMissing), 3));
    row.push_back(number(c.holm_p.value_or(kMissing), 3));
  }
}

// `most` is the largest number of pairs in the comparisons of the table: other series and conditions may have
// more seeds.
void note_tests(Table& table, int most, bool tests) {
  if (tests) return;
  add_note(table,
           fmt::format("No p-values: they need at least {} seeds (with {} the smallest possible is {}).",
                       kSeedsForTests, most, fixed(2 / std::exp2(most), 2)));
}

// The series that are compared in a condition, the best by the goal first. Series without a value for the
// goal come last, by overall accuracy, which every run has.
std::vector<Series> compared(const Results& results, const Summary& summary, const Condition& condition) {
  const Metric first = summary.balanced_apart && summary.goal == Goal::kBalanced ? Metric::kBalanced
                       : summary.goal == Goal::kTail                             ? Metric::kTail
                                                                                 : Metric::kOverall;
  using Rank = std::pair<double, double>;
  std::vector<std::pair<Rank, Series>> found;
  for (const Series& series : results.series) {
    const Comparison* overall = find_comparison(summary, series, condition, Metric::kOverall);
    if (!overall) continue;
    const Comparison* own = find_comparison(summary, series, condition, first);
    const double lowest = -std::numeric_limits<double>::infinity();
    found.emplace_back(Rank(own ? own->difference : lowest, overall->difference), series);
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<Series> series;
  series.reserve(found.size());
  for (auto& one : found) series.push_back(std::move(one.second));
  return series;
}

}  // namespace

std::optional<Table> paired_table(const Results& results, const Summary& summary, const Series& series) {
  Table table{
      .id = "paired_" + series.slug(),
      .caption = fmt::format("Paired differences per seed, {} minus {} (percentage points), {}. Positive "
                             "favours {}.",
                             series.title(), summary.baseline.title(),
                             protocol_phrase(results, summary.options), series.title())};
  const bool tests = std::any_of(summary.comparisons.begin(), summary.comparisons.end(),
                                 [&](const Comparison& c) { return c.series == series && c.p; });
  table.columns = {{"Metric", true, true}, {"ρ", true}};
  add_pair_columns(table, results, tests);
  int most = 0;
  for (Metric metric : results.metrics()) {
    for (const Condition& condition : results.conditions) {
      const Comparison* c = find_comparison(summary, series, condition, metric);
      if (!c) continue;
      most = std::max(most, c->pairs());
      std::vector<Cell> row = {text(std::string(metric_title(metric))), text(condition.text())};
      add_pair_cells(row, results, *c, tests);
      table.rows.push_back(std::move(row));
    }
  }
  if (table.rows.empty()) return std::nullopt;
  note_tests(table, most, tests);
  return table;
}

std::optional<Table> all_pairs_table(const Results& results, const Summary& summary,
                                     const Condition& condition) {
  Table table{.id = "paired_" + condition.slug(),
              .caption = fmt::format(
                  "Paired differences per seed from {} at {} (percentage points), {}. Positive "
                  "favours the other.",
                  summary.baseline.title(), condition.phrase(), protocol_phrase(results, summary.options))};
  const bool tests = std::any_of(summary.comparisons.begin(), summary.comparisons.end(),
                                 [&](const Comparison& c) { return c.condition == condition && c.p; });
  table.columns = {{"Metric", true, true}, {"Strategy", true}};
  add_pair_columns(table, results, tests);
  int most = 0;
  const std::vector<Series> rows = compared(results, summary, condition);
  for (Metric metric : results.metrics()) {
    for (const Series& series : rows) {
      const Comparison* c = find_comparison(summary, series, condition, metric);
      if (!c) continue;
      most = std::max(most, c->pairs());
      std::vector<Cell> row = {text(std::string(metric_title(metric))), text(series.title())};
      add_pair_cells(row, results, *c, tests);
      table.rows.push_back(std::move(row));
    }
  }
  if (table.rows.empty()) return std::nullopt;
  note_tests(table, most, tests);
  return table;
}

std::optional<Table> differences_table(const Results& results, const Summary& summary,
                                       const Condition& condition) {
  Table table{.id = "differences_" + condition.slug(),
              .caption = fmt::format("Differences from {} at {} (points), the best first, {}.",
                                     summary.baseline.title(), condition.phrase(),
                                     protocol_phrase(results, summary.options))};
  table.columns = {{"Strategy", true}, {"Seeds"}};
  for (Metric metric : results.metrics()) {
    table.columns.push_back({.title = std::string(metric_title(metric)), .spread = "half width"});
  }
  bool intervals = false, fewer = false;
  for (const Series& series : compared(results, summary, condition)) {
    std::vector<Cell> row = {text(series.title()), number(0, 0)};
    for (Metric metric : results.metrics()) {
      const Comparison* c = find_comparison(summary, series, condition, metric);
      Cell cell = difference(c ? c->difference : kMissing, 1);
      if (c && std::isfinite(c->low)) {
        cell.spread = (c->high - c->low) / 2;
        intervals = true;
      }
      cell.bold = c && c->established();
      if (c) {
        fewer = fewer || (row[1].value > 0 && row[1].value != c->pairs());
        row[1].value = std::max<double>(row[1].value, c->pairs());
      }
      row.push_back(std::move(cell));
    }
    table.rows.push_back(std::move(row));
  }
  if (table.rows.empty()) return std::nullopt;
  if (intervals)
    add_note(table,
             "± half of the 95% interval, which holds together for all of a metric. Marked: established, the "
             "interval does not contain 0.");
  if (fewer)
    add_note(table, "Seeds: of the metric that has the most; where runs do not tell one, it has fewer.");
  return table;
}

}  // namespace longtail::report
