#include "longtail/train/rebalance.h"

#include <chrono>
#include <cmath>
#include <utility>

#include "longtail/base/error.h"
#include "longtail/base/file.h"
#include "longtail/base/hash.h"
#include "longtail/data/augmenter.h"
#include "longtail/nn/init.h"
#include "longtail/sampling/strategy.h"
#include "longtail/train/batch_queue.h"
#include "longtail/train/checkpoint.h"
#include "longtail/train/classifier_stage.h"
#include "longtail/train/evaluate.h"
#include "longtail/train/feature_reader.h"
#include "longtail/train/recorder.h"
#include "longtail/train/run_folder.h"

namespace longtail::train {
namespace {

using base::fail;
namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using Kind = RebalanceMethod::Kind;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

std::string network_hash(const NetworkState& network) {
  base::Hasher hasher(base::Hasher::kSha256);
  hasher.add(std::as_bytes(std::span(network.parameters)));
  hasher.add(std::as_bytes(std::span(network.buffers)));
  return hasher.hex();
}

Checkpoint read_parent(const fs::path& folder) {
  Checkpoint parent = read_state(folder);
  if (!parent.log->finished) {
    fail("the run in {} is not finished: {} epochs are done. Train it to its end first", folder.string(),
         parent.epochs_done);
  }
  if (parent.log->parent) {
    fail("the run in {} is itself rebalanced; give the run that it was made from", folder.string());
  }
  if (parent.spec().head != nn::Head::kLinear) {
    fail("the run in {} has a cosine head, and only a linear one can be rebalanced", folder.string());
  }
  const double scale = logit_scale(config_from_map(parent.config));
  if (scale != 1) take_scale(scale, head_of(parent.spec(), parent.network.parameters));
  return parent;
}

RunConfig config_of(const Checkpoint& parent, const RunConfig& where) {
  RunConfig config = config_from_map(parent.config);
  config.rebalance = canonical_rebalance(where.rebalance);
  config.data = where.data;
  config.threads = where.threads;
  // File paths are those given now: the parent's may be relative to another folder.
  for (auto param : {&data::SubsetConfig::counts_file, &data::SubsetConfig::class_order}) {
    const char* name = param == &data::SubsetConfig::counts_file ? "counts_file" : "class_order";
    if (names_file(name, config.subset.*param) && names_file(name, where.subset.*param))
      config.subset.*param = where.subset.*param;
  }
  return config;
}

// The log of the parent without its epochs.
RunLog fresh_log(const Checkpoint& parent, const RunConfig& config) {
  RunLog log = *parent.log;
  for (auto* list :
       {&log.train_loss, &log.train_acc, &log.test_acc, &log.test_loss, &log.head_acc, &log.medium_acc,
        &log.tail_acc, &log.lr_history, &log.val_acc, &log.balanced_acc, &log.selection}) {
    list->clear();
  }
  log.class_accuracy.clear();
  log.best_epoch = 0;
  log.predictions.clear();
  log.finished = false;
  log.seconds_training = log.seconds_evaluation = log.seconds_waiting = 0;
  log.config = logged_config(config_map(config));
  log.fingerprint.protocol = config_hash(config);
  log.fingerprint.version = LONGTAIL_VERSION;
  log.parent = Parent{parent.log->fingerprint.protocol, network_hash(parent.network), parent.epochs_done};
  return log;
}

class Rebalance {
 public:
  Rebalance(const fs::path& parent, const RunConfig& where, const RunOptions& options)
      : options_(options),
        lock_(options.folder),
        parent_(read_parent(parent)),
        config_(config_of(parent_, where)),
        method_(make_rebalance_method(config_.rebalance)),
        pool_(where.threads == 0 ? base::available_cpus() : where.threads) {
    if (auto held = held_state(options_.folder, config_)) {
      state_ = std::move(*held);
      if (state_.log->parent->network != network_hash(parent_.network)) {
        fail("the run in {} was made from another network than the one in {}; use another folder",
             options_.folder.string(), parent.string());
      }
      read_timings(log_path(options_.folder), *state_.log);
      if (state_.log->finished) {
        mend_log(options_.folder, *state_.log);
        note(fmt::format("The run in {} is finished already.", options_.folder.string()));
        return;
      }
    }
    load(parent);
  }

  RunLog go() {
    for (int epoch = state_.epochs_done; epoch < method_->epochs; ++epoch) {
      const auto start = Clock::now();
      progress_ = {.epoch = epoch, .epochs = method_->epochs, .result = progress_.result};
      if (method_->trains()) {
        train(epoch);
      } else {
        compute();
      }
      log().seconds_training += seconds_since(start);
      measure();
    }
    return log();
  }

 private:
  RunLog& log() { return *state_.log; }
  void note(const std::string& sentence) const {
    if (options_.on_note) options_.on_note(sentence);
  }
  void stop_if_asked() const {
    if (!options_.should_stop || !options_.should_stop()) return;
    fail<base::Interrupted>("stopped after {} of {} epochs of rebalancing; the same command {}",
                            state_.epochs_done, method_->epochs,
                            state_.epochs_done == 0 ? "starts again" : "resumes from there");
  }

  void load(const fs::path& parent);
  void begin();
  void train(int epoch);
  void compute();
  double decided_tau();
  void measure();

  RunOptions options_;
  FolderLock lock_;
  Checkpoint parent_;
  RunConfig config_;
  std::unique_ptr<RebalanceMethod> method_;
  base::ThreadPool pool_;
  RunData data_;
  std::unique_ptr<nn::Engine> engine_;  // for the whole network
  std::optional<FeatureReader> reader_;
  std::optional<Recorder> recorder_;
  Checkpoint state_;
  Progress progress_;
};

void Rebalance::load(const fs::path& parent) {
  data_ = load_run_data(config_, options_);
  Fingerprint now = parent_.log->fingerprint;
  now.data = data_.set->hash;
  now.subset = data_.subset_hash;
  refuse_other_fingerprint(parent, parent_.log->fingerprint, now);
  const int batch = evaluation_batch(config_);
  engine_ = nn::make_engine(config_.engine, parent_.spec(), batch, pool_);
  reader_.emplace(config_.engine, parent_.spec(), parent_.network, batch, pool_);
  recorder_.emplace(options_.folder, config_, data_, *engine_);
  if (state_.log) {
    recorder_->recall_best(state_);
    note(fmt::format("Resuming after epoch {} of {}.", state_.epochs_done, method_->epochs));
  } else {
    begin();
  }
}

void Rebalance::begin() {
  state_.classes = parent_.classes;
  state_.channels = parent_.channels;
  state_.steps_per_epoch = method_->trains() ? parent_.steps_per_epoch : 0;
  state_.config = config_map(config_);
  state_.network = parent_.network;
  state_.momentum.assign(parent_.network.parameters.size(), 0.0F);
  state_.log = fresh_log(parent_, config_);
  if (!method_->trains()) return;
  HeadTrainer(*method_, parent_.spec(), parent_.network.parameters, {})
      .begin(nn::initial_parameters(parent_.spec(), config_.seed), state_.network.parameters,
             state_.momentum);
}

// Trains on class-balanced batches with the run's crop and flip, without mixing, as if its training
// continued: the epoch numbers that determine draws and crops follow on from the parent's.
void Rebalance::train(int epoch) {
  const bool crops = data::Augmenter::parse(config_.augment).crops_and_flips();
  const TrainingSource source{*data_.set,
                              data_.subset,
                              reader_->input_layout(),
                              config_.batch_size,
                              data::Augmenter::parse(crops ? "crop_flip" : "none"),
                              static_cast<std::uint64_t>(config_.seed)};
  HeadTrainer trainer(*method_, parent_.spec(), parent_.network.parameters,
                      {.momentum = config_.momentum,
                       .weight_decay = config_.weight_decay,
                       .nesterov = config_.nesterov,
                       .clip = config_.clip});
  const auto strategy = sampling::make_strategy("class_balanced");
  const int at = parent_.epochs_done + epoch;
  const auto batches =
      source.epoch(*strategy, {at, parent_.epochs_done + method_->epochs, {}, config_.batch_size});
  std::vector<float> features(static_cast<std::size_t>(config_.batch_size) *
                              static_cast<std::size_t>(reader_->width()));
  progress_.steps = source.steps();
  progress_.lr = method_->rate(epoch);
  const auto start = Clock::now();
  double loss = 0, images = 0, correct = 0;
  while (const BatchQueue::Slot* slot = batches->next()) {
    reader_->read(slot->batch(), features);
    const nn::StepResult result =
        trainer.step(progress_.lr, features, slot->labels, state_.network.parameters, state_.momentum);
    if (!std::isfinite(result.loss)) {
      fail("the loss became {} in epoch {}, step {} of {}; a smaller `lr` may help ({}:lr=0.01)", result.loss,
           epoch + 1, progress_.step + 1, progress_.steps, method_->kind == Kind::kScales ? "lws" : "crt");
    }
    images += config_.batch_size;
    loss += result.loss * config_.batch_size;
    correct += result.correct;
    ++progress_.step;
    progress_.train_loss = loss / images;
    progress_.train_acc = 100 * correct / images;
    progress_.images_per_second = images / seconds_since(start);
    progress_.seconds_left =
        (static_cast<double>(progress_.steps) * (method_->epochs - epoch) - progress_.step) *
        seconds_since(start) / progress_.step;
    if (options_.on_progress) options_.on_progress(progress_);
    stop_if_asked();
  }
}

// Tau as given, or chosen on held-out images. If the parent held none out, its training images are used,
// which it has seen; the log says so.
double Rebalance::decided_tau() {
  if (method_->kind == Kind::kMeans) return std::nan("");
  log().parent->tau_from = "given";
  if (method_->tau != kChooseTau) return method_->tau;
  const bool held_out = data_.validation.size() > 0;
  log().parent->tau_from = held_out ? "held_out" : "seen";
  const auto& rows = held_out ? data_.validation.indices : data_.subset.indices;
  const Features features = reader_->read_all(*data_.set, data_.set->train, rows, [&] { stop_if_asked(); });
  const double tau =
      choose_tau(*method_, parent_.spec(), data_.subset.counts, parent_.network.parameters, features);
  note(fmt::format("tau = {} has the highest balanced accuracy on {}.", tau,
                   held_out ? "the images held out"
                            : "the training images (none were held out, so it was chosen on images that "
                              "the network has seen)"));
  return tau;
}

void Rebalance::compute() {
  const double tau = decided_tau();
  log().parent->tau = tau;
  const Features training =
      reader_->read_all(*data_.set, data_.set->train, data_.subset.indices, [&] { stop_if_asked(); });
  const LinearHead head = head_of(parent_.spec(), state_.network.parameters);
  switch (method_->kind) {
    case Kind::kNormalise:
      normalise(tau, head);
      break;
    case Kind::kAdjust:
      adjust(tau, data_.subset.counts, head);
      break;
    default:
      take_means(method_->cosine, training, head);
  }
  const HeadResult result = measure_head(parent_.spec(), state_.network.parameters, training);
  progress_.train_loss = result.loss;
  progress_.train_acc = result.accuracy;
  progress_.steps = progress_.step = 1;
}

void Rebalance::measure() {
  const auto start = Clock::now();
  log().train_loss.push_back(progress_.train_loss);
  log().train_acc.push_back(progress_.train_acc);
  log().lr_history.push_back(progress_.lr);
  const Recorder::Measured measured = recorder_->measure(state_, [&] { stop_if_asked(); });
  if (!std::isfinite(measured.test.loss)) fail("the test loss became {}", measured.test.loss);
  log().finished = state_.epochs_done == method_->epochs;
  log().seconds_evaluation += seconds_since(start);
  recorder_->save(state_);
  progress_.epoch_done = true;
  progress_.best = measured.best;
  progress_.result = measured.test;
  if (options_.on_progress) options_.on_progress(progress_);
}

}  // namespace

namespace {

// The log of the run in the folder if it is finished, for callers whose parent run is gone.
std::optional<RunLog> finished_orphan(const RunConfig& where, const RunOptions& options) {
  if (!base::present(state_path(options.folder))) return std::nullopt;
  const FolderLock lock(options.folder);
  auto log = finished_rebalance(config_of(read_state(options.folder), where), options.folder);
  if (log && options.on_note)
    options.on_note(fmt::format("The run in {} is finished already.", options.folder.string()));
  return log;
}

}  // namespace

RunLog rebalance(const fs::path& parent, const RunConfig& where, const RunOptions& options) {
  if (!base::present(state_path(parent))) {
    if (auto log = finished_orphan(where, options)) return *log;
  }
  return Rebalance(parent, where, options).go();
}

std::optional<RunLog> finished_rebalance(const RunConfig& config, const fs::path& folder) {
  if (!fs::exists(state_path(folder))) return std::nullopt;
  Checkpoint state = read_state(folder);
  if (!state.log->finished || !is_run(state, resolved(config))) return std::nullopt;
  read_timings(log_path(folder), *state.log);
  mend_log(folder, *state.log);
  return state.log;
}

}  // namespace longtail::train
