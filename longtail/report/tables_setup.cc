// The tables of what was compared: data, groups, training, and the bias and variance of each strategy.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <set>

#include "longtail/base/error.h"
#include "longtail/base/text.h"
#include "longtail/data/groups.h"
#include "longtail/report/tables.h"
#include "longtail/sampling/strategy.h"

namespace longtail::report {
namespace {

using Counts = std::vector<std::int64_t>;

// The mean of the middle two, rounded half up, as the paper prints it.
std::int64_t median(Counts counts) {
  std::sort(counts.begin(), counts.end());
  const std::size_t half = counts.size() / 2;
  if (counts.size() % 2 == 1) return counts[half];
  return (counts[half - 1] + counts[half] + 1) / 2;
}

// A table with one column for each condition that has a log.
std::optional<Table> by_condition(
    const Results& results, Table table,
    const std::vector<std::pair<std::string, std::function<std::string(const RunResult&)>>>& rows) {
  std::vector<const RunResult*> examples;
  for (const Condition& condition : results.conditions) {
    if (const RunResult* run = results.example(condition)) {
      examples.push_back(run);
      table.columns.push_back({condition.phrase()});
    }
  }
  if (examples.empty()) return std::nullopt;
  for (const auto& [title, value] : rows) {
    std::vector<Cell> row = {text(title)};
    for (const RunResult* run : examples) row.push_back(text(value(*run)));
    table.rows.push_back(std::move(row));
  }
  return table;
}

// With the thresholds, if all logs have the same ones: thirds are cut elsewhere in each condition.
std::array<std::string, 3> group_titles(const Results& results) {
  std::set<std::string> definitions;
  std::set<std::array<std::int64_t, 2>> cuts;
  for (const RunResult& run : results.runs) {
    if (!run.log) continue;
    definitions.insert(run.log->groups);
    cuts.insert(data::Groups::parse(run.log->groups).decided(run.log->class_counts).thresholds());
  }
  if (cuts.size() != 1) return {"Head", "Medium", "Tail"};
  if (definitions.size() == 1 && definitions.contains("field"))
    return {"Head (n > 100)", "Medium (20 ≤ n ≤ 100)", "Tail (n < 20)"};
  const auto [low, high] = *cuts.begin();
  return {fmt::format("Head (n > {})", high), fmt::format("Medium ({} < n ≤ {})", low, high),
          fmt::format("Tail (n ≤ {})", low)};
}

// The value that all logs share, or "varies" and all values.
std::string common(const Results& results, const std::string& key) {
  std::set<std::string> values;
  for (const RunResult& run : results.runs) {
    const auto found = run.config.find(key);
    if (found != run.config.end()) values.insert(found->second);
  }
  if (values.empty()) return "";
  if (values.size() == 1) return *values.begin();
  return "varies: " + base::join(std::vector<std::string>(values.begin(), values.end()), "; ");
}

struct Shape {  // of a strategy in a situation: how far from the data, and how noisy against uniform sampling
  double bias = 0;
  double head = 0;
  double tail = 0;
};

Shape shape_of(const sampling::Strategy& strategy, const Counts& counts,
               const std::vector<data::Group>& groups, const sampling::Situation& situation) {
  const double total = static_cast<double>(std::accumulate(counts.begin(), counts.end(), std::int64_t{0}));
  const double classes =
      static_cast<double>(std::count_if(counts.begin(), counts.end(), [](std::int64_t n) { return n > 0; }));
  const std::vector<double> p = strategy.probabilities(counts, situation);
  // The rarest group that has classes stands for the tail.
  data::Group rare = data::Group::kHead;
  for (std::size_t k = 0; k < counts.size(); ++k) {
    if (counts[k] > 0) rare = std::max(rare, groups[k]);
  }
  double bias = 0, full = 0;
  std::array<double, 3> own{}, plain{};
  for (std::size_t k = 0; k < counts.size(); ++k) {
    if (counts[k] == 0) continue;
    const double n = static_cast<double>(counts[k]), share = n / total;
    bias += (p[k] - share) * (p[k] - share);
    full += (1 / classes - share) * (1 / classes - share);
    own[static_cast<std::size_t>(groups[k])] += p[k] * p[k] / n;
    plain[static_cast<std::size_t>(groups[k])] += share * share / n;
  }
  const auto ratio = [&](data::Group group) {
    const auto g = static_cast<std::size_t>(group);
    return plain[g] > 0 ? own[g] / plain[g] : kMissing;
  };
  return {full > 0 ? bias / full : 0, ratio(data::Group::kHead), ratio(rare)};
}

std::string bias_word(double bias) {
  return bias < 1e-9 ? "None" : bias < 0.05 ? "Low" : bias < 0.6 ? "Medium" : "High";
}
std::string noise_word(double ratio, double balanced) {
  return !std::isfinite(ratio) ? "n/a" : ratio <= 2 ? "Low" : ratio <= balanced / 2 ? "Medium" : "High";
}
std::string course(const std::string& start, const std::string& end) {
  return start == end ? start : start + " → " + end;
}
// The paper's words for its four strategies; ours for the others.
std::string description(std::string_view strategy) {
  static const std::map<std::string, std::string, std::less<>> words = {
      {"uniform", "Unbiased; neglects tail"},
      {"class_balanced", "Equal class weight; overfits tail"},
      {"square_root", "Intermediate compromise"},
      {"progressive", "Adaptive schedule"},
      {"power", "Compromise by an exponent"},
      {"effective_number", "Weighs by the effective number of images"},
      {"repeat_factor", "Repeats rare classes only"},
      {"deferred", "One strategy, later another"}};
  const auto found = words.find(strategy.substr(0, strategy.find_first_of(":(")));
  return found == words.end() ? "" : found->second;
}
std::string range(double start, double end) {
  const auto shown = [](double v) { return v >= 10 ? fixed(v, 0) : fixed(v, 2); };
  return course(shown(start), shown(end));
}

}  // namespace

std::optional<Table> dataset_table(const Results& results) {
  Table table{.id = "dataset", .caption = "Statistics of the long-tailed training sets."};
  table.columns = {{"Statistic", true}};
  const auto& counts = [](const RunResult& run) -> const Counts& { return run.log->class_counts; };
  return by_condition(
      results, std::move(table),
      {
          {"Total training samples",
           [&](const RunResult& run) {
             return base::with_commas(
                 std::accumulate(counts(run).begin(), counts(run).end(), std::int64_t{0}));
           }},
          {"Classes", [&](const RunResult& run) { return std::to_string(counts(run).size()); }},
          {"Max class size",
           [&](const RunResult& run) {
             return base::with_commas(*std::max_element(counts(run).begin(), counts(run).end()));
           }},
          {"Min class size",
           [&](const RunResult& run) {
             return base::with_commas(*std::min_element(counts(run).begin(), counts(run).end()));
           }},
          {"Median class size", [&](const RunResult& run) { return base::with_commas(median(counts(run))); }},
      });
}

std::optional<Table> group_counts_table(const Results& results) {
  Table table{.id = "group_counts", .caption = "Number of classes in each group."};
  table.columns = {{"Group", true}};
  const auto titles = group_titles(results);
  std::vector<std::pair<std::string, std::function<std::string(const RunResult&)>>> rows;
  for (std::size_t g = 0; g < 3; ++g) {
    rows.emplace_back(titles[g],
                      [g](const RunResult& run) { return std::to_string(run.log->group_sizes[g]); });
  }
  rows.emplace_back("Total",
                    [](const RunResult& run) { return std::to_string(run.log->class_counts.size()); });
  return by_condition(results, std::move(table), rows);
}

std::optional<Table> training_table(const Results& results) {
  if (!results.has_logs()) return std::nullopt;
  Table table{.id = "training", .caption = "Training configuration."};
  table.columns = {{"Hyperparameter", true}, {"Value", true}};
  const auto add = [&](const char* title, const std::string& value) {
    if (!value.empty()) table.rows.push_back({text(title), text(value)});
  };
  const std::string nesterov = common(results, "nesterov");
  add("Data set", common(results, "dataset"));
  add("Network", common(results, "model"));
  add("Shortcut", common(results, "shortcut"));
  add("Augmentation", common(results, "augment"));
  add("Loss", common(results, "loss"));
  add("Optimiser", nesterov.empty()      ? "SGD with momentum"
                   : nesterov == "true"  ? "SGD with Nesterov momentum"
                   : nesterov == "false" ? "SGD with plain momentum"
                                         : "SGD; Nesterov momentum " + nesterov);
  add("Momentum", common(results, "momentum"));
  add("Weight decay", common(results, "weight_decay"));
  add("Initial learning rate", common(results, "lr"));
  add("Batch size", common(results, "batch_size"));
  add("Training epochs", std::to_string(results.epochs()));
  add("Warmup epochs", common(results, "warmup_epochs"));
  add("LR schedule", common(results, "schedule"));
  add("LR milestones", common(results, "milestones"));
  add("LR decay factor", common(results, "lr_decay"));
  add("Gradient clipping (max norm)", common(results, "clip"));
  return table;
}

std::optional<Table> bias_variance_table(const Results& results) {
  const RunResult* example = nullptr;
  for (const Condition& condition : results.conditions) {
    if (const RunResult* run = results.example(condition)) example = run;  // the most severe ratio
  }
  if (!example) return std::nullopt;
  const Counts& counts = example->log->class_counts;
  const auto groups = data::Groups::parse(example->log->groups).of(counts);
  const int epochs = example->log->epochs();
  const Shape balanced = shape_of(*sampling::make_strategy("class_balanced"), counts, groups, {0, epochs});
  Table table{
      .id = "bias_variance",
      .caption = fmt::format("Bias and gradient variance of the strategies at {}, first → last epoch.",
                             example->condition.phrase())};
  table.columns = {{"Strategy", true},       {"Bias²", true},       {"Variance, head", true},
                   {"Variance, tail", true}, {"Description", true}, {"Bias² (1 = balanced)"},
                   {"Head (1 = uniform)"},   {"Tail (1 = uniform)"}};
  std::set<std::string> seen;
  for (const Series& series : results.series) {
    const std::string& name = series.strategy();
    if (!seen.insert(name).second) continue;
    try {
      const auto strategy = sampling::make_strategy(name);
      sampling::refuse_feedback(*strategy);
      const Shape a = shape_of(*strategy, counts, groups, {0, epochs});
      const Shape b = shape_of(*strategy, counts, groups, {epochs - 1, epochs});
      table.rows.push_back(
          {text(Series(name).title()), text(course(bias_word(a.bias), bias_word(b.bias))),
           text(course(noise_word(a.head, balanced.head), noise_word(b.head, balanced.head))),
           text(course(noise_word(a.tail, balanced.tail), noise_word(b.tail, balanced.tail))),
           text(description(name)), text(range(a.bias, b.bias)), text(range(a.head, b.head)),
           text(range(a.tail, b.tail))});
    } catch (const base::Error&) {
      continue;  // a strategy that this program does not know, or whose course only a training shows
    }
  }
  if (table.rows.empty()) return std::nullopt;
  table.notes.push_back(
      "Bias²: squared distance of the class distribution from the data's, relative to class-balanced "
      "sampling. Variance: sum of p²/n over the group's classes, relative to uniform sampling; the rarest "
      "group that has classes stands for the tail. Low per-update variance does not help classes that are "
      "hardly ever drawn.");
  return table;
}

}  // namespace longtail::report
