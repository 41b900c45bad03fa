#include "longtail/train/recorder.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "longtail/base/error.h"
#include "longtail/base/file.h"
#include "longtail/base/hash.h"
#include "longtail/sampling/strategy.h"
#include "longtail/train/best_epoch.h"
#include "longtail/train/evaluate.h"
#include "longtail/train/feedback.h"

namespace longtail::train {

int evaluation_batch(const RunConfig& config) {
  constexpr int kSmallest = 128;
  return std::max(config.batch_size, kSmallest);
}

Recorder::Recorder(std::filesystem::path folder, const RunConfig& config, const RunData& data,
                   nn::Engine& engine)
    : folder_(std::move(folder)),
      config_(config),
      data_(data),
      engine_(engine),
      scale_(logit_scale(config)),
      held_out_feedback_(sampling::make_strategy(config.strategy)->feedback() ==
                         sampling::Feedback::kHeldOut) {}

void Recorder::recall_best(const Checkpoint& state) {
  try {
    best_said_ = read_predictions(predictions_path(log_path(folder_)), state.log->predictions).best;
    if (!state.log->predictions.empty()) return;
  } catch (const base::Error&) {
  }
  const EvaluationSet test{*data_.set, data_.set->test, data_.test_rows, data_.groups, scale_};
  best_said_ = evaluate(engine_, state.best, test, evaluation_batch(config_)).predictions();
}

Recorder::Measured Recorder::measure(Checkpoint& state, const std::function<void()>& pulse) {
  const int epoch = state.epochs_done;
  const int batch_size = evaluation_batch(config_);
  RunLog& log = *state.log;
  const Meter test =
      evaluate(engine_, state.network, {*data_.set, data_.set->test, data_.test_rows, data_.groups, scale_},
               batch_size, pulse);
  const EpochResult result = test.result();
  if (!std::isfinite(result.loss)) return {result, false};
  log.test_acc.push_back(result.overall);
  log.test_loss.push_back(result.loss);
  log.head_acc.push_back(result.head);
  log.medium_acc.push_back(result.medium);
  log.tail_acc.push_back(result.tail);
  // A run from before this list existed stays without it.
  if (std::cmp_equal(log.balanced_acc.size(), epoch)) log.balanced_acc.push_back(result.balanced);
  EpochResult chosen_on = result;
  if (data_.validation.size() > 0) {
    const EvaluationSet set{*data_.set, data_.set->train, data_.validation.indices, data_.groups, scale_};
    const Meter held_out = evaluate(engine_, state.network, set, batch_size, pulse);
    chosen_on = held_out.result();
    log.val_acc.push_back(chosen_on.overall);
    if (held_out_feedback_) log.class_accuracy.push_back(rounded(held_out.full(epoch).per_class));
  }
  const bool best = is_best_epoch(log, config_.select, chosen_on);
  log.last = test.full(epoch);
  if (best) {
    log.best_epoch = epoch;
    log.best = log.last;
    state.best = state.network;
    best_said_ = test.predictions();
  }
  said_now_ = test.predictions();
  state.epochs_done = epoch + 1;
  return {result, best};
}

void Recorder::save(Checkpoint& state) {
  Predictions all{data_.set->classes(), {}, best_said_, said_now_};
  for (std::size_t i = 0; i < said_now_.size(); ++i) {
    const auto row = data_.test_rows.empty() ? i : static_cast<std::size_t>(data_.test_rows[i]);
    all.labels.push_back(data_.set->test.labels[row]);
  }
  const std::string bytes = predictions_bytes(all);
  base::write_atomically(predictions_path(log_path(folder_)), bytes);
  state.log->predictions = base::sha256(bytes);
  write_checkpoint(state_path(folder_), state);
  write_log(log_path(folder_), *state.log);
}

}  // namespace longtail::train
