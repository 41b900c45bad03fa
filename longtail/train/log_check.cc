#include "longtail/train/log_check.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "longtail/base/error.h"
#include "longtail/base/hash.h"

namespace longtail::train {
namespace {

using base::fail;
using nlohmann::json;

constexpr double kSlack = 1e-6;                              // percentage points, for sums in another order
constexpr std::int64_t kMostImages = std::int64_t{1} << 40;  // more than any disk holds

bool same(double a, double b) { return (std::isnan(a) && std::isnan(b)) || std::abs(a - b) <= kSlack; }

void agree(double a, const std::string& where_a, double b, const std::string& where_b) {
  if (same(a, b)) return;
  fail("it does not agree with itself: {} is {}, but {} is {}", where_a, a, where_b, b);
}

void check_sizes(const RunLog& log) {
  if (!(log.rho >= 1 && log.rho <= static_cast<double>(kMostImages))) {
    fail("the key `imbalance_ratio` is {}, which is no ratio of a largest to a smallest class", log.rho);
  }
  for (const auto* list : {&log.class_counts, &log.held_out}) {
    for (const std::int64_t count : *list) {
      if (count > kMostImages) fail("a class has {} images, more than can be", count);
    }
  }
  if (!log.held_out.empty() && log.held_out.size() != log.class_counts.size()) {
    fail("the key `held_out` has {} classes but `class_counts` has {}", log.held_out.size(),
         log.class_counts.size());
  }
  if (!log.class_names.empty() && log.class_names.size() != log.class_counts.size()) {
    fail("the key `class_names` has {} classes but `class_counts` has {}", log.class_names.size(),
         log.class_counts.size());
  }
  const auto grouped = std::accumulate(log.group_sizes.begin(), log.group_sizes.end(), std::int64_t{0});
  if (grouped > static_cast<std::int64_t>(log.class_counts.size())) {
    fail("the groups have {} classes, but there are {}", grouped, log.class_counts.size());
  }
}

// Accuracies by class and over all, from the matrix.
void check_confusion(const FullResult& result, std::size_t classes, const std::string& name) {
  if (result.confusion.empty()) return;
  std::int64_t images = 0, right = 0;
  if (result.confusion.size() != classes) {
    fail("`{}.confusion` has {} rows, but there are {} classes", name, result.confusion.size(), classes);
  }
  double sum = 0;
  int counted = 0;
  for (std::size_t k = 0; k < classes; ++k) {
    const std::vector<int>& row = result.confusion[k];
    if (row.size() != classes)
      fail("row {} of `{}.confusion` has {} entries, not {}", k, name, row.size(), classes);
    const auto total = std::accumulate(row.begin(), row.end(), std::int64_t{0});
    images += total;
    right += row[k];
    if (total == 0) continue;
    const double accuracy = 100.0 * row[k] / static_cast<double>(total);
    sum += accuracy;
    ++counted;
    if (k < result.per_class.size()) {
      agree(result.per_class[k], name + ".per_class_acc of class " + std::to_string(k), accuracy,
            "its row of " + name + ".confusion");
    }
  }
  if (images == 0) return;
  agree(result.accuracy.overall, name + ".overall_acc",
        100.0 * static_cast<double>(right) / static_cast<double>(images),
        "the diagonal of " + name + ".confusion");
  agree(result.balanced, name + ".balanced_acc", sum / counted, "the mean over " + name + ".confusion");
}

void check_result(const RunLog& log, const FullResult& result, int epoch, const std::string& name) {
  if (result.epoch != epoch) {
    fail("it does not agree with itself: `{}.epoch` is {}, but it should be {}", name, result.epoch, epoch);
  }
  for (const double value :
       {result.accuracy.overall, result.accuracy.head, result.accuracy.medium, result.accuracy.tail}) {
    if (value < 0 || value > 100) fail("`{}` has an accuracy of {}, which is not a percentage", name, value);
  }
  const auto e = static_cast<std::size_t>(epoch);
  const std::string at = " at epoch " + std::to_string(epoch);
  agree(result.accuracy.overall, name + ".overall_acc", log.test_acc[e], "test_acc" + at);
  agree(result.accuracy.head, name + ".head_acc", log.head_acc[e], "head_acc" + at);
  agree(result.accuracy.medium, name + ".medium_acc", log.medium_acc[e], "medium_acc" + at);
  agree(result.accuracy.tail, name + ".tail_acc", log.tail_acc[e], "tail_acc" + at);
  check_confusion(result, log.class_counts.size(), name);
}

// The values that chose the best epoch, one per epoch; empty if the log does not have them.
const std::vector<double>& selector_of(const RunLog& log) {
  static const std::vector<double> kNone;
  if (log.selected_by != "overall") return log.selection;
  if (log.selected_on == "validation") return log.val_acc;
  return log.selected_on == "test" ? log.test_acc : kNone;
}

// The best epoch is the one with the highest of these values, or the last epoch. It need not be the first of
// equals: sums in another order may separate them. An unknown value is never the highest, but one of the
// first epoch is never beaten.
void check_best_epoch(const RunLog& log) {
  if (log.selected_by == "last") {
    if (log.best_epoch == log.epochs() - 1) return;
    fail("it does not agree with itself: `best_epoch` is {}, but `selected_by` is last, and the last is {}",
         log.best_epoch, log.epochs() - 1);
  }
  if (log.selected_by == "overall" && log.selected_on == "validation" && log.val_acc.empty()) {
    fail("the key `val_acc` has 0 epochs but `test_acc` has {}", log.test_acc.size());
  }
  const std::vector<double>& selector = selector_of(log);
  if (selector.empty() || std::isnan(selector.front())) return;
  const double chosen = selector[static_cast<std::size_t>(log.best_epoch)];
  for (std::size_t e = 0; e < selector.size(); ++e) {
    if (std::isnan(selector[e]) || chosen >= selector[e] - kSlack) continue;
    fail(
        "it does not agree with itself: `best_epoch` is {}, but epoch {} has a higher {} accuracy on the {} "
        "set",
        log.best_epoch, e, log.selected_by, log.selected_on);
  }
}

}  // namespace

void check_agreement(const RunLog& log) {
  check_sizes(log);
  if (log.schema == 0) return;  // the paper's: what it repeats was computed from its lists when it was read
  check_best_epoch(log);
  check_result(log, log.best, log.best_epoch, "best");
  check_result(log, log.last, log.epochs() - 1, "last");
}

void check_repeated(const json& object, const RunLog& log) {
  const EpochResult& best = log.best.accuracy;
  const std::pair<const char*, double> repeated[] = {{"best_acc", best.overall},
                                                     {"final_overall_acc", best.overall},
                                                     {"final_head_acc", best.head},
                                                     {"final_medium_acc", best.medium},
                                                     {"final_tail_acc", best.tail}};
  for (const auto& [key, value] : repeated) {
    const auto found = object.find(key);
    if (found == object.end()) continue;
    agree(found->is_number() ? found->get<double>() : std::nan(""), key, value, "the same in `best`");
  }
  const auto classes = object.find("final_per_class_acc");
  if (classes == object.end() || !classes->is_array()) return;
  for (std::size_t k = 0; k < std::min(classes->size(), log.best.per_class.size()); ++k) {
    const json& value = (*classes)[k];
    agree(value.is_number() ? value.get<double>() : std::nan(""), "final_per_class_acc",
          log.best.per_class[k], "the same in `best`");
  }
}

std::string results_hash(json object) {
  object.erase(kResultsHash);
  return base::sha256(object.dump(-1, ' ', false, json::error_handler_t::replace));
}

bool check_hash(const json& object) {
  const auto found = object.find(kResultsHash);
  if (found == object.end()) return false;
  if (!found->is_string() || found->get<std::string>() != results_hash(object)) {
    fail("it was changed after it was written: its content does not have the hash that it carries (`{}`)",
         kResultsHash);
  }
  return true;
}

}  // namespace longtail::train
