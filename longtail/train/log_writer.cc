#include "longtail/train/log_writer.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "longtail/base/error.h"
#include "longtail/base/file.h"
#include "longtail/base/text.h"
#include "longtail/sampling/strategy.h"
#include "longtail/train/best_epoch.h"
#include "longtail/train/config.h"
#include "longtail/train/feedback.h"

namespace longtail::train {
namespace {

using base::fail;

// The largest class over the smallest that has images.
double ratio_of(const std::vector<std::int64_t>& counts) {
  std::int64_t largest = 0, smallest = 0;
  for (const std::int64_t count : counts) {
    if (count < 0) fail("`class_counts` has {}; a count cannot be negative", count);
    largest = std::max(largest, count);
    if (count > 0) smallest = smallest == 0 ? count : std::min(smallest, count);
  }
  if (largest == 0) fail("`class_counts` has no images");
  return static_cast<double>(largest) / static_cast<double>(smallest);
}

void refuse_no_percentage(double value, const char* name) {
  if (!(value >= 0 && value <= 100)) fail("`{}` is {}; an accuracy is from 0 to 100 percent", name, value);
}

// What the best epoch is chosen by.
std::string selected_by(const RunLog& log) {
  const auto found = log.config.find("select");
  std::string select = found == log.config.end() ? log.selected_by : found->second;
  for (const std::string_view known : {"overall", "balanced", "tail", "last"}) {
    if (select == known) return select;
  }
  fail("`select` is `{}`; the best epoch is chosen by overall, balanced, tail or last", select);
}

// Reads the log with a made-up epoch as everyone will: a log that would be refused must not be trained for.
void refuse_unreadable(RunLog log) {
  for (auto* list : {&log.train_loss, &log.train_acc, &log.test_acc, &log.test_loss, &log.head_acc,
                     &log.medium_acc, &log.tail_acc, &log.lr_history})
    list->push_back(0);
  try {
    from_json(nlohmann::json::parse(log_text(log)));
  } catch (const nlohmann::json::exception&) {
    fail("the log would have text that is not UTF-8");
  } catch (const base::Error& error) {
    fail("nobody could read the log: {}", error.what());
  }
}

}  // namespace

LogWriter::LogWriter(const std::filesystem::path& folder, RunLog head)
    : path_(folder / "log.json"), log_(std::move(head)) {
  const double ratio = ratio_of(log_.class_counts);
  if (log_.rho == 0) log_.rho = ratio;
  if (!(log_.rho >= 1)) fail("`rho` is {}; the largest class over the smallest is at least 1", log_.rho);
  log_.strategy = sampling::canonical_strategy(log_.strategy);
  const data::Groups groups = data::Groups::parse(log_.groups);
  groups_ = groups.of(log_.class_counts);
  const auto sizes = groups.trained_sizes(log_.class_counts);
  log_.group_sizes.assign(sizes.begin(), sizes.end());
  for (std::size_t k = log_.class_names.size(); k < log_.class_counts.size(); ++k)
    log_.class_names.push_back(fmt::format("{}", k));
  if (log_.class_names.size() != log_.class_counts.size())
    fail("there are {} class names for {} classes", log_.class_names.size(), log_.class_counts.size());
  log_.config = logged_config(std::move(log_.config));
  log_.selected_by = selected_by(log_);
  if (log_.selected_by == "tail" && log_.group_sizes[2] == 0)
    fail("`select` is tail, but no class of the tail has images; choose by balanced, or other `groups`");
  refuse_unreadable(log_);
  base::make_folder(folder);
}

void LogWriter::check_feedback(const std::vector<double>& class_accuracy) const {
  if (epochs() > 0 && class_accuracy.empty() != log_.class_accuracy.empty())
    fail("epoch {} has {}`class_accuracy`, the epochs before {}; give it after every epoch or after none",
         epochs(), class_accuracy.empty() ? "no " : "a ", class_accuracy.empty() ? "have one" : "have none");
  if (!class_accuracy.empty() && class_accuracy.size() != log_.class_counts.size())
    fail("`class_accuracy` has {} accuracies for {} classes", class_accuracy.size(),
         log_.class_counts.size());
  for (const double value : class_accuracy) {
    if (!std::isnan(value)) refuse_no_percentage(value, "class_accuracy");
  }
}

void LogWriter::epoch(const TrainingEpoch& training, FullResult result) {
  if (log_.finished) fail("the log in {} is finished; it takes no more epochs", path_.string());
  if (!std::isfinite(training.train_loss) || !std::isfinite(result.accuracy.loss)) {
    fail("epoch {} has a training loss of {} and a test loss of {}; a loss must be finite", epochs(),
         training.train_loss, result.accuracy.loss);
  }
  refuse_no_percentage(training.train_acc, "train_acc");
  if (result.per_class.size() != log_.class_counts.size())
    fail("the result has {} classes, but the run has {}", result.per_class.size(), log_.class_counts.size());
  check_feedback(training.class_accuracy);
  if (log_.selected_by == "tail" && std::isnan(result.accuracy.tail))
    fail("`select` is tail, but no class of the tail has test images; choose by balanced, or other `groups`");
  result.epoch = epochs();
  if (!training.class_accuracy.empty()) log_.class_accuracy.push_back(rounded(training.class_accuracy));
  log_.train_loss.push_back(training.train_loss);
  log_.train_acc.push_back(training.train_acc);
  log_.lr_history.push_back(training.lr);
  log_.test_loss.push_back(result.accuracy.loss);
  log_.head_acc.push_back(result.accuracy.head);
  log_.medium_acc.push_back(result.accuracy.medium);
  log_.tail_acc.push_back(result.accuracy.tail);
  log_.test_acc.push_back(result.accuracy.overall);
  // A log from before this list existed stays without it.
  if (std::cmp_equal(log_.balanced_acc.size(), result.epoch))
    log_.balanced_acc.push_back(result.accuracy.balanced);
  log_.last = result;
  if (is_best_epoch(log_, log_.selected_by, result.accuracy)) {
    log_.best_epoch = result.epoch;
    log_.best = std::move(result);
  }
  write();
}

void LogWriter::finish() {
  const auto said = log_.config.find("epochs");
  const auto wanted = said == log_.config.end() ? std::nullopt : base::parse_integer(said->second);
  if (epochs() == 0) fail("the run has no epoch; there is nothing to finish");
  if (wanted && epochs() < *wanted)
    fail("the run has {} of {} epochs; it is not finished", epochs(), *wanted);
  log_.finished = true;
  write();
}

void LogWriter::write() const { write_log(path_, log_); }

std::string LogWriter::state() const { return epochs() == 0 ? std::string() : log_text(log_); }

void LogWriter::restore(const std::string& state) {
  if (state.empty()) {  // a checkpoint from before the first epoch
    if (epochs() > 0)
      fail("the state has no epoch, but {} were written here; restore before the first epoch", epochs());
    return;
  }
  RunLog held;
  try {
    held = from_json(nlohmann::json::parse(state));
  } catch (const nlohmann::json::exception&) {
    fail("the state of the log is damaged");
  }
  if (held.fingerprint.protocol != log_.fingerprint.protocol || held.class_counts != log_.class_counts)
    fail("the state is of another run: its configuration or its class counts differ");
  log_ = std::move(held);
}

}  // namespace longtail::train
