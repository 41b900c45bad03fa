// What the test images say: every class with its interval, and strategies paired image by image.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "longtail/report/compare.h"
#include "longtail/report/tables.h"
#include "longtail/report/tables_parts.h"

namespace longtail::report {
namespace {

constexpr std::size_t kMostClasses = 30, kMostSeries = 5;  // for which a table of single classes is printed

// Accuracies of a class over the seeds of a series, and its test images.
struct ClassAccuracy {
  double mean = kMissing;  // percent
  double images = 0;
  Interval interval{kMissing, kMissing};
};

ClassAccuracy class_accuracy(const Results& results, const Series& series, const Condition& condition,
                             std::size_t k, At at) {
  ClassAccuracy own;
  std::vector<double> values;
  for (const std::int64_t seed : results.seeds) {
    const RunResult* run = results.find(series, condition, seed);
    if (!run || !run->log) continue;
    const train::FullResult& result = result_of(*run, at);
    if (k >= result.per_class.size() || k >= result.confusion.size()) continue;
    const double images = std::accumulate(result.confusion[k].begin(), result.confusion[k].end(), 0.0);
    if (images <= 0 || !std::isfinite(result.per_class[k])) continue;
    values.push_back(result.per_class[k]);
    own.images = images;
  }
  if (values.empty()) return own;
  own.mean = mean(values);
  const Interval share = wilson(own.mean / 100, own.images);
  own.interval = {100 * share.low, 100 * share.high};
  return own;
}

// Explains the intervals by seeds.
std::string by_seeds(Method method) {
  switch (method) {
    case Method::kPooled:
      return "Dunnett's, for all strategies together. Neither contains the other.";
    case Method::kSeparate:
      return "paired t, Bonferroni's correction, for all strategies together. Neither contains the other.";
    case Method::kNone:
      break;
  }
  return "cannot be told.";
}

}  // namespace

std::optional<Table> classes_table(const Results& results, const Summary& summary,
                                   const Condition& condition) {
  const RunResult* example = results.example(condition);
  if (!example || example->log->class_counts.size() > kMostClasses || results.series.size() > kMostSeries)
    return std::nullopt;
  Table table{
      .id = "classes_" + condition.slug(),
      .caption = fmt::format("Accuracy by class at {} (%), mean over seeds, with the 95% interval that the "
                             "number of test images gives it (Wilson).{}",
                             condition.phrase(), at_logged_epoch(results, summary.options.at, "Accuracies"))};
  table.columns = {{"Class", true}, {"Training"}, {"Test"}};
  for (const Series& series : results.series) table.columns.push_back({series.title()});
  bool any = false;
  for (std::size_t k = 0; k < example->log->class_counts.size(); ++k) {
    std::vector<Cell> row = {text(class_name(*example->log, k)),
                             number(static_cast<double>(example->log->class_counts[k]), 0)};
    double images = 0;
    std::vector<Cell> cells;
    for (const Series& series : results.series) {
      const ClassAccuracy own = class_accuracy(results, series, condition, k, summary.options.at);
      images = std::max(images, own.images);
      cells.push_back(std::isfinite(own.mean)
                          ? text(fmt::format("{} ({}–{})", fixed(own.mean, 0), fixed(own.interval.low, 0),
                                             fixed(own.interval.high, 0)))
                          : number(kMissing, 0));
    }
    any = any || images > 0;
    row.push_back(number(images, 0));
    row.insert(row.end(), cells.begin(), cells.end());
    table.rows.push_back(std::move(row));
  }
  if (!any) return std::nullopt;
  return table;
}

std::string classes_csv(const Results& results, At at) {
  std::string out = "condition,series,class,training_images,test_images,accuracy,low,high\n";
  for (const Condition& condition : results.conditions) {
    const RunResult* example = results.example(condition);
    if (!example) continue;
    for (const Series& series : results.series) {
      for (std::size_t k = 0; k < example->log->class_counts.size(); ++k) {
        const ClassAccuracy own = class_accuracy(results, series, condition, k, at);
        if (!std::isfinite(own.mean)) continue;
        out += fmt::format("{},{},{},{},{:.0f},{:.4f},{:.4f},{:.4f}\n", csv_escape(condition.text()),
                           csv_escape(series.text()), csv_escape(class_name(*example->log, k)),
                           example->log->class_counts[k], own.images, own.mean, own.interval.low,
                           own.interval.high);
      }
    }
  }
  return out;
}

std::optional<Table> image_pairs_table(const Results& results, const Summary& summary,
                                       const Condition& condition) {
  Table table{
      .id = "images_" + condition.slug(),
      .caption = fmt::format("Balanced accuracy minus that of {} at {} (points), paired by test image and by "
                             "seed: what each kind of chance leaves open (95%).{}",
                             summary.baseline.title(), condition.phrase(),
                             at_logged_epoch(results, summary.options.at, "Test images"))};
  table.columns = {{"Strategy", true}, {"Gained"}, {"Lost"},       {"Difference"},
                   {"Images: low"},    {"high"},   {"Seeds: low"}, {"high"}};
  std::map<std::int64_t, train::Predictions> baseline;
  const auto predicted = [&](const Series& series, std::int64_t seed) -> std::optional<train::Predictions> {
    const RunResult* run = results.find(series, condition, seed);
    return run && run->log ? predictions_of(run->source, *run->log) : std::nullopt;
  };
  for (const std::int64_t seed : results.seeds) {
    if (auto one = predicted(summary.baseline, seed)) baseline.emplace(seed, std::move(*one));
  }
  std::size_t images = 0, fewest = 0, most = 0;  // seeds that a strategy shares with the baseline
  Method method = Method::kNone;
  for (const Series& series : results.series) {
    if (series == summary.baseline || baseline.empty()) continue;
    std::vector<train::Predictions> own;
    std::vector<const train::Predictions*> theirs;
    for (const auto& [seed, one] : baseline) {
      auto ours = predicted(series, seed);
      if (!ours) continue;
      own.push_back(std::move(*ours));
      theirs.push_back(&one);
    }
    std::vector<PredictionPair> pairs;
    for (std::size_t i = 0; i < own.size(); ++i) pairs.push_back({theirs[i], &own[i]});
    const auto made = pair_images(pairs, summary.options.at);
    if (!made) continue;
    images = made->images;
    fewest = most == 0 ? made->seeds : std::min(fewest, made->seeds);
    most = std::max(most, made->seeds);
    const Comparison* c = find_comparison(summary, series, condition, Metric::kBalanced);
    if (c) method = c->method;
    table.rows.push_back({text(series.title()), number(made->gained, 0), number(made->lost, 0),
                          difference(made->balanced, 2), bound(made->low, 2), bound(made->high, 2),
                          bound(c ? c->low : kMissing, 2), bound(c ? c->high : kMissing, 2)});
  }
  if (table.rows.empty()) return std::nullopt;
  table.notes.push_back(
      fmt::format("{} test images, {}{} seed{}. Gained: test images that the strategy has right and {} "
                  "wrong, mean over seeds; lost: the other way round. Images: as if other test images of the "
                  "same kind had been drawn, each strategy by itself; seeds: {}",
                  images, fewest < most ? fmt::format("{} to ", fewest) : "", most, most == 1 ? "" : "s",
                  summary.baseline.title(), by_seeds(method)));
  return table;
}

}  // namespace longtail::report
