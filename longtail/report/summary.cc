#include "longtail/report/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "longtail/base/error.h"
#include "longtail/base/text.h"
#include "longtail/report/table.h"

namespace longtail::report {
namespace {

// The baseline the user chose; otherwise that of the race, if it has a run; otherwise uniform sampling or the
// plainest series.
Series pick_baseline(const Results& results, const SummaryOptions& options) {
  const auto& all = results.series;
  const std::string& wanted = options.baseline;
  const std::string& raced = options.looks ? options.looks->baseline : wanted;
  const auto called = [&](const std::string& text) {
    return std::find_if(all.begin(), all.end(), [&](const Series& one) { return one.text() == text; });
  };
  if (wanted.empty()) {
    for (const std::string& text : {raced, std::string("uniform")}) {
      if (text.empty()) continue;
      if (const auto found = called(text); found != all.end()) return *found;
    }
    return results.plainest;
  }
  const auto found = std::find_if(all.begin(), all.end(), [&](const Series& one) {
    return one.text() == wanted || one.title() == wanted;
  });
  if (found != all.end()) return *found;
  std::vector<std::string> names;
  names.reserve(all.size());
  for (const Series& one : all) names.push_back(one.text());
  base::fail<base::UsageError>("there is no series `{}` to compare with{}; there are: {}", wanted,
                               base::did_you_mean(wanted, names), base::join(names, ", "));
}

// The row of a series among those of a table.
std::size_t row_of(const std::vector<Series>& rows, const Series& series) {
  return static_cast<std::size_t>(std::find(rows.begin(), rows.end(), series) - rows.begin());
}

Comparison compare(const Results& results, const Series& baseline, const Series& series,
                   const Condition& condition, Metric metric, At at) {
  Comparison result{.series = series, .condition = condition, .metric = metric};
  for (std::int64_t seed : results.seeds) {
    const RunResult* ours = results.find(series, condition, seed);
    const RunResult* theirs = results.find(baseline, condition, seed);
    if (!ours || !theirs) continue;
    const double difference = accuracy(*ours, metric, at) - accuracy(*theirs, metric, at);
    if (!std::isfinite(difference)) continue;
    result.seeds.push_back(seed);
    result.differences.push_back(difference);
  }
  result.mean = mean(result.differences);
  result.agreement = sign_agreement(result.differences);
  if (result.pairs() >= kSeedsForTests) {
    result.p = sign_flip_p(result.differences);
    result.interval = bootstrap_interval(result.differences);
  }
  return result;
}

// Holm's correction over all tests. Where balanced accuracy is the overall accuracy, its tests are duplicates
// and are not counted twice.
void correct(std::vector<Comparison>& comparisons, bool balanced_apart) {
  const auto counted = [&](const Comparison& c) {
    return c.p && (balanced_apart || c.metric != Metric::kBalanced);
  };
  std::vector<double> p_values;
  for (const Comparison& comparison : comparisons) {
    if (counted(comparison)) p_values.push_back(*comparison.p);
  }
  const std::vector<double> corrected = holm(p_values);
  std::size_t next = 0;
  for (Comparison& comparison : comparisons) {
    if (counted(comparison)) comparison.holm_p = corrected[next++];
  }
}

// Adds the family of each metric in a condition, and sets the intervals of its comparisons.
void judge(const Results& results, const Condition& condition, Summary& summary) {
  const At at = summary.options.at;
  std::vector<Metric> metrics = results.metrics();
  if (!summary.balanced_apart) metrics.push_back(Metric::kBalanced);
  const std::vector<Series> series = results.series_in(condition);
  for (const Metric metric : metrics) {
    const SeedTable table = seed_table(results, condition, metric, at);
    Family family = analyse(table, {.baseline = row_of(series, summary.baseline)});
    for (std::size_t i = 0; i < table.strategies(); ++i) {
      for (Comparison& c : summary.comparisons) {
        if (c.condition != condition || c.metric != metric || c.series != series[i]) continue;
        const Standing& standing = family.standings[i];
        c.difference = standing.difference;
        c.low = standing.low;
        c.high = standing.high;
        c.method = family.method;
        c.judgement = standing.judgement;
      }
    }
    const bool any = std::any_of(family.standings.begin(), family.standings.end(),
                                 [](const Standing& one) { return one.seeds > 0; });
    const bool twice = metric == Metric::kBalanced && !summary.balanced_apart;
    if (any && !twice) summary.families.push_back({condition, metric, series, std::move(family)});
  }
}

// The groups for which some run of the condition has an accuracy.
std::vector<Metric> groups_told(const Results& results, const Condition& condition, At at) {
  std::vector<Metric> told;
  for (const Metric metric : {Metric::kHead, Metric::kMedium, Metric::kTail}) {
    if (std::any_of(results.runs.begin(), results.runs.end(), [&](const RunResult& run) {
          return run.condition == condition && std::isfinite(accuracy(run, metric, at));
        }))
      told.push_back(metric);
  }
  return told;
}

// A run that lacks one of the `groups` that others have has no worst group.
double goal_value(const RunResult& run, Goal goal, const std::vector<Metric>& groups, At at) {
  switch (goal) {
    case Goal::kBalanced:
      return accuracy(run, Metric::kBalanced, at);
    case Goal::kOverall:
      return accuracy(run, Metric::kOverall, at);
    case Goal::kTail:
      return accuracy(run, Metric::kTail, at);
    case Goal::kWorst:
      break;
  }
  double worst = std::nan("");
  for (const Metric metric : groups) {
    const double own = accuracy(run, metric, at);
    if (std::isnan(own)) return own;
    worst = std::fmin(worst, own);
  }
  return worst;
}

SeedTable table_of(const Results& results, const Condition& condition, const auto& value) {
  SeedTable table;
  for (const Series& series : results.series_in(condition)) {
    std::vector<double> row;
    for (const std::int64_t seed : results.seeds) {
      const RunResult* run = results.find(series, condition, seed);
      row.push_back(run ? value(*run) : std::nan(""));
    }
    table.names.push_back(series.text());
    table.values.push_back(std::move(row));
  }
  if (const auto at = results.trainings.find(condition); at != results.trainings.end())
    table.trainings = at->second;
  return table;
}

// Balanced accuracy if every run has it, otherwise overall accuracy.
Goal goal_of(const Results& results, Goal wanted) {
  const bool known = std::all_of(results.runs.begin(), results.runs.end(), [](const RunResult& run) {
    return std::isfinite(accuracy(run, Metric::kBalanced, At::kBest));
  });
  return wanted == Goal::kBalanced && !known ? Goal::kOverall : wanted;
}

}  // namespace

SeedTable seed_table(const Results& results, const Condition& condition, Metric metric, At at) {
  return table_of(results, condition, [&](const RunResult& run) { return accuracy(run, metric, at); });
}

Question question_of(const Results& results, const Condition& condition, const Series& baseline,
                     const SummaryOptions& options) {
  Question question{.goal = goal_of(results, options.goal), .looks = options.looks};
  const std::vector<Metric> groups = groups_told(results, condition, options.at);
  question.table = table_of(results, condition, [&](const RunResult& run) {
    return goal_value(run, question.goal, groups, options.at);
  });
  const std::vector<Series> rows = results.series_in(condition);
  for (const Series& series : rows) question.words.push_back(series.words());
  question.baseline = row_of(rows, baseline);
  for (const Metric metric : {Metric::kTail, Metric::kHead, Metric::kMedium})
    question.groups.emplace_back(metric_name(metric), seed_table(results, condition, metric, options.at));
  return question;
}

std::vector<Series> leaders(const Results& results, const Condition& condition, Metric metric,
                            const SummaryOptions& options) {
  std::vector<Series> best;
  double top = -1;
  for (const Series& series : results.series) {
    const Average candidate = average(results, series, condition, metric, options);
    if (candidate.seeds == 0 || candidate.mean < top) continue;
    if (candidate.mean > top) best.clear();
    top = candidate.mean;
    best.push_back(series);
  }
  return best;
}

Average average(const Results& results, const Series& series, const Condition& condition, Metric metric,
                const SummaryOptions& options) {
  const std::vector<double> values = results.values(series, condition, metric, options.at);
  return {mean(values), deviation(values, options.deviation), static_cast<int>(values.size())};
}

Summary summarise(const Results& results, const SummaryOptions& options) {
  Summary summary;
  summary.options = options;
  summary.baseline = pick_baseline(results, options);
  summary.balanced_apart = results.balanced_apart();
  for (const Condition& condition : results.conditions) {
    for (const Series& series : results.series) {
      if (series == summary.baseline) continue;
      for (Metric metric :
           {Metric::kOverall, Metric::kBalanced, Metric::kHead, Metric::kMedium, Metric::kTail}) {
        Comparison c = compare(results, summary.baseline, series, condition, metric, options.at);
        if (c.pairs() > 0) summary.comparisons.push_back(std::move(c));
      }
    }
  }
  correct(summary.comparisons, summary.balanced_apart);
  for (const Condition& condition : results.conditions) judge(results, condition, summary);
  for (const Comparison& c : summary.comparisons) summary.findings.push_back(finding_of(c, summary.baseline));
  for (auto condition = results.conditions.rbegin(); condition != results.conditions.rend(); ++condition) {
    const Question question = question_of(results, *condition, summary.baseline, options);
    summary.goal = question.goal;
    summary.answers.push_back({*condition, recommend(question)});
    if (question.goal == Goal::kWorst)
      summary.worst[*condition] = analyse(question.table, {.baseline = question.baseline});
    const std::string where = results.conditions.size() > 1 ? condition->phrase() + ": " : "";
    if (results.series.size() > 1)
      summary.leads.push_back(where + summary.answers.back().recommendation.sentence);
  }
  summary.remarks = remarks_of(results, summary);
  return summary;
}

const Comparison* find_comparison(const Summary& summary, const Series& series, const Condition& condition,
                                  Metric metric) {
  for (const Comparison& c : summary.comparisons) {
    if (c.series == series && c.condition == condition && c.metric == metric) return &c;
  }
  return nullptr;
}

}  // namespace longtail::report
