// The table of simultaneous intervals.
#include <fmt/format.h>

#include <utility>
#include <vector>

#include "longtail/base/text.h"
#include "longtail/report/tables.h"

namespace longtail::report {
namespace {

// What the intervals are: for pooled families, and for the metrics whose differences are judged by their own
// spread.
void note_methods(Table& table, bool pooled, std::vector<std::string> by_own_spread) {
  if (pooled)
    table.notes.emplace_back(
        "Low and high: Dunnett's. Best low and high: Hsu's, minus the best of the others. Ruled out: by "
        "Dunnett's critical value (with the baseline) or a step-down range test (others), if anything is "
        "established.");
  if (by_own_spread.empty()) return;
  table.notes.push_back(
      fmt::format("{}: {}each difference by its own spread (paired t, Bonferroni's correction); bounds are "
                  "n/a where it has none.{}",
                  base::listed(std::move(by_own_spread)), pooled ? "none of these, but " : "",
                  pooled ? ""
                         : " Best low and high: minus the best of the others. Ruled out: by such an "
                           "interval, if anything is established."));
}

}  // namespace

std::optional<Table> intervals_table(const Summary& summary, const Condition& condition) {
  Table table{
      .id = "intervals_" + condition.slug(),
      .caption = fmt::format("Differences from {} and from the best of the others at {} (points), with "
                             "95% intervals that hold together for all strategies of a metric.",
                             summary.baseline.title(), condition.phrase())};
  table.columns = {
      {"Metric", true, true}, {"Strategy", true}, {"Difference"},       {"Low"}, {"High"}, {"Verdict", true},
      {"Best low"},           {"Best high"},      {"May be best", true}};
  bool pooled = false;
  std::vector<std::string> by_own_spread;
  for (const FamilyOf& one : summary.families) {
    if (one.condition != condition || one.series.size() < 2) continue;
    pooled = pooled || one.family.method == Method::kPooled;
    if (one.family.method == Method::kSeparate) by_own_spread.emplace_back(metric_title(one.metric));
    for (std::size_t i = 0; i < one.series.size(); ++i) {
      const Standing& own = one.family.standings[i];
      if (own.seeds == 0) continue;
      const bool baseline = one.series[i] == summary.baseline;
      std::string verdict = baseline ? "baseline" : judgement_words(own.judgement);
      std::vector<Cell> row = {text(std::string(metric_title(one.metric))),
                               text(one.series[i].title()),
                               difference(own.difference, 2),
                               bound(own.low, 2),
                               bound(own.high, 2),
                               text(std::move(verdict)),
                               bound(own.best_low, 2),
                               bound(own.best_high, 2),
                               text(one.family.method == Method::kNone ? "cannot be told"
                                    : !own.comparable                  ? "not compared"
                                    : own.may_be_best                  ? "yes"
                                                                       : "ruled out")};
      row[5].bold = own.judgement == Judgement::kEstablished;
      table.rows.push_back(std::move(row));
    }
  }
  if (table.rows.empty()) return std::nullopt;
  note_methods(table, pooled, std::move(by_own_spread));
  return table;
}

}  // namespace longtail::report
