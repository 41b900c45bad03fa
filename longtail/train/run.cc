#include "longtail/train/run.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <optional>
#include <utility>

#include "longtail/base/error.h"
#include "longtail/base/file.h"
#include "longtail/base/hash.h"
#include "longtail/base/text.h"
#include "longtail/base/threads.h"
#include "longtail/data/augment.h"
#include "longtail/nn/engine.h"
#include "longtail/nn/image_loss.h"
#include "longtail/nn/init.h"
#include "longtail/nn/loss.h"
#include "longtail/nn/sgd.h"
#include "longtail/sampling/strategy.h"
#include "longtail/train/batch_queue.h"
#include "longtail/train/beginning.h"
#include "longtail/train/checkpoint.h"
#include "longtail/train/feedback.h"
#include "longtail/train/rebalance.h"
#include "longtail/train/rebalance_method.h"
#include "longtail/train/recorder.h"
#include "longtail/train/remaining_time.h"
#include "longtail/train/run_data.h"
#include "longtail/train/run_folder.h"
#include "longtail/train/schedule.h"

namespace longtail::train {
namespace {

using base::fail;

constexpr int kFingerprintPositions = 1024;

class Stopwatch {
 public:
  double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_ = Clock::now();
};

// Of the transforms at the first positions; mixing counts by its name and draws.
std::string augmentation_hash(const RunConfig& config) {
  const data::Augmenter augmenter = data::Augmenter::parse(config.augment);
  if (augmenter.name() == "none") return base::sha256("none");
  base::Hasher hasher(base::Hasher::kSha256);
  for (std::uint32_t epoch = 0; epoch < 2; ++epoch) {
    for (std::uint64_t position = 0; position < kFingerprintPositions; ++position) {
      const data::Place place{static_cast<std::uint64_t>(config.seed), epoch, position};
      if (augmenter.crops_and_flips()) {
        const data::Transform transform = data::transform_at(place.seed, epoch, position, config.image_size);
        const std::array<std::int8_t, 3> bytes = {static_cast<std::int8_t>(transform.dx),
                                                  static_cast<std::int8_t>(transform.dy),
                                                  static_cast<std::int8_t>(transform.flip)};
        hasher.add(std::as_bytes(std::span(bytes)));
      }
      if (augmenter.mixes()) {
        const data::Mix mix = augmenter.mix(place, config.image_size, 3, 1);
        const std::array<float, 2> weights = {mix.pixels, mix.label};
        hasher.add(std::as_bytes(std::span(weights)));
      }
    }
  }
  return hasher.hex();
}

// The imbalance ratio in the log: what was asked for, or what the class counts give.
double imbalance_ratio(const RunConfig& config, const std::vector<std::int64_t>& counts) {
  if (data::takes_ratio(config.subset)) return config.subset.rho;
  std::int64_t largest = 0;
  std::int64_t smallest = 0;
  for (const std::int64_t count : counts) {
    if (count == 0) continue;
    largest = std::max(largest, count);
    smallest = smallest == 0 ? count : std::min(smallest, count);
  }
  return smallest == 0 ? 1 : static_cast<double>(largest) / static_cast<double>(smallest);
}

class Training {
 public:
  Training(const RunConfig& config, const RunOptions& options)
      : options_(options),
        lock_(options.folder),
        config_(resolved(config)),
        pool_(config.threads == 0 ? base::available_cpus() : config.threads),
        strategy_(sampling::make_strategy(config_.strategy)) {
    // A finished run needs neither data nor engine.
    if (auto held = held_state(options_.folder, config_)) {
      state_ = std::move(*held);
      read_timings(log_path(options_.folder), *state_.log);
    }
    if (finished()) return;
    if (pool_.threads() < config.threads) {
      note(fmt::format(
          "Only {} of {} threads could be started (a limit of this system); the results are the same.",
          pool_.threads(), config.threads));
    }
    if (config.engine == "auto" && config_.engine == "simd") {
      note("Engine: simd (fp32).");
    }
    load();
    begin();
  }

  RunLog go() {
    if (finished()) {
      report_finished();
    }
    for (int epoch = state_.epochs_done; epoch < config_.epochs; ++epoch) {
      train(epoch);
      measure(epoch);
      save();
    }
    return *state_.log;
  }

 private:
  bool finished() const { return state_.log && state_.log->finished; }
  RunLog& log() { return *state_.log; }
  void note(const std::string& sentence) const {
    if (options_.on_note) options_.on_note(sentence);
  }
  std::uint64_t seed() const { return static_cast<std::uint64_t>(config_.seed); }

  void load();
  void begin();
  bool begin_from_another(const Fingerprint& print);
  RunLog fresh_log(const Fingerprint& print) const;
  Fingerprint fingerprint(const std::vector<float>& initial) const;
  void report_finished();
  void note_unkept(int before) const;
  void train(int epoch);
  void measure(int epoch);
  void save();
  void leave_branch() const;
  void keep(int epochs_done) const;
  void refuse_nonsense(double value, const char* what, int epoch, int step) const;
  void stop_if_asked(int epoch) const;
  std::string last_good() const;

  RunOptions options_;
  FolderLock lock_;
  RunConfig config_;
  base::ThreadPool pool_;
  std::unique_ptr<sampling::Strategy> strategy_;

  RunData data_;
  std::unique_ptr<nn::Engine> engine_;
  std::optional<Recorder> recorder_;
  std::unique_ptr<nn::Loss> loss_;
  std::vector<float> gradient_;
  Checkpoint state_;

  Progress progress_;
  Stopwatch epoch_clock_;
  RemainingTime remaining_;
  int first_epoch_ = 0;  // of this process
};

// The data, the part of it that is trained on, and what computes with it.
void Training::load() {
  data_ = load_run_data(config_, options_);
  const nn::ResNetSpec spec = network_of(config_, data_.set->classes(), data_.set->channels);
  engine_ = nn::make_engine(config_.engine, spec, evaluation_batch(config_), pool_);
  recorder_.emplace(options_.folder, config_, data_, *engine_);
  loss_ = nn::make_loss(config_.loss, data_.subset.counts);
  gradient_.resize(static_cast<std::size_t>(nn::parameter_layout(spec).parameter_count));
}

Fingerprint Training::fingerprint(const std::vector<float>& initial) const {
  return {data_.set->hash,
          data_.subset_hash,
          base::sha256(std::as_bytes(std::span(initial))),
          augmentation_hash(config_),
          config_hash(config_),
          config_.engine,
          LONGTAIL_VERSION};
}

// The log of a run before its first epoch.
RunLog Training::fresh_log(const Fingerprint& print) const {
  RunLog fresh;
  fresh.dataset = config_.dataset;
  fresh.strategy = config_.strategy;
  fresh.seed = config_.seed;
  fresh.groups = config_.subset.groups;
  fresh.class_counts = data_.subset.counts;
  for (std::size_t k = 0; k < data_.validation.counts.size(); ++k) {
    fresh.held_out.push_back(data_.validation.counts[k]);
    fresh.class_counts[k] += data_.validation.counts[k];
  }
  fresh.rho = imbalance_ratio(config_, fresh.class_counts);
  const auto tested = data::count_labels(data_.set->test.labels, data_.set->classes());
  const auto sizes = data::Groups::parse(config_.subset.groups).trained_sizes(fresh.class_counts, tested);
  fresh.group_sizes.assign(sizes.begin(), sizes.end());
  fresh.class_names = data_.set->class_names;
  fresh.image.channels = data_.set->channels;
  fresh.image.side = data_.set->side;
  for (std::size_t c = 0; c < static_cast<std::size_t>(data_.set->channels); ++c) {
    fresh.image.mean.push_back(data_.set->mean[c]);
    fresh.image.deviation.push_back(data_.set->deviation[c]);
  }
  fresh.image.fit = data_.set->form.empty() ? config_.fit : data_.set->form;
  fresh.config = logged_config(state_.config);
  fresh.selected_on = data_.validation.size() > 0 ? "validation" : "test";
  fresh.selected_by = config_.select;
  fresh.fingerprint = print;
  return fresh;
}

// Begins from the state that another run has left, if there is one that can be used.
bool Training::begin_from_another(const Fingerprint& print) {
  const std::filesystem::path& source = options_.begin_from;
  if (!base::present(source)) return false;
  try {
    Checkpoint beginning = continued(read_checkpoint(source), source, config_, print);
    if (keeps_before(config_, beginning.epochs_done)) {
      note("All epochs are trained here, because networks of the first ones are to be kept.");
      return false;
    }
    state_ = std::move(beginning);
  } catch (const base::Error& error) {
    note(fmt::format("{}; all epochs are trained here.", error.what()));
    return false;
  }
  keep(state_.epochs_done);
  recorder_->recall_best(state_);
  progress_.result = log().last.accuracy;
  note(
      fmt::format("The first {} epochs are those of another run ({}).", state_.epochs_done, source.string()));
  return true;
}

// The state before the first epoch of this process: what the folder holds, or the initial network.
void Training::begin() {
  std::vector<float> initial = nn::initial_parameters(engine_->spec(), config_.seed);
  const Fingerprint print = fingerprint(initial);
  if (state_.log) {
    refuse_other_fingerprint(options_.folder, log().fingerprint, print);
    refuse_other_groups(options_.folder, log(), fresh_log(print));
    progress_.result = log().last.accuracy;
    recorder_->recall_best(state_);
    note(fmt::format("Resuming after epoch {} of {}.", state_.epochs_done, config_.epochs));
    if (!base::present(branch_path(options_.folder, state_.epochs_done))) leave_branch();
    if (log().fingerprint.version != print.version) {
      note(fmt::format("The run was begun by version {}, this is {}.", log().fingerprint.version,
                       print.version));
    }
  } else if (!begin_from_another(print)) {
    state_.classes = data_.set->classes();
    state_.channels = data_.set->channels;
    state_.steps_per_epoch = static_cast<int>(data_.subset.size() / config_.batch_size);
    state_.config = config_map(config_);
    state_.momentum.assign(initial.size(), 0.0F);
    state_.network = {std::move(initial), nn::initial_buffers(engine_->spec())};
    state_.log = fresh_log(print);
    keep(0);
  }
  first_epoch_ = state_.epochs_done;
  remaining_ = {first_epoch_, config_.epochs, std::int64_t{state_.steps_per_epoch} * config_.batch_size,
                data_.validation.size() + (data_.test_rows.empty()
                                               ? data_.set->test.size()
                                               : static_cast<std::int64_t>(data_.test_rows.size()))};
  note_unkept(first_epoch_);
}

// Notes the networks that should have been kept before this epoch and were not.
void Training::note_unkept(int before) const {
  for (const int epoch : config_.keep_epochs) {
    if (epoch < before && !std::filesystem::exists(kept_path(options_.folder, epoch))) {
      note(fmt::format("The network after {} epochs was not kept when it was there; it cannot be kept now.",
                       epoch));
    }
  }
}

// A finished run: the files next to its state may be missing or stale if the process was killed in between.
void Training::report_finished() {
  mend_log(options_.folder, log());
  note_unkept(state_.epochs_done + 1);
  note(fmt::format("The run in {} is finished already: {} epochs.", options_.folder.string(),
                   state_.epochs_done));
}

std::string Training::last_good() const {
  if (state_.epochs_done == 0) return "no epoch was finished, so there is no checkpoint yet";
  return fmt::format("the last good checkpoint is {}, after {} of {} epochs",
                     state_path(options_.folder).string(), state_.epochs_done, config_.epochs);
}

void Training::stop_if_asked(int epoch) const {
  if (options_.should_stop && options_.should_stop()) {
    fail<base::Interrupted>("stopped in epoch {} of {}; {}. The same command {}", epoch + 1, config_.epochs,
                            last_good(), state_.epochs_done == 0 ? "starts again" : "resumes from there");
  }
}

void Training::refuse_nonsense(double value, const char* what, int epoch, int step) const {
  if (std::isfinite(value)) return;
  fail("the {} became {} in epoch {}, step {} of {}; {}. A smaller `lr` or more `warmup_epochs` may help",
       what, value, epoch + 1, step + 1, state_.steps_per_epoch, last_good());
}

// One epoch of SGD: as many draws as there are images, the incomplete batch dropped.
void Training::train(int epoch) {
  const TrainingSource source{*data_.set,
                              data_.subset,
                              engine_->input_layout(),
                              config_.batch_size,
                              data::Augmenter::parse(config_.augment),
                              seed()};
  const double lr = learning_rate(config_, epoch);
  const nn::SgdConfig sgd{.lr = lr,
                          .momentum = config_.momentum,
                          .weight_decay = config_.weight_decay,
                          .nesterov = config_.nesterov,
                          .clip = config_.clip};
  progress_ = {.epoch = epoch,
               .epochs = config_.epochs,
               .steps = source.steps(),
               .lr = lr,
               .result = progress_.result};
  epoch_clock_ = {};
  const Stopwatch watch;
  double loss_sum = 0;
  std::int64_t correct = 0;
  std::int64_t images = 0;

  const sampling::Situation situation{epoch, config_.epochs, log().class_accuracy, config_.batch_size};
  const nn::Loss& loss = loss_->at(situation);
  const sampling::Feedback feedback = strategy_->feedback();
  ClassHits hits(data_.set->classes());
  std::vector<std::uint8_t> right(
      feedback == sampling::Feedback::kTrainingDraws ? static_cast<std::size_t>(config_.batch_size) : 0);
  const auto batches = source.epoch(*strategy_, situation);
  NetworkState& network = state_.network;
  while (const BatchQueue::Slot* slot = batches->next()) {
    const int step = progress_.step;
    nn::Batch batch = slot->batch();
    batch.hits = right;
    const nn::StepResult result =
        engine_->gradient(network.parameters, network.buffers, batch, loss, gradient_);
    refuse_nonsense(result.loss, "loss", epoch, step);
    for (std::size_t i = 0; i < right.size(); ++i) {
      hits.add(nn::main_label(batch, static_cast<int>(i)), right[i] != 0);
    }
    const double norm = nn::sgd_step(sgd, gradient_, state_.momentum, network.parameters);
    refuse_nonsense(norm, "gradient", epoch, step);

    loss_sum += result.loss * config_.batch_size;
    correct += result.correct;
    images += config_.batch_size;
    progress_.step = step + 1;
    progress_.train_loss = loss_sum / static_cast<double>(images);
    progress_.train_acc = 100.0 * static_cast<double>(correct) / static_cast<double>(images);
    progress_.images_per_second = static_cast<double>(images) / watch.seconds();
    progress_.seconds_left = remaining_.during(epoch, images, watch.seconds());
    if (options_.on_progress) options_.on_progress(progress_);
    stop_if_asked(epoch);
  }
  log().train_loss.push_back(progress_.train_loss);
  log().train_acc.push_back(progress_.train_acc);
  log().lr_history.push_back(lr);
  if (feedback == sampling::Feedback::kTrainingDraws) log().class_accuracy.push_back(hits.accuracies());
  log().seconds_training += watch.seconds();
  log().seconds_waiting += batches->seconds_waited();
}

// The test set after an epoch (and what is held out), the best epoch so far.
void Training::measure(int epoch) {
  const Stopwatch watch;
  const Recorder::Measured measured = recorder_->measure(state_, [&] { stop_if_asked(epoch); });
  refuse_nonsense(measured.test.loss, "test loss", epoch, state_.steps_per_epoch - 1);
  log().finished = state_.epochs_done == config_.epochs;
  log().seconds_evaluation += watch.seconds();

  progress_.epoch_done = true;
  progress_.result = measured.test;
  progress_.best = measured.best;
  progress_.seconds_left = remaining_.after(epoch, epoch_clock_.seconds());
}

// An epoch is reported as done only when everything is written.
void Training::save() {
  keep(state_.epochs_done);
  recorder_->save(state_);
  leave_branch();
  if (options_.on_progress) options_.on_progress(progress_);
}

// Leaves the state for runs that branch off here. Written after state.ckpt, so a resuming run checks for it.
void Training::leave_branch() const {
  const auto& branches = options_.branch_epochs;
  if (std::find(branches.begin(), branches.end(), state_.epochs_done) == branches.end()) return;
  const std::filesystem::path path = branch_path(options_.folder, state_.epochs_done);
  base::make_folder(path.parent_path());
  write_checkpoint(path, state_);
}

void Training::keep(int epochs_done) const {
  const auto& wanted = config_.keep_epochs;
  if (std::find(wanted.begin(), wanted.end(), epochs_done) == wanted.end()) return;
  Checkpoint copy;
  copy.epochs_done = epochs_done;
  copy.steps_per_epoch = state_.steps_per_epoch;
  copy.classes = state_.classes;
  copy.channels = state_.channels;
  copy.config = state_.config;
  copy.network = state_.network;
  const std::filesystem::path path = kept_path(options_.folder, epochs_done);
  base::make_folder(path.parent_path());
  write_checkpoint(path, copy);
}

}  // namespace

bool is_whole(const RunConfig& config, const std::filesystem::path& folder) {
  if (!base::present(state_path(folder)) || !base::present(log_path(folder))) return false;
  const Checkpoint state = read_state(folder);
  return state.log->finished && is_run(state, resolved(config)) && read_log(log_path(folder)).finished;
}

RunLog run_training(const RunConfig& config, const RunOptions& options) {
  if (config.rebalance == kNoRebalance) return Training(config, options).go();
  if (auto log = finished_rebalance(config, options.folder)) {
    if (options.on_note)
      options.on_note(fmt::format("The run in {} is finished already.", options.folder.string()));
    return *log;
  }
  // Impossible configurations are refused before the parent is trained.
  held_state(options.folder, resolved(config));
  RunConfig first = config;
  first.rebalance = kNoRebalance;
  RunOptions training = options;
  training.folder = options.parent.empty() ? options.folder / "parent" : options.parent;
  if (!is_whole(first, training.folder)) Training(first, training).go();
  return rebalance(training.folder, config, options);
}

}  // namespace longtail::train
