#include "longtail/train/run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>

#include "longtail/base/error.h"
#include "longtail/base/file.h"
#include "longtail/base/scoped_variable.h"
#include "longtail/data/image.h"
#include "longtail/nn/init.h"
#include "longtail/nn/sgd.h"
#include "longtail/nn/simd/targets.h"
#include "longtail/train/batch_queue.h"
#include "longtail/train/checkpoint.h"
#include "longtail/train/predictions.h"
#include "longtail/train/run_folder.h"
#include "longtail/train/schedule.h"
#include "longtail/train/testing.h"

namespace longtail::train {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

// Three classes of 6, 4 and 3 images, batches of 4: three steps per epoch and an image left over.
RunConfig small_config() {
  RunConfig config;
  config.dataset = "toy";
  config.subset.profile = "exp";
  config.subset.rho = 2;
  config.subset.groups = "5,3";  // one class in each group
  config.model = "resnet20";
  config.engine = "auto";
  config.strategy = "progressive";
  config.epochs = 3;
  config.batch_size = 4;
  config.lr = 0.02;
  config.threads = 1;
  return config;
}

class RunTraining : public testing::Test {
 protected:
  RunTraining() : folder_(fs::path(testing::TempDir()) / ("run_test." + std::to_string(::getpid()))) {
    fs::remove_all(folder_);
    base::make_folder(folder_);
    static const auto data = std::make_shared<const data::Dataset>(toy_dataset(3, 6, 2));
    data_ = data;
  }
  ~RunTraining() override { fs::remove_all(folder_); }

  RunOptions options(const std::string& name) const {
    RunOptions options;
    options.folder = folder_ / name;
    options.dataset = data_;
    return options;
  }

  // The bytes of everything but the timings.
  std::string results(const std::string& name) const {
    return base::read_text(folder_ / name / "log.json") + base::read_text(folder_ / name / "state.ckpt") +
           base::read_text(folder_ / name / "log.predictions");
  }

  template <class E = base::Error>
  static std::string error_of(const RunConfig& config, const RunOptions& options) {
    try {
      run_training(config, options);
    } catch (const E& error) {
      return error.what();
    }
    return "";
  }

  fs::path folder_;
  std::shared_ptr<const data::Dataset> data_;
};

TEST_F(RunTraining, IsTheAlgorithmOfThePaper) {
  const RunConfig config = small_config();
  const RunLog log = run_training(config, options("a"));

  // The same, written down plainly.
  const data::Subset subset = data::make_subset(config.subset, data_->train.labels, 3, config.seed);
  const nn::ResNetSpec spec = nn::make_spec("resnet20", "projection", 3, 3);
  base::ThreadPool pool(1);
  const auto engine = nn::make_engine("auto", spec, 128, pool);
  const auto loss = nn::make_loss("cross_entropy", subset.counts);
  const auto strategy = sampling::make_strategy("progressive");
  std::vector<float> parameters = nn::initial_parameters(spec, config.seed);
  std::vector<float> buffers = nn::initial_buffers(spec);
  std::vector<float> momentum(parameters.size()), gradient(parameters.size());
  const data::PixelLayout layout = engine->input_layout();
  std::vector<std::byte> images(4 * data::bytes_per_image(layout, {3, 32}));
  for (int epoch = 0; epoch < 3; ++epoch) {
    const sampling::IndexStream stream(*strategy, subset.counts, {.epoch = epoch, .epochs = 3}, 42);
    double sum = 0;
    for (int step = 0; step < subset.size() / 4; ++step) {
      std::vector<std::int32_t> labels;
      for (int i = 0; i < 4; ++i) {
        const auto position = static_cast<std::uint64_t>(4 * step + i);
        const std::int32_t row = subset.indices[static_cast<std::size_t>(stream.at(4 * step + i))];
        labels.push_back(data_->train.labels[static_cast<std::size_t>(row)]);
        data::write_image(
            *data_, data_->image(data_->train, row),
            data::transform_at(42, static_cast<std::uint32_t>(epoch), position), layout,
            images.data() + static_cast<std::size_t>(i) * data::bytes_per_image(layout, {3, 32}));
      }
      sum += engine->gradient(parameters, buffers, {images.data(), labels, 4}, *loss, gradient).loss;
      nn::sgd_step({.lr = learning_rate(resolved(config), epoch)}, gradient, momentum, parameters);
    }
    const auto steps = subset.size() / 4;
    EXPECT_DOUBLE_EQ(log.train_loss[static_cast<std::size_t>(epoch)], sum / static_cast<double>(steps));
  }
  const Checkpoint state = read_state(folder_ / "a");
  EXPECT_EQ(state.network.parameters, parameters);
  EXPECT_EQ(state.network.buffers, buffers);
  EXPECT_EQ(state.momentum, momentum);
  EXPECT_EQ(state.steps_per_epoch, 3);
  EXPECT_EQ(log.class_counts, (std::vector<std::int64_t>{6, 4, 3}));
  EXPECT_THAT(log.group_sizes, ElementsAre(1, 1, 1));
  EXPECT_TRUE(log.finished);
}

TEST_F(RunTraining, GivesTheSameBytesOnAnyNumberOfThreads) {
  for (const std::string engine : {"auto", "simd"}) {
    RunConfig config = small_config();
    config.engine = engine;
    run_training(config, options(engine + "1"));
    for (const int threads : {2, 3}) {
      config.threads = threads;
      const std::string name = engine + std::to_string(threads);
      run_training(config, options(name));
      EXPECT_EQ(results(name), results(engine + "1")) << name;
    }
  }
}

TEST_F(RunTraining, GivesTheSameBytesOnEveryInstructionSetOfTheMachine) {
  RunConfig config = small_config();
  config.engine = "simd";
  config.epochs = 2;
  run_training(config, options("best"));
  for (const base::Cpu target : nn::simd::available_cpus()) {
    const std::string name = base::cpu_name(target);
    const base::ScopedVariable forced("LONGTAIL_CPU", name);
    config.threads = 1 + config.threads % 3;
    run_training(config, options(name));
    EXPECT_EQ(results(name), results("best")) << name << " on " << config.threads << " threads";
  }
}

TEST_F(RunTraining, GivesTheSameBytesWhenStoppedAndStartedAgain) {
  const RunConfig config = small_config();
  run_training(config, options("whole"));
  // Stopped at the first question, in the middle of the second epoch, in the evaluation of the last.
  for (const int patience : {1, 6, 12}) {
    const std::string name = "stopped" + std::to_string(patience);
    RunOptions stopping = options(name);
    int asked = 0;
    stopping.should_stop = [&] { return ++asked == patience; };
    EXPECT_THAT(error_of<base::Interrupted>(config, stopping),
                HasSubstr(patience == 1 ? "starts again" : "resumes from there"));
    RunOptions again = options(name);
    std::string notes;
    again.on_note = [&](const std::string& sentence) { notes += sentence; };
    run_training(config, again);
    if (patience == 6) {
      EXPECT_THAT(notes, HasSubstr("after epoch 1 of 3"));
    }
    EXPECT_EQ(results(name), results("whole")) << patience;
  }
}

// Mixing, feedback from training draws and from held-out images, stratified batches, a loss that changes.
TEST_F(RunTraining, RemediesGiveTheSameBytesOnAnyNumberOfThreadsAndWhenStopped) {
  std::vector<RunConfig> configs(3, small_config());
  configs[0].augment = "crop_flip+mixup:alpha=1";
  configs[0].strategy = "focus";
  configs[1].augment = "crop_flip+cutmix";
  configs[1].strategy = "adaptive:patience=1";
  configs[1].val_fraction = 0.3;
  configs[1].batch_size = 3;
  configs[2].strategy = "stratified:of=class_balanced";
  configs[2].loss = "deferred:then=class_weighted(beta=0.99),at=2";
  for (std::size_t i = 0; i < configs.size(); ++i) {
    const std::string whole = "whole" + std::to_string(i);
    const RunLog log = run_training(configs[i], options(whole));
    EXPECT_EQ(log.class_accuracy.size(), i == 2 ? 0u : 3u);
    RunConfig other = configs[i];
    other.threads = 3;
    const std::string name = "stopped" + std::to_string(i);
    RunOptions stopping = options(name);
    int asked = 0;
    stopping.should_stop = [&] { return ++asked == 7; };
    EXPECT_NE(error_of<base::Interrupted>(other, stopping), "");
    run_training(other, options(name));
    EXPECT_EQ(results(name), results(whole)) << i;
  }
}

TEST_F(RunTraining, ALossThatChangesChangesTheTrainingOnlyFromItsEpochOn) {
  RunConfig config = small_config();
  const RunLog plain = run_training(config, options("plain"));
  config.loss = "deferred:then=focal,at=2";
  const RunLog deferred = run_training(config, options("deferred"));
  EXPECT_EQ(deferred.train_loss[0], plain.train_loss[0]);
  EXPECT_EQ(deferred.train_loss[1], plain.train_loss[1]);
  EXPECT_NE(deferred.train_loss[2], plain.train_loss[2]);
}

TEST_F(RunTraining, AStrategyThatNeedsHeldOutImagesAsksForThem) {
  RunConfig config = small_config();
  config.strategy = "adaptive";
  EXPECT_THAT(error_of(config, options("none")), HasSubstr("set `val_fraction`"));
}

TEST_F(RunTraining, AFinishedRunReturnsItsLogWithoutDataAndMendsALostLog) {
  const RunConfig config = small_config();
  const RunLog first = run_training(config, options("a"));
  const std::string before = results("a");
  fs::remove(folder_ / "a" / "log.json");
  RunOptions again = options("a");
  again.dataset = nullptr;
  std::string notes;
  again.on_note = [&](const std::string& sentence) { notes += sentence; };
  again.on_progress = [](const Progress&) { FAIL() << "nothing is left to do"; };
  const RunLog second = run_training(config, again);
  EXPECT_EQ(log_text(second), log_text(first));
  EXPECT_EQ(results("a"), before);
  EXPECT_GT(second.seconds_training, 0);
  EXPECT_THAT(notes, HasSubstr("finished already"));
}

TEST_F(RunTraining, AFolderOfAnotherConfigurationIsRefusedByParameter) {
  RunConfig config = small_config();
  run_training(config, options("a"));
  config.weight_decay = 0.5;
  EXPECT_THAT(error_of(config, options("a")), HasSubstr("`weight_decay` = `0.0002`, but here it is `0.5`"));
}

TEST_F(RunTraining, OtherDataThanAtTheBeginningAreRefused) {
  const RunConfig config = small_config();
  RunOptions stopping = options("a");
  stopping.should_stop = [asked = 0]() mutable { return ++asked == 6; };
  EXPECT_NE(error_of<base::Interrupted>(config, stopping), "");
  RunOptions other = options("a");
  data::Dataset changed = *data_;
  changed.hash = "another";
  other.dataset = std::make_shared<const data::Dataset>(changed);
  EXPECT_THAT(error_of(config, other), HasSubstr("another content of the data set"));
}

TEST_F(RunTraining, ADamagedCheckpointIsRefusedInASentence) {
  const RunConfig config = small_config();
  run_training(config, options("a"));
  const fs::path path = folder_ / "a" / "state.ckpt";
  std::string bytes = base::read_text(path);
  bytes[bytes.size() / 2] ^= 4;
  base::write_atomically(path, bytes);
  EXPECT_THAT(error_of<base::DamagedFile>(config, options("a")), HasSubstr("checksum"));
}

TEST_F(RunTraining, AnInfiniteLossStopsWithEpochStepAndLastGoodCheckpoint) {
  RunConfig config = small_config();
  config.lr = 1e30;
  config.clip = 0;
  config.warmup_epochs = 0;
  EXPECT_THAT(error_of(config, options("a")),
              testing::ContainsRegex("in epoch 1, step [23] of 3; no epoch was finished"));
  // With a first epoch that goes well.
  config = small_config();
  config.lr = 1e30;
  config.clip = 0;
  config.warmup_epochs = 1;
  config.milestones = {1};
  config.lr_decay = 1e8;
  config.lr = 1e-3;
  const std::string error = error_of(config, options("b"));
  EXPECT_THAT(error, HasSubstr("in epoch 2"));
  EXPECT_THAT(error, HasSubstr((folder_ / "b" / "state.ckpt").string() + ", after 1 of 3 epochs"));
  EXPECT_EQ(read_state(folder_ / "b").epochs_done, 1);
}

TEST_F(RunTraining, KeepsTheNetworksThatWereAskedFor) {
  RunConfig config = small_config();
  config.keep_epochs = {0, 2};
  run_training(config, options("a"));
  const nn::ResNetSpec spec = nn::make_spec("resnet20", "projection", 3, 3);
  const Checkpoint initial = read_checkpoint(kept_path(folder_ / "a", 0));
  EXPECT_EQ(initial.network.parameters, nn::initial_parameters(spec, 42));
  EXPECT_EQ(initial.epochs_done, 0);
  EXPECT_FALSE(fs::exists(kept_path(folder_ / "a", 1)));
  const Checkpoint second = read_checkpoint(kept_path(folder_ / "a", 2));
  EXPECT_EQ(second.epochs_done, 2);
  // The learning rate of the kept epoch does not depend on keeping: the results are those of a run that keeps
  // none.
  config.keep_epochs = {};
  run_training(config, options("b"));
  EXPECT_EQ(results("a"), results("b"));
}

TEST_F(RunTraining, SelectsTheBestEpochOnImagesHeldOut) {
  RunConfig config = small_config();
  config.val_fraction = 0.34;
  config.select = "overall";
  config.batch_size = 3;
  const RunLog log = run_training(config, options("a"));
  EXPECT_EQ(log.selected_on, "validation");
  EXPECT_EQ(log.class_counts, (std::vector<std::int64_t>{6, 4, 3}));
  EXPECT_EQ(log.held_out, (std::vector<std::int64_t>{2, 1, 1}));
  ASSERT_EQ(log.val_acc.size(), 3u);
  const auto best = std::max_element(log.val_acc.begin(), log.val_acc.end());
  EXPECT_EQ(log.best_epoch, best - log.val_acc.begin());
  EXPECT_EQ(log.best.accuracy.overall, log.test_acc[static_cast<std::size_t>(log.best_epoch)]);
}

TEST_F(RunTraining, KeepsWhatItSaidOfEveryTestImage) {
  const RunLog log = run_training(small_config(), options("a"));
  const Predictions said = read_predictions(folder_ / "a" / "log.predictions", log.predictions);
  EXPECT_EQ(said.classes, 3);
  EXPECT_EQ(said.labels, data_->test.labels);
  const auto accuracy = [&](const std::vector<Prediction>& epoch) {
    double right = 0;
    for (std::size_t i = 0; i < said.size(); ++i) right += epoch[i].label == said.labels[i];
    return 100 * right / static_cast<double>(said.size());
  };
  EXPECT_DOUBLE_EQ(accuracy(said.best), log.best.accuracy.overall);
  EXPECT_DOUBLE_EQ(accuracy(said.last), log.last.accuracy.overall);
  EXPECT_EQ(log.image.side, 32);
  EXPECT_EQ(log.image.mean.size(), 3U);
}

TEST_F(RunTraining, AnInterruptedRunThatLostItsPredictionsMakesThemAgain) {
  const RunConfig config = small_config();
  run_training(config, options("whole"));
  RunOptions stopping = options("a");
  stopping.should_stop = [asked = 0]() mutable { return ++asked == 6; };
  EXPECT_NE(error_of<base::Interrupted>(config, stopping), "");
  fs::remove(folder_ / "a" / "log.predictions");
  run_training(config, options("a"));
  EXPECT_EQ(results("a"), results("whole"));
}

TEST_F(RunTraining, ARunWhoseClassesWereDividedOtherwiseIsNotResumed) {
  const RunConfig config = small_config();
  RunOptions stopping = options("a");
  stopping.should_stop = [asked = 0]() mutable { return ++asked == 6; };
  EXPECT_NE(error_of<base::Interrupted>(config, stopping), "");
  Checkpoint state = read_state(folder_ / "a");
  ASSERT_THAT(state.log->group_sizes, ElementsAre(1, 1, 1));
  state.log->group_sizes = {1, 2, 0};
  write_checkpoint(state_path(folder_ / "a"), state);
  EXPECT_THAT(error_of(config, options("a")),
              HasSubstr("was begun with 1, 2, 0 head, medium and tail classes"));
}

TEST_F(RunTraining, TheBestEpochIsTheFirstHighestByWhatIsAskedFor) {
  for (const std::string select : {"overall", "balanced", "tail", "last"}) {
    RunConfig config = small_config();
    config.epochs = 4;
    config.select = select;
    const RunLog log = run_training(config, options(select));
    EXPECT_EQ(log.selected_by, select);
    const std::vector<double>& values = select == "tail"       ? log.tail_acc
                                        : select == "balanced" ? log.balanced_acc
                                                               : log.test_acc;
    const auto highest = std::max_element(values.begin(), values.end()) - values.begin();
    EXPECT_EQ(log.best_epoch, select == "last" ? 3 : highest) << select;
    ASSERT_EQ(log.balanced_acc.size(), 4U);
    EXPECT_EQ(log.balanced_acc.back(), log.last.balanced);
    EXPECT_EQ(log_text(read_log(folder_ / select / "log.json")), log_text(log));
  }
  RunConfig config = small_config();
  config.select = "tail";
  config.subset.groups = "2,1";  // all are head
  EXPECT_THAT(error_of(config, options("none")), HasSubstr("no class of the tail"));
}

TEST_F(RunTraining, OwnDataHoldsOutATenthWhereThatIsEnoughAndChoosesByBalancedAccuracy) {
  RunConfig config = small_config();
  config.subset.profile = "natural";
  config.subset.rho = 100;
  config.subset.groups = "default";
  config.epochs = 1;
  EXPECT_EQ(run_training(config, options("few")).selected_on, "test");
  RunOptions many = options("many");
  many.dataset = std::make_shared<const data::Dataset>(toy_dataset(2, 100, 2));
  config.batch_size = 32;
  const RunLog log = run_training(config, many);
  EXPECT_EQ(log.selected_on, "validation");
  EXPECT_EQ(log.selected_by, "balanced");
  EXPECT_EQ(log.held_out, (std::vector<std::int64_t>{10, 10}));
}

TEST_F(RunTraining, AClassLeftOutTakesNoPartInTheTestEither) {
  RunConfig config = small_config();
  config.subset.profile = "counts";
  config.subset.counts_file = folder_ / "counts.txt";
  base::write_atomically(config.subset.counts_file, std::string_view("6\n4\n0\n"));
  const RunLog log = run_training(config, options("a"));
  EXPECT_THAT(log.group_sizes, ElementsAre(1, 1, 0));
  EXPECT_TRUE(std::isnan(log.last.accuracy.tail));
  EXPECT_TRUE(std::isnan(log.last.per_class[2]));
  EXPECT_DOUBLE_EQ(log.last.accuracy.overall, (log.last.accuracy.head + log.last.accuracy.medium) / 2);
  EXPECT_DOUBLE_EQ(log.last.balanced, log.last.accuracy.overall);
  EXPECT_THAT(log.last.confusion[2], ElementsAre(0, 0, 0));
}

TEST_F(RunTraining, TellsEveryStepAndEveryEpoch) {
  RunOptions watching = options("a");
  int steps = 0;
  std::vector<double> accuracies;
  watching.on_progress = [&](const Progress& progress) {
    EXPECT_EQ(progress.steps, 3);
    if (progress.epoch_done) {
      accuracies.push_back(progress.result.overall);
    } else {
      ++steps;
    }
  };
  const RunLog log = run_training(small_config(), watching);
  EXPECT_EQ(steps, 9);
  EXPECT_EQ(accuracies, log.test_acc);
}

TEST_F(RunTraining, AnotherLossTrainsAnotherNetworkAndIsNamedInTheLog) {
  RunConfig config = small_config();
  const RunLog plain = run_training(config, options("a"));
  config.loss = "logit_adjusted:tau=1.0";
  const RunLog adjusted = run_training(config, options("b"));
  EXPECT_EQ(adjusted.config.at("loss"), "logit_adjusted");
  EXPECT_NE(adjusted.train_loss, plain.train_loss);
  EXPECT_NE(adjusted.fingerprint.protocol, plain.fingerprint.protocol);
}

TEST_F(RunTraining, ABatchLargerThanTheSubsetIsRefused) {
  RunConfig config = small_config();
  config.batch_size = 14;
  EXPECT_THAT(error_of(config, options("a")), HasSubstr("larger than the training subset of 13"));
}

TEST_F(RunTraining, ARefusedRunLeavesNoEmptyFolder) {
  RunConfig config = small_config();
  config.batch_size = 14;
  EXPECT_NE(error_of(config, options("a")), "");
  EXPECT_FALSE(fs::exists(folder_ / "a"));
  base::make_folder(folder_ / "b");
  EXPECT_NE(error_of(config, options("b")), "");
  EXPECT_TRUE(fs::exists(folder_ / "b"));
}

TEST_F(RunTraining, TwoProcessesDoNotShareAFolder) {
  const FolderLock lock(folder_ / "a");
  EXPECT_THAT(error_of(small_config(), options("a")), HasSubstr("another process"));
}

TEST_F(RunTraining, AnotherImageSizeAndWidthAreInTheNetworkTheLogAndTheIdentity) {
  RunConfig config = small_config();
  const std::string usual = config_hash(config);
  EXPECT_FALSE(config_map(resolved(config)).contains("image_size"));
  EXPECT_FALSE(config_map(resolved(config)).contains("width"));
  config.image_size = 16;
  config.width = 2;
  EXPECT_NE(config_hash(config), usual);
  EXPECT_THAT(error_of(config, options("wrong")),
              testing::HasSubstr("32 by 32 pixels, but `image_size` is 16"));
  auto small = std::make_shared<data::Dataset>(*data_);
  data::resize_images(*small, 16);
  RunOptions with = options("small");
  with.dataset = small;
  const RunLog log = run_training(config, with);
  EXPECT_EQ(log.image.side, 16);
  const Checkpoint state = read_state(with.folder);
  EXPECT_EQ(state.spec().side, 16);
  EXPECT_EQ(state.spec().width, 2);
  EXPECT_EQ(config_hash(config_from_map(state.config)), config_hash(config));
  EXPECT_EQ(log_text(run_training(config, with)), log_text(log));  // resumed: nothing left to do
}

}  // namespace
}  // namespace longtail::train
