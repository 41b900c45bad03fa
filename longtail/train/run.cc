#include "longtail/train/run.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <iterator>
#include <optional>
#include <utility>

#include "longtail/base/error.h"
#include "longtail/base/file.h"
#include "longtail/base/hash.h"
#include "longtail/base/text.h"
#include "longtail/base/threads.h"
#include "longtail/data/augment.h"
#include "longtail/data/registry.h"
#include "longtail/nn/engine.h"
#include "longtail/nn/image_loss.h"
#include "longtail/nn/init.h"
#include "longtail/nn/loss.h"
#include "longtail/nn/sgd.h"
#include "longtail/sampling/strategy.h"
#include "longtail/train/batch_queue.h"
#include "longtail/train/checkpoint.h"
#include "longtail/train/compact.h"
#include "longtail/train/evaluate.h"
#include "longtail/train/feedback.h"
#include "longtail/train/hold_out.h"
#include "longtail/train/predictions.h"
#include "longtail/train/remaining_time.h"
#include "longtail/train/run_folder.h"
#include "longtail/train/schedule.h"

namespace longtail::train {
namespace {

using base::fail;

// Evaluation is not the place to save memory by small batches, nor to need more than training does.
constexpr int kSmallestEvaluationBatch = 128;
constexpr int kFingerprintPositions = 1024;

class Stopwatch {
 public:
  double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_ = Clock::now();
};

// Of the first positions; the mixing by its name and draws.
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

// What the log calls the imbalance ratio: what was asked for, or what the counts are.
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

// "Training on 10,847 images of 100 classes (500 to 5 each)."
std::string images_words(const std::vector<std::int64_t>& counts, std::int64_t held_out) {
  std::vector<std::int64_t> trained;
  std::copy_if(counts.begin(), counts.end(), std::back_inserter(trained),
               [](std::int64_t n) { return n > 0; });
  const data::CountStatistics sizes = data::count_statistics(trained);
  return fmt::format("Training on {} images of {} classes ({} to {} each){}.", base::with_commas(sizes.total),
                     base::with_commas(static_cast<std::int64_t>(trained.size())),
                     base::with_commas(sizes.max), base::with_commas(sizes.min),
                     held_out > 0 ? fmt::format("; {} more are held out", base::with_commas(held_out)) : "");
}

class Run {
 public:
  Run(const RunConfig& config, const RunOptions& options)
      : options_(options),
        lock_(options.folder),
        config_(resolved(config)),
        pool_(config.threads == 0 ? base::available_cpus() : config.threads),
        strategy_(sampling::make_strategy(config_.strategy)) {
    // A finished run needs neither data nor engine.
    if (std::filesystem::exists(state_path(options_.folder))) {
      state_ = read_state(options_.folder);
      refuse_other_config(options_.folder, state_.config, config_map(config_));
      read_timings(log_path(options_.folder), *state_.log);
    }
    if (finished()) return;
    if (pool_.threads() < config.threads) {
      note(fmt::format(
          "Only {} of {} threads could be started (a limit of this system); the results are the same.",
          pool_.threads(), config.threads));
    }
    if (config.engine == "auto" && config_.engine == "simd") {
      note("The amx engine cannot do this here, so the engine is simd (fp32).");
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
  void check_selection() const;
  RunLog fresh_log(const Fingerprint& print) const;
  void recall_best();
  Fingerprint fingerprint(const std::vector<float>& initial) const;
  void report_finished();
  void train(int epoch);
  void measure(int epoch);
  bool is_best(const EpochResult& chosen_on, int epoch);
  void save_predictions();
  void save();
  void keep(int epochs_done) const;
  void refuse_nonsense(double value, const char* what, int epoch, int step) const;
  void stop_if_asked(int epoch) const;
  std::string last_good() const;

  RunOptions options_;
  FolderLock lock_;
  RunConfig config_;
  base::ThreadPool pool_;
  std::unique_ptr<sampling::Strategy> strategy_;

  std::shared_ptr<const data::Dataset> data_;
  data::Subset subset_;      // trained on
  data::Subset validation_;  // held out; may be empty
  std::string subset_hash_;  // of subset_, as indices into the whole training split
  std::vector<data::Group> groups_;
  std::vector<std::int32_t> test_rows_;  // empty: all
  std::vector<Prediction> best_said_;    // of the test images, at the best epoch
  std::vector<Prediction> said_now_;     // after the last epoch done
  std::unique_ptr<nn::Engine> engine_;
  std::unique_ptr<nn::Loss> loss_;
  std::vector<float> gradient_;
  Checkpoint state_;

  Progress progress_;
  Stopwatch epoch_clock_;
  RemainingTime remaining_;
  int first_epoch_ = 0;  // of this process
};

// The data, the part of it that is trained on, and what computes with it.
void Run::load() {
  std::shared_ptr<data::Dataset> own;
  if (!options_.dataset) {
    own = std::make_shared<data::Dataset>(
        data::load_dataset(config_.dataset, config_.data, picture_options(config_)));
  }
  data_ = own ? own : options_.dataset;
  for (const std::string& remark : data_->remarks) note(remark);
  const data::Subset whole =
      data::make_subset(config_.subset, data_->train.labels, data_->classes(), config_.seed);
  const data::Groups groups = data::Groups::parse(config_.subset.groups);
  groups_ = groups.of(whole.counts);
  test_rows_ = learnable_rows(data_->test, whole.counts);
  subset_ = whole;
  const double fraction = decided_fraction(config_.val_fraction, whole.counts, groups_);
  if (fraction > 0) {
    HeldOut parts = hold_out(whole, fraction, config_.seed);
    subset_ = std::move(parts.training);
    validation_ = std::move(parts.validation);
  }
  check_batch(config_, subset_.size());
  check_selection();
  subset_hash_ = subset_.hash();
  note(images_words(subset_.counts, validation_.size()));
  if (own) keep_images_of(*own, {&subset_, &validation_});
  if (data_->side != config_.image_size) {
    fail("the data set {} was loaded with images of {} by {} pixels, but `image_size` is {}", config_.dataset,
         data_->side, data_->side, config_.image_size);
  }
  const nn::ResNetSpec spec = network_of(config_, data_->classes(), data_->channels);
  engine_ =
      nn::make_engine(config_.engine, spec, std::max(config_.batch_size, kSmallestEvaluationBatch), pool_);
  loss_ = nn::make_loss(config_.loss, subset_.counts);
  gradient_.resize(static_cast<std::size_t>(nn::parameter_layout(spec).parameter_count));
}

Fingerprint Run::fingerprint(const std::vector<float>& initial) const {
  return {data_->hash,
          subset_hash_,
          base::sha256(std::as_bytes(std::span(initial))),
          augmentation_hash(config_),
          config_hash(config_),
          config_.engine,
          LONGTAIL_VERSION};
}

// The log of a run before its first epoch.
RunLog Run::fresh_log(const Fingerprint& print) const {
  RunLog fresh;
  fresh.dataset = config_.dataset;
  fresh.strategy = config_.strategy;
  fresh.seed = config_.seed;
  fresh.groups = config_.subset.groups;
  fresh.class_counts = subset_.counts;
  for (std::size_t k = 0; k < validation_.counts.size(); ++k) {
    fresh.held_out.push_back(validation_.counts[k]);
    fresh.class_counts[k] += validation_.counts[k];
  }
  fresh.rho = imbalance_ratio(config_, fresh.class_counts);
  const auto tested = data::count_labels(data_->test.labels, data_->classes());
  const auto sizes = data::Groups::parse(config_.subset.groups).trained_sizes(fresh.class_counts, tested);
  fresh.group_sizes.assign(sizes.begin(), sizes.end());
  fresh.class_names = data_->class_names;
  fresh.image.channels = data_->channels;
  fresh.image.side = data_->side;
  for (std::size_t c = 0; c < static_cast<std::size_t>(data_->channels); ++c) {
    fresh.image.mean.push_back(data_->mean[c]);
    fresh.image.deviation.push_back(data_->deviation[c]);
  }
  fresh.image.fit = config_.fit;
  fresh.config = state_.config;
  fresh.selected_on = validation_.size() > 0 ? "validation" : "test";
  fresh.selected_by = config_.select;
  fresh.fingerprint = print;
  return fresh;
}

// What chooses the epoch must be there to be measured.
void Run::check_selection() const {
  if (config_.select != "tail") return;
  const auto tested =
      validation_.size() > 0 ? validation_.counts : data::count_labels(data_->test.labels, data_->classes());
  for (std::size_t k = 0; k < tested.size(); ++k) {
    if (groups_[k] == data::Group::kTail && subset_.counts[k] > 0 && tested[k] > 0) return;
  }
  fail(
      "`select` is tail, but no class of the tail has images to choose on; choose by balanced, or other "
      "`groups`");
}

// What the network at the best epoch said of the test images, from the file or, if that is lost or from
// before it was kept, once more from the network.
void Run::recall_best() {
  try {
    best_said_ = read_predictions(predictions_path(log_path(options_.folder)), log().predictions).best;
    if (!log().predictions.empty()) return;
  } catch (const base::Error&) {
  }
  const EvaluationSet test{*data_, data_->test, test_rows_, groups_};
  best_said_ = evaluate(*engine_, state_.best, test, std::max(config_.batch_size, kSmallestEvaluationBatch))
                   .predictions();
}

// The state before the first epoch of this process: what the folder holds, or the initial network.
void Run::begin() {
  std::vector<float> initial = nn::initial_parameters(engine_->spec(), config_.seed);
  const Fingerprint print = fingerprint(initial);
  if (state_.log) {
    refuse_other_fingerprint(options_.folder, log().fingerprint, print);
    progress_.result = log().last.accuracy;
    recall_best();
    note(fmt::format("Going on after epoch {} of {}.", state_.epochs_done, config_.epochs));
    if (log().fingerprint.version != print.version) {
      note(fmt::format("The run was begun by version {}, this is {}.", log().fingerprint.version,
                       print.version));
    }
  } else {
    state_.classes = data_->classes();
    state_.channels = data_->channels;
    state_.steps_per_epoch = static_cast<int>(subset_.size() / config_.batch_size);
    state_.config = config_map(config_);
    state_.momentum.assign(initial.size(), 0.0F);
    state_.network = {std::move(initial), nn::initial_buffers(engine_->spec())};
    state_.log = fresh_log(print);
    keep(0);
  }
  first_epoch_ = state_.epochs_done;
  remaining_ = {first_epoch_, config_.epochs, std::int64_t{state_.steps_per_epoch} * config_.batch_size,
                validation_.size() +
                    (test_rows_.empty() ? data_->test.size() : static_cast<std::int64_t>(test_rows_.size()))};
  for (const int epoch : config_.keep_epochs) {
    if (epoch < first_epoch_ && !std::filesystem::exists(kept_path(options_.folder, epoch))) {
      note(fmt::format("The network after {} epochs was not kept when it was there; it cannot be kept now.",
                       epoch));
    }
  }
}

// A finished run: what is beside its state may be missing or stale if the process was killed in between.
void Run::report_finished() {
  const std::filesystem::path path = log_path(options_.folder);
  if (!std::filesystem::exists(path) || base::read_text(path) != log_text(log())) write_log(path, log());
  note(fmt::format("The run in {} is finished already: {} epochs.", options_.folder.string(),
                   state_.epochs_done));
}

std::string Run::last_good() const {
  if (state_.epochs_done == 0) return "no epoch was finished, so there is no checkpoint yet";
  return fmt::format("the last good checkpoint is {}, after {} of {} epochs",
                     state_path(options_.folder).string(), state_.epochs_done, config_.epochs);
}

void Run::stop_if_asked(int epoch) const {
  if (options_.should_stop && options_.should_stop()) {
    fail<base::Interrupted>("stopped in epoch {} of {}; {}. The same command {}", epoch + 1, config_.epochs,
                            last_good(), state_.epochs_done == 0 ? "starts again" : "resumes from there");
  }
}

void Run::refuse_nonsense(double value, const char* what, int epoch, int step) const {
  if (std::isfinite(value)) return;
  fail("the {} became {} in epoch {}, step {} of {}; {}. A smaller `lr` or more `warmup_epochs` may help",
       what, value, epoch + 1, step + 1, state_.steps_per_epoch, last_good());
}

// One epoch of SGD: as many draws as there are images, the incomplete batch dropped.
void Run::train(int epoch) {
  const TrainingSource source{
      *data_, subset_, engine_->input_layout(), config_.batch_size, data::Augmenter::parse(config_.augment),
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
  ClassHits hits(data_->classes());
  std::vector<std::uint8_t> right(
      feedback == sampling::Feedback::kTrainingDraws ? static_cast<std::size_t>(config_.batch_size) : 0);
  const auto batches = source.epoch(*strategy_, situation);
  Network& network = state_.network;
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

// Whether the epoch is better than all before by what the run selects by; notes the value.
bool Run::is_best(const EpochResult& chosen_on, int epoch) {
  const auto first_highest = [&](const std::vector<double>& values) {
    return epoch == 0 || values.back() > values[static_cast<std::size_t>(log().best_epoch)];
  };
  if (config_.select == "last") return true;
  if (config_.select == "overall") {
    return first_highest(validation_.size() > 0 ? log().val_acc : log().test_acc);
  }
  log().selection.push_back(config_.select == "tail" ? chosen_on.tail : chosen_on.balanced);
  return first_highest(log().selection);
}

// The test set after an epoch (and what is held out), the best epoch so far.
void Run::measure(int epoch) {
  const Stopwatch watch;
  const int batch_size = std::max(config_.batch_size, kSmallestEvaluationBatch);
  const auto pulse = [&] { stop_if_asked(epoch); };
  const Meter test =
      evaluate(*engine_, state_.network, {*data_, data_->test, test_rows_, groups_}, batch_size, pulse);
  const EpochResult result = test.result();
  refuse_nonsense(result.loss, "test loss", epoch, state_.steps_per_epoch - 1);
  log().test_acc.push_back(result.overall);
  log().test_loss.push_back(result.loss);
  log().head_acc.push_back(result.head);
  log().medium_acc.push_back(result.medium);
  log().tail_acc.push_back(result.tail);
  // A run of before it was kept stays without.
  if (std::cmp_equal(log().balanced_acc.size(), epoch)) log().balanced_acc.push_back(result.balanced);
  EpochResult chosen_on = result;
  if (validation_.size() > 0) {
    const EvaluationSet set{*data_, data_->train, validation_.indices, groups_};
    const Meter held_out = evaluate(*engine_, state_.network, set, batch_size, pulse);
    chosen_on = held_out.result();
    log().val_acc.push_back(chosen_on.overall);
    if (strategy_->feedback() == sampling::Feedback::kHeldOut) {
      log().class_accuracy.push_back(rounded(held_out.full(epoch).per_class));
    }
  }
  const bool best = is_best(chosen_on, epoch);
  log().last = test.full(epoch);
  if (best) {
    log().best_epoch = epoch;
    log().best = log().last;
    state_.best = state_.network;
    best_said_ = test.predictions();
  }
  said_now_ = test.predictions();
  state_.epochs_done = epoch + 1;
  log().finished = state_.epochs_done == config_.epochs;
  log().seconds_evaluation += watch.seconds();

  progress_.epoch_done = true;
  progress_.result = result;
  progress_.best = best;
  progress_.seconds_left = remaining_.after(epoch, epoch_clock_.seconds());
}

void Run::save_predictions() {
  Predictions all{data_->classes(), {}, best_said_, said_now_};
  for (std::size_t i = 0; i < said_now_.size(); ++i) {
    const auto row = test_rows_.empty() ? i : static_cast<std::size_t>(test_rows_[i]);
    all.labels.push_back(data_->test.labels[row]);
  }
  const std::string bytes = predictions_bytes(all);
  base::write_atomically(predictions_path(log_path(options_.folder)), bytes);
  log().predictions = base::sha256(bytes);
}

// The predictions, then the state: the log can be made from it. Only then is the epoch done for those who
// watch.
void Run::save() {
  keep(state_.epochs_done);
  save_predictions();
  write_checkpoint(state_path(options_.folder), state_);
  write_log(log_path(options_.folder), log());
  if (options_.on_progress) options_.on_progress(progress_);
}

void Run::keep(int epochs_done) const {
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

RunLog run_training(const RunConfig& config, const RunOptions& options) { return Run(config, options).go(); }

}  // namespace longtail::train
