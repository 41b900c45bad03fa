// The tables of single classes: the accuracy of each, and which classes are mistaken for which (from the
// confusion matrices of the logs).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "longtail/data/groups.h"
#include "longtail/report/tables.h"
#include "longtail/report/tables_parts.h"

namespace longtail::report {
namespace {

constexpr std::size_t kWorstPairs = 8;  // of each series

std::vector<const RunResult*> runs_of(const Results& results, const Series& series,
                                      const Condition& condition) {
  std::vector<const RunResult*> runs;
  for (std::int64_t seed : results.seeds) {
    const RunResult* run = results.find(series, condition, seed);
    if (run && run->log) runs.push_back(run);
  }
  return runs;
}

std::string epoch_sentence(const Results& results, At at) {
  std::string words = logged_epoch_phrase(results, at);
  words[0] = static_cast<char>(words[0] - 32);
  return words;
}

}  // namespace

const train::FullResult& result_of(const RunResult& run, At at) {
  return at == At::kBest ? run.log->best : run.log->last;
}

std::string class_name(const train::RunLog& log, std::size_t k) {
  return k < log.class_names.size() && !log.class_names[k].empty() ? log.class_names[k]
                                                                   : fmt::format("class {}", k);
}

Confusion confusion_of(const Results& results, const Series& series, const Condition& condition, At at) {
  Confusion sum;
  for (const RunResult* run : runs_of(results, series, condition)) {
    const auto& one = result_of(*run, at).confusion;
    if (one.empty()) continue;
    if (sum.counts.empty()) sum.counts.assign(one.size(), std::vector<std::int64_t>(one.size()));
    if (one.size() != sum.counts.size()) return {};
    for (std::size_t i = 0; i < one.size(); ++i) {
      for (std::size_t j = 0; j < one.size(); ++j) sum.counts[i][j] += one[i][j];
    }
    ++sum.runs;
  }
  return sum;
}

std::optional<Table> every_class_table(const Results& results, const Condition& condition,
                                       const SummaryOptions& options) {
  const RunResult* example = results.example(condition);
  if (!example) return std::nullopt;
  const train::RunLog& log = *example->log;
  const auto groups = data::Groups::parse(log.groups).decided(log.class_counts);
  Table table{.id = "every_class_" + condition.slug(),
              .caption = fmt::format("Test accuracy of each class (%) at {}. Mean ± std over seeds, {}.",
                                     condition.phrase(), logged_epoch_phrase(results, options.at))};
  table.columns = {{"Class", true}, {"Images"}, {"Group", true}};
  std::vector<std::vector<std::vector<double>>> values;  // by series and class, over seeds
  for (const Series& series : results.series) {
    std::vector<std::vector<double>> one(log.class_counts.size());
    for (const RunResult* run : runs_of(results, series, condition)) {
      const std::vector<double>& classes = result_of(*run, options.at).per_class;
      for (std::size_t k = 0; k < std::min(one.size(), classes.size()); ++k) one[k].push_back(classes[k]);
    }
    if (one.empty() || one[0].empty()) continue;
    table.columns.push_back({series.title()});
    values.push_back(std::move(one));
  }
  if (values.empty()) return std::nullopt;
  std::vector<std::size_t> order(log.class_counts.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](auto a, auto b) { return log.class_counts[a] > log.class_counts[b]; });
  for (std::size_t k : order) {
    const std::int64_t count = log.class_counts[k];
    std::vector<Cell> row = {
        text(class_name(log, k)), number(static_cast<double>(count), 0),
        text(count > 0 ? std::string(data::kGroupNames[static_cast<std::size_t>(groups.of(count))]) : "")};
    for (const auto& one : values) {
      row.push_back(
          number(mean(one[k]), one[k].size() > 1 ? deviation(one[k], options.deviation) : kMissing, 1));
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::optional<Table> group_confusion_table(const Results& results, const Condition& condition,
                                           const SummaryOptions& options) {
  const RunResult* example = results.example(condition);
  if (!example) return std::nullopt;
  const train::RunLog& log = *example->log;
  const auto groups = data::Groups::parse(log.groups).decided(log.class_counts);
  Table table{.id = "confusion_" + condition.slug(),
              .caption = fmt::format(
                  "Where the test images of each group go at {}: percent of the group's images that are "
                  "classified right, and as another class of the head, the medium and the tail. {}.",
                  condition.phrase(), epoch_sentence(results, options.at))};
  table.columns = {
      {"Strategy", true, true}, {"Images of", true}, {"Right"}, {"As head"}, {"As medium"}, {"As tail"}};
  for (const Series& series : results.series) {
    const Confusion confusion = confusion_of(results, series, condition, options.at);
    if (confusion.counts.empty()) continue;
    for (std::size_t g = 0; g < data::kGroupNames.size(); ++g) {
      std::array<double, 4> sums{};  // right, then wrong by group
      double all = 0;
      for (std::size_t i = 0; i < confusion.counts.size(); ++i) {
        if (log.class_counts[i] == 0 || static_cast<std::size_t>(groups.of(log.class_counts[i])) != g)
          continue;
        for (std::size_t j = 0; j < confusion.counts.size(); ++j) {
          const auto count = static_cast<double>(confusion.counts[i][j]);
          all += count;
          if (i == j) {
            sums[0] += count;
          } else if (log.class_counts[j] > 0) {
            sums[1 + static_cast<std::size_t>(groups.of(log.class_counts[j]))] += count;
          }
        }
      }
      if (all == 0) continue;
      std::vector<Cell> row = {text(series.title()), text(std::string(data::kGroupNames[g]))};
      for (double sum : sums) row.push_back(number(100 * sum / all, 1));
      table.rows.push_back(std::move(row));
    }
  }
  if (table.rows.empty()) return std::nullopt;
  table.notes.push_back("Counts of all seeds together.");
  return table;
}

std::optional<Table> worst_pairs_table(const Results& results, const Condition& condition,
                                       const SummaryOptions& options) {
  const RunResult* example = results.example(condition);
  if (!example) return std::nullopt;
  const train::RunLog& log = *example->log;
  Table table{.id = "worst_pairs_" + condition.slug(),
              .caption = fmt::format(
                  "The confusions that cost most at {}: of the test images of a class the percentage that is "
                  "taken for one other class. {}.",
                  condition.phrase(), epoch_sentence(results, options.at))};
  table.columns = {{"Strategy", true, true}, {"Class", true}, {"Images"},
                   {"Taken for", true},      {"Its images"},  {"Percent"}};
  struct Pair {
    std::size_t from, to;
    double share;
  };
  for (const Series& series : results.series) {
    const Confusion confusion = confusion_of(results, series, condition, options.at);
    std::vector<Pair> pairs;
    for (std::size_t i = 0; i < confusion.counts.size(); ++i) {
      const double all = static_cast<double>(
          std::accumulate(confusion.counts[i].begin(), confusion.counts[i].end(), std::int64_t{0}));
      for (std::size_t j = 0; j < confusion.counts.size(); ++j) {
        if (i != j && confusion.counts[i][j] > 0)
          pairs.push_back({i, j, 100 * static_cast<double>(confusion.counts[i][j]) / all});
      }
    }
    std::stable_sort(pairs.begin(), pairs.end(),
                     [](const Pair& a, const Pair& b) { return a.share > b.share; });
    if (pairs.size() > kWorstPairs) pairs.resize(kWorstPairs);
    for (const Pair& pair : pairs) {
      table.rows.push_back(
          {text(series.title()), text(class_name(log, pair.from)),
           number(static_cast<double>(log.class_counts[pair.from]), 0), text(class_name(log, pair.to)),
           number(static_cast<double>(log.class_counts[pair.to]), 0), number(pair.share, 1)});
    }
  }
  if (table.rows.empty()) return std::nullopt;
  table.notes.push_back("Images are training images. Counts of all seeds together.");
  return table;
}

}  // namespace longtail::report
