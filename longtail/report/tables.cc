// The tables of accuracies; those of differences are in tables_paired.cc, those of data and training in
// tables_setup.cc.
#include "longtail/report/tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <span>

#include "longtail/report/tables_parts.h"

namespace longtail::report {
namespace {

// How many seeds the cells of these conditions have: "Mean ± std over 3 seeds", "Mean over 1 to 3 seeds" if
// runs are missing, "One seed".
std::string seeds_phrase(const Results& results, std::span<const Condition> conditions,
                         bool deviations = true) {
  std::size_t fewest = results.seeds.size(), most = 1;
  for (const Condition& condition : conditions) {
    for (const Series& series : results.series) {
      const std::size_t count = results.values(series, condition, Metric::kOverall, At::kBest).size();
      if (count > 0) fewest = std::min(fewest, count);
      most = std::max(most, count);
    }
  }
  if (most == 1) return "One seed";
  return fmt::format("Mean{} over {}{} seeds", deviations ? " ± std" : "",
                     fewest < most ? fmt::format("{} to ", fewest) : "", most);
}

std::string deviation_note(const SummaryOptions& options) {
  return options.deviation == Deviation::kPopulation ? ""
                                                     : "Standard deviations are those of a sample (n − 1).";
}

Cell average_cell(const Average& average, bool with_deviation) {
  return number(average.mean, with_deviation && average.seeds > 1 ? average.deviation : kMissing, 1);
}

// The series with the highest mean; none if there is only one to choose from, or several share it.
std::optional<Series> best_series(const Results& results, const Condition& condition, Metric metric,
                                  const SummaryOptions& options) {
  const std::vector<Series> best = leaders(results, condition, metric, options);
  const auto candidates = std::count_if(
      results.series.begin(), results.series.end(),
      [&](const auto& series) { return average(results, series, condition, metric, options).seeds > 0; });
  return candidates > 1 && best.size() == 1 ? std::optional(best[0]) : std::nullopt;
}

bool any_value(const Results& results, const Condition& condition, Metric metric, At at) {
  return std::any_of(results.series.begin(), results.series.end(), [&](const auto& series) {
    return !results.values(series, condition, metric, at).empty();
  });
}

// Why a column has no value at all.
std::string why_empty(const Results& results, const Condition& condition, Metric metric) {
  if (results.untested(condition, metric)) return "none of its classes has a test image";
  if (!results.example(condition)) return "the CSV does not tell it";
  const bool group = metric != Metric::kOverall && metric != Metric::kBalanced;
  return group && !any_value(results, condition, metric, At::kBest) ? "no class is in this group"
                                                                    : "these results do not tell it";
}

double seed_value(const Results& results, const Series& series, const Condition& condition, std::int64_t seed,
                  Metric metric, At at) {
  const RunResult* run = results.find(series, condition, seed);
  return run ? accuracy(*run, metric, at) : kMissing;
}

Table strategy_by_ratio(const Results& results, Metric metric, const SummaryOptions& options) {
  Table table{.id = std::string(metric_name(metric)),
              .caption = fmt::format("{} test accuracy (%) by strategy and imbalance ratio. {}, {}.",
                                     metric_title(metric), seeds_phrase(results, results.conditions),
                                     protocol_phrase(results, options))};
  table.columns.push_back({"Strategy", true});
  for (const Condition& condition : results.conditions) table.columns.push_back({condition.phrase()});
  for (const Series& series : results.series) {
    std::vector<Cell> row = {text(series.title())};
    for (const Condition& condition : results.conditions) {
      Cell cell = average_cell(average(results, series, condition, metric, options), true);
      cell.bold = best_series(results, condition, metric, options) == series;
      row.push_back(std::move(cell));
    }
    table.rows.push_back(std::move(row));
  }
  add_note(table, deviation_note(options));
  return table;
}

}  // namespace

Table overall_table(const Results& results, const SummaryOptions& options) {
  return strategy_by_ratio(results, Metric::kOverall, options);
}

std::optional<Table> balanced_table(const Results& results, const SummaryOptions& options) {
  if (!results.balanced_apart()) return std::nullopt;
  Table table = strategy_by_ratio(results, Metric::kBalanced, options);
  add_note(table, "Balanced: the mean over classes, however many test images each has.");
  return table;
}

Table groups_table(const Results& results, const Condition& condition, const SummaryOptions& options,
                   bool deviations) {
  Table table{.id = fmt::format("groups{}_{}", deviations ? "_std" : "", condition.slug()),
              .caption = fmt::format("Per-group test accuracy (%) at {}. {}, {}.", condition.phrase(),
                                     seeds_phrase(results, {&condition, 1}, deviations),
                                     protocol_phrase(results, options))};
  table.columns.push_back({"Strategy", true});
  for (Metric metric : results.metrics()) table.columns.push_back({std::string(metric_title(metric))});
  for (const Series& series : results.series_in(condition)) {
    std::vector<Cell> row = {text(series.title())};
    for (Metric metric : results.metrics()) {
      Cell cell = average_cell(average(results, series, condition, metric, options), deviations);
      cell.bold = best_series(results, condition, metric, options) == series;
      row.push_back(std::move(cell));
    }
    table.rows.push_back(std::move(row));
  }
  for (Metric metric : results.metrics()) {
    if (!any_value(results, condition, metric, options.at)) {
      add_note(table, fmt::format("{}: n/a, {} at {}.", metric_title(metric),
                                  why_empty(results, condition, metric), condition.phrase()));
    }
  }
  if (deviations) add_note(table, deviation_note(options));
  return table;
}

Table per_seed_table(const Results& results, const SummaryOptions& options) {
  Table table{
      .id = "per_seed_overall",
      .caption = fmt::format("Overall test accuracy (%) of each seed, {}. Bold: the best strategy by mean.",
                             protocol_phrase(results, options))};
  table.columns = {{"ρ", true, true}, {"Strategy", true}};
  add_seed_columns(table, results);
  table.columns.push_back({"Mean ± Std"});
  for (const Condition& condition : results.conditions) {
    const std::optional<Series> best = best_series(results, condition, Metric::kOverall, options);
    for (const Series& series : results.series) {
      std::vector<Cell> row = {text(condition.text()), text(series.title())};
      if (results.seeds.size() > kSeedColumns) {
        row.push_back(number(average(results, series, condition, Metric::kOverall, options).seeds, 0));
      } else {
        for (std::int64_t seed : results.seeds) {
          row.push_back(
              number(seed_value(results, series, condition, seed, Metric::kOverall, options.at), 2));
        }
      }
      row.push_back(average_cell(average(results, series, condition, Metric::kOverall, options), true));
      for (std::size_t c = 2; c < row.size(); ++c)
        row[c].bold = series == best && std::isfinite(row[c].value);
      table.rows.push_back(std::move(row));
    }
  }
  return table;
}

Table per_seed_groups_table(const Results& results, const Condition& condition,
                            const SummaryOptions& options) {
  Table table{.id = "per_seed_groups_" + condition.slug(),
              .caption = fmt::format("Head, medium and tail accuracy (%) of each seed at {}, {}.",
                                     condition.phrase(), protocol_phrase(results, options))};
  table.columns = {{"Strategy", true, true}, {"Group", true}};
  add_seed_columns(table, results);
  table.columns.push_back({"Mean"});
  table.columns.push_back({"Std"});
  for (const Series& series : results.series) {
    for (Metric metric : {Metric::kHead, Metric::kMedium, Metric::kTail}) {
      if (!any_value(results, condition, metric, options.at)) continue;
      const Average over = average(results, series, condition, metric, options);
      std::vector<Cell> row = {text(series.title()), text(std::string(metric_title(metric)))};
      if (results.seeds.size() > kSeedColumns) {
        row.push_back(number(over.seeds, 0));
      } else {
        for (std::int64_t seed : results.seeds) {
          row.push_back(number(seed_value(results, series, condition, seed, metric, options.at), 2));
        }
      }
      row.push_back(number(over.mean, 1));
      row.push_back(number(over.seeds > 1 ? over.deviation : kMissing, 1));
      table.rows.push_back(std::move(row));
    }
  }
  return table;
}

std::optional<Table> best_final_table(const Results& results, const SummaryOptions& options) {
  SummaryOptions best = options, last = options;
  best.at = At::kBest;
  last.at = At::kLast;
  Table table{
      .id = "best_final",
      .caption = fmt::format("Best epoch against last epoch, overall test accuracy (%). {}. Gap: best minus "
                             "last.",
                             seeds_phrase(results, results.conditions))};
  table.columns = {{"ρ", true, true}, {"Strategy", true}, {"Best"}, {"Last"}, {"Gap"}};
  bool untold = false;
  for (const Condition& condition : results.conditions) {
    for (const Series& series : results.series) {
      const Average a = average(results, series, condition, Metric::kOverall, best);
      const Average b = average(results, series, condition, Metric::kOverall, last);
      if (b.seeds == 0) continue;
      untold = untold || a.seeds != b.seeds;
      const double gap = results.gap(series, condition, Metric::kOverall).value_or(kMissing);
      table.rows.push_back({text(condition.text()), text(series.title()), average_cell(a, true),
                            average_cell(b, true), number(gap, 2)});
    }
  }
  if (table.rows.empty()) return std::nullopt;
  if (untold) add_note(table, "Gap: over the seeds whose last epoch is known, which are not all.");
  const bool otherwise = std::any_of(results.runs.begin(), results.runs.end(), [](const RunResult& run) {
    return run.chosen_by && (*run.chosen_by != Metric::kOverall || !run.chosen_on_test);
  });
  if (otherwise)
    add_note(
        table,
        "Where another accuracy than the overall one on the test images chose the best epoch, the gap is not "
        "how much the choice flatters.");
  return table;
}

std::optional<Table> calibration_table(const Results& results, const SummaryOptions& options) {
  Table table{.id = "calibration",
              .caption = fmt::format(
                  "Macro F1, balanced accuracy and expected calibration error (15 bins), in percent. "
                  "{}, {}.",
                  seeds_phrase(results, results.conditions), logged_epoch_phrase(results, options.at))};
  table.columns = {{"ρ", true, true}, {"Strategy", true}, {"Macro F1"},   {"Balanced"},
                   {"ECE"},           {"ECE head"},       {"ECE medium"}, {"ECE tail"}};
  using Field = double train::FullResult::*;
  for (const Condition& condition : results.conditions) {
    for (const Series& series : results.series) {
      std::vector<Cell> row = {text(condition.text()), text(series.title())};
      bool any = false;
      for (Field field :
           {&train::FullResult::macro_f1, &train::FullResult::balanced, &train::FullResult::ece,
            &train::FullResult::head_ece, &train::FullResult::medium_ece, &train::FullResult::tail_ece}) {
        std::vector<double> values;
        for (std::int64_t seed : results.seeds) {
          const RunResult* run = results.find(series, condition, seed);
          if (!run || !run->log) continue;
          const double value = (options.at == At::kBest ? run->log->best : run->log->last).*field;
          if (std::isfinite(value)) values.push_back(value);
        }
        any = any || (field == &train::FullResult::ece && !values.empty());
        row.push_back(
            number(mean(values), values.size() > 1 ? deviation(values, options.deviation) : kMissing, 1));
      }
      if (any) table.rows.push_back(std::move(row));
    }
  }
  if (table.rows.empty()) return std::nullopt;
  return table;
}

std::vector<Table> all_tables(const Results& results, const Summary& summary) {
  std::vector<Table> tables;
  const auto add = [&](std::optional<Table> table) {
    if (table) tables.push_back(std::move(*table));
  };
  add(overall_table(results, summary.options));
  add(balanced_table(results, summary.options));
  for (auto c = results.conditions.rbegin(); c != results.conditions.rend(); ++c) {
    add(groups_table(results, *c, summary.options, false));
  }
  if (many_series(results)) {
    for (auto c = results.conditions.rbegin(); c != results.conditions.rend(); ++c) {
      add(differences_table(results, summary, *c));
      add(all_pairs_table(results, summary, *c));
    }
  } else {
    for (const Series& series : results.series) {
      if (series != summary.baseline) add(paired_table(results, summary, series));
    }
  }
  for (auto c = results.conditions.rbegin(); c != results.conditions.rend(); ++c)
    add(intervals_table(summary, *c));
  for (auto c = results.conditions.rbegin(); c != results.conditions.rend(); ++c)
    add(noise_table(results, summary, *c));
  for (auto c = results.conditions.rbegin(); c != results.conditions.rend(); ++c)
    add(image_pairs_table(results, summary, *c));
  for (auto c = results.conditions.rbegin(); c != results.conditions.rend(); ++c)
    add(classes_table(results, summary, *c));
  add(best_final_table(results, summary.options));
  for (auto c = results.conditions.rbegin(); c != results.conditions.rend(); ++c) {
    add(groups_table(results, *c, summary.options, true));
  }
  add(per_seed_table(results, summary.options));
  for (auto c = results.conditions.rbegin(); c != results.conditions.rend(); ++c) {
    add(per_seed_groups_table(results, *c, summary.options));
  }
  for (auto c = results.conditions.rbegin(); c != results.conditions.rend(); ++c) {
    add(group_confusion_table(results, *c, summary.options));
    add(worst_pairs_table(results, *c, summary.options));
    add(every_class_table(results, *c, summary.options));
  }
  add(calibration_table(results, summary.options));
  add(dataset_table(results));
  add(group_counts_table(results));
  add(training_table(results));
  add(bias_variance_table(results));
  std::set<std::string> taken;
  for (Table& table : tables) table.id = untaken(table.id, taken);
  return tables;
}

}  // namespace longtail::report
