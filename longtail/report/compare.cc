#include "longtail/report/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>

#include "longtail/base/error.h"
#include "longtail/base/quote.h"
#include "longtail/base/text.h"
#include "longtail/report/table.h"
#include "longtail/train/predictions.h"
#include "longtail/train/run_log.h"

namespace longtail::report {
namespace {

using Logs = std::vector<train::RunLog>;

// A, B, ..., Z, AA, AB, ...
std::string letter_of(std::size_t i) {
  return (i < 26 ? "" : letter_of(i / 26 - 1)) + static_cast<char>('A' + i % 26);
}

std::string name_of(const Logs& logs, std::size_t i) {
  std::string name = logs[i].strategy;
  const auto differs = [&](auto field) {
    return std::any_of(logs.begin(), logs.end(),
                       [&](const train::RunLog& log) { return log.*field != logs[0].*field; });
  };
  if (differs(&train::RunLog::rho)) name += fmt::format(" ρ={:g}", logs[i].rho);
  if (differs(&train::RunLog::seed)) name += fmt::format(" #{}", logs[i].seed);
  return fmt::format("{}: {}", letter_of(i), name);
}

Table differences_table(const Logs& logs) {
  Table table{.id = "configuration", .caption = "What differs in the configuration"};
  table.columns.push_back({"", true});
  for (std::size_t i = 0; i < logs.size(); ++i) table.columns.push_back({name_of(logs, i), true});
  std::set<std::string> keys;
  for (const train::RunLog& log : logs) {
    for (const auto& [key, value] : log.config) keys.insert(key);
  }
  for (const std::string& key : keys) {
    std::vector<Cell> row = {text(key)};
    std::set<std::string> values;
    for (const train::RunLog& log : logs) {
      const auto found = log.config.find(key);
      row.push_back(text(found == log.config.end() ? "–" : found->second));
      values.insert(row.back().text);
    }
    if (values.size() > 1) table.rows.push_back(std::move(row));
  }
  return table;
}

Table results_table(const Logs& logs) {
  Table table{.id = "results", .caption = "Results (%); in brackets the difference to A in points"};
  table.columns.push_back({"", true});
  for (std::size_t i = 0; i < logs.size(); ++i) table.columns.push_back({name_of(logs, i)});
  const auto add = [&](const char* title, int decimals,
                       const std::function<double(const train::RunLog&)>& value) {
    std::vector<Cell> row = {text(title)};
    bool any = false;
    for (std::size_t i = 0; i < logs.size(); ++i) {
      const double ours = value(logs[i]), first = value(logs[0]);
      any = any || std::isfinite(ours);
      std::string words = fixed(ours, decimals);
      if (i > 0 && std::isfinite(ours) && std::isfinite(first))
        words += fmt::format(" ({})", fixed(ours - first, decimals, true));
      row.push_back(text(words));
    }
    if (any) table.rows.push_back(std::move(row));
  };
  add("best epoch", 0, [](const auto& log) { return log.best_epoch + 1.0; });
  add("best: overall", 2, [](const auto& log) { return log.best.accuracy.overall; });
  add("best: balanced", 2, [](const auto& log) { return log.best.balanced; });
  add("best: head", 2, [](const auto& log) { return log.best.accuracy.head; });
  add("best: medium", 2, [](const auto& log) { return log.best.accuracy.medium; });
  add("best: tail", 2, [](const auto& log) { return log.best.accuracy.tail; });
  add("best: macro F1", 2, [](const auto& log) { return log.best.macro_f1; });
  add("best: calibration error", 2, [](const auto& log) { return log.best.ece; });
  add("last epoch", 0, [](const auto& log) { return static_cast<double>(log.epochs()); });
  add("last: overall", 2, [](const auto& log) { return log.last.accuracy.overall; });
  add("last: balanced", 2, [](const auto& log) { return log.last.balanced; });
  add("last: head", 2, [](const auto& log) { return log.last.accuracy.head; });
  add("last: medium", 2, [](const auto& log) { return log.last.accuracy.medium; });
  add("last: tail", 2, [](const auto& log) { return log.last.accuracy.tail; });
  add("training loss at the end", 3,
      [](const auto& log) { return log.train_loss.empty() ? kMissing : log.train_loss.back(); });
  add("seconds of training", 0,
      [](const auto& log) { return log.seconds_training > 0 ? log.seconds_training : kMissing; });
  return table;
}

// The classes that a run gained and lost most against the first.
std::string moved_classes(const Logs& logs, std::size_t i) {
  const auto& a = logs[0].best.per_class;
  const auto& b = logs[i].best.per_class;
  if (a.empty() || a.size() != b.size()) return "";
  std::vector<std::size_t> order;
  for (std::size_t k = 0; k < a.size(); ++k) {
    if (std::isfinite(b[k] - a[k])) order.push_back(k);  // a class without test images has no accuracy
  }
  std::stable_sort(order.begin(), order.end(), [&](auto x, auto y) { return b[x] - a[x] > b[y] - a[y]; });
  const auto words = [&](std::size_t k) {
    const auto& names = logs[i].class_names;
    return fmt::format("{} {} (n = {})", k < names.size() ? names[k] : fmt::format("class {}", k),
                       fixed(b[k] - a[k], 0, true), logs[i].class_counts[k]);
  };
  std::vector<std::string> up, down;
  for (std::size_t j = 0; j < std::min<std::size_t>(5, order.size()); ++j) {
    if (std::lround(b[order[j]] - a[order[j]]) > 0) up.push_back(words(order[j]));
    const std::size_t last = order[order.size() - 1 - j];
    if (std::lround(b[last] - a[last]) < 0) down.push_back(words(last));
  }
  if (up.empty() && down.empty()) return "";
  std::string out = fmt::format("Classes of {} against A, points:\n", name_of(logs, i));
  if (!up.empty()) out += "  gained: " + base::join(up, ", ") + "\n";
  if (!down.empty()) out += "  lost:   " + base::join(down, ", ") + "\n";
  return out;
}

std::string same_start(const Logs& logs) {
  std::string out;
  for (std::size_t i = 1; i < logs.size(); ++i) {
    const auto& a = logs[0].fingerprint;
    const auto& b = logs[i].fingerprint;
    if (a.subset.empty() || b.subset.empty()) continue;
    const auto word = [](bool same) { return same ? "the same" : "other"; };
    const bool data = a.data.empty() || b.data.empty() || a.data == b.data;
    const bool images = data && a.subset == b.subset, weights = a.init == b.init;
    out += fmt::format("{} had {} training images and {} initial weights {} A{}.\n", letter_of(i),
                       word(images), word(weights), images && weights ? "as" : "than",
                       data ? "" : "; the data sets differ in pixels or labels");
  }
  return out;
}

}  // namespace

std::optional<train::Predictions> predictions_of(const std::filesystem::path& log_file,
                                                 const train::RunLog& log) {
  const std::filesystem::path path = train::predictions_path(log_file);
  if (log.predictions.empty() || !std::filesystem::exists(path)) return std::nullopt;
  try {
    return train::read_predictions(path, log.predictions);
  } catch (const base::Error&) {
    return std::nullopt;  // a damaged file proves nothing; `evaluate` reports it
  }
}

std::optional<ImagePairs> pair_images(std::span<const PredictionPair> seeds, At at) {
  if (seeds.empty() || seeds[0].a->labels.empty()) return std::nullopt;
  const std::vector<std::int32_t>& labels = seeds[0].a->labels;
  for (const PredictionPair& pair : seeds) {
    if (pair.a->labels != labels || pair.b->labels != labels) return std::nullopt;
  }
  const double weight = 1 / static_cast<double>(seeds.size());
  struct Class {
    double images = 0, sum = 0, squares = 0;
  };
  std::map<std::int32_t, Class> classes;
  ImagePairs pairs{.images = labels.size(), .seeds = seeds.size()};
  for (std::size_t i = 0; i < labels.size(); ++i) {
    double d = 0;  // mean over seeds
    for (const PredictionPair& pair : seeds) {
      const auto right = [&](const train::Predictions& one) {
        return (at == At::kBest ? one.best : one.last)[i].label == labels[i];
      };
      const bool first = right(*pair.a), second = right(*pair.b);
      pairs.gained += weight * (second && !first);
      pairs.lost += weight * (first && !second);
      d += weight * (static_cast<double>(second) - static_cast<double>(first));
    }
    Class& own = classes[labels[i]];
    own.images += 1;
    own.sum += d;
    own.squares += d * d;
  }
  double mean = 0, variance = 0;
  const double count = static_cast<double>(classes.size());
  for (const auto& [label, own] : classes) {
    const double centre = own.sum / own.images;
    mean += centre / count;
    variance += std::max(0.0, own.squares / own.images - centre * centre) / own.images / (count * count);
  }
  pairs.balanced = 100 * mean;
  const double half = 100 * 1.959964 * std::sqrt(variance);
  pairs.low = pairs.balanced - half;
  pairs.high = pairs.balanced + half;
  return pairs;
}

std::string compare_runs(const std::vector<std::filesystem::path>& paths) {
  Logs logs;
  std::vector<std::filesystem::path> files;
  for (const auto& path : paths) {
    files.push_back(std::filesystem::is_directory(path) ? path / "log.json" : path);
    logs.push_back(train::read_log(files.back()));
  }
  std::string out;
  for (std::size_t i = 0; i < logs.size(); ++i) {
    out += fmt::format("{} (ρ = {:g}, seed {}){}  {}\n", name_of(logs, i), logs[i].rho, logs[i].seed,
                       logs[i].finished ? "" : ", not finished", paths[i].string());
  }
  out += "\n";
  const Table configuration = differences_table(logs);
  out += configuration.rows.empty() ? "The configurations are the same.\n" : to_text(configuration);
  out += same_start(logs) + "\n" + to_text(results_table(logs)) + "\n";
  const auto first = predictions_of(files[0], logs[0]);
  for (std::size_t i = 1; first && i < logs.size(); ++i) {
    const auto other = predictions_of(files[i], logs[i]);
    if (!other) continue;
    const PredictionPair both[] = {{&*first, &*other}};
    const auto pairs = pair_images(both, At::kBest);
    if (!pairs) continue;
    out += fmt::format(
        "{} against A on the same {} test images (best epochs): right where A is wrong {:.0f}, wrong where A "
        "is right {:.0f}; balanced accuracy {} points ({} to {}, 95%, by the test images alone).\n",
        letter_of(i), pairs->images, pairs->gained, pairs->lost, fixed(pairs->balanced, 2, true),
        fixed(pairs->low, 2, true), fixed(pairs->high, 2, true));
  }
  for (std::size_t i = 1; i < logs.size(); ++i) out += moved_classes(logs, i);
  return base::quote::terminal(out);
}

}  // namespace longtail::report
