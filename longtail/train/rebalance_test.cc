#include "longtail/train/rebalance.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>

#include "longtail/base/error.h"
#include "longtail/base/file.h"
#include "longtail/data/testing.h"
#include "longtail/train/checkpoint.h"
#include "longtail/train/feature_reader.h"
#include "longtail/train/predictions.h"
#include "longtail/train/predictor.h"
#include "longtail/train/rebalance_method.h"
#include "longtail/train/testing.h"

namespace longtail::train {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class RebalanceRun : public testing::Test {
 protected:
  RebalanceRun() : folder_(fs::path(testing::TempDir()) / ("rebalance_test." + std::to_string(::getpid()))) {
    fs::remove_all(folder_);
    base::make_folder(folder_);
    static const auto data = std::make_shared<const data::Dataset>(toy_dataset(3, 12, 4));
    data_ = data;
    train_parent("parent");
  }
  ~RebalanceRun() override { fs::remove_all(folder_); }

  // Classes of 12, 8 and 6 images, batches of 4.
  static RunConfig small_config() {
    RunConfig config;
    config.dataset = "toy";
    config.subset.profile = "exp";
    config.subset.rho = 2;
    config.subset.groups = "9,7";
    config.model = "resnet20";
    config.engine = "simd";
    config.epochs = 2;
    config.batch_size = 4;
    config.lr = 0.02;
    config.threads = 1;
    return config;
  }
  RunOptions options(const std::string& name) const {
    RunOptions options;
    options.folder = folder_ / name;
    options.dataset = data_;
    return options;
  }
  void train_parent(const std::string& name, double val_fraction = 0) const {
    RunConfig config = small_config();
    config.val_fraction = val_fraction;
    run_training(config, options(name));
  }
  RunLog made(const std::string& method, const std::string& name, int threads = 1,
              const std::string& parent = "parent") const {
    return rebalance(folder_ / parent, where(method, threads), options(name));
  }
  static RunConfig where(const std::string& method, int threads = 1) {
    RunConfig config;
    config.rebalance = method;
    config.threads = threads;
    return config;
  }
  std::string error_of(const std::string& method, const std::string& name,
                       const std::string& parent = "parent") const {
    try {
      made(method, name, 1, parent);
    } catch (const base::Error& error) {
      return error.what();
    }
    return "";
  }
  std::string results(const std::string& name) const {
    return base::read_text(folder_ / name / "log.json") + base::read_text(folder_ / name / "state.ckpt") +
           base::read_text(folder_ / name / "log.predictions");
  }

  fs::path folder_;
  std::shared_ptr<const data::Dataset> data_;
};

const std::vector<std::string> kMethods = {"crt:epochs=3", "lws:epochs=3", "tau_norm", "logit_adjust", "ncm"};

TEST_F(RebalanceRun, EveryMethodGivesARunThatPointsToItsParent) {
  const Checkpoint parent = read_state(folder_ / "parent");
  const auto features = static_cast<long>(nn::network_plan(parent.spec()).linear_weight);
  for (const std::string& method : kMethods) {
    const RunLog log = made(method, "child-" + method);
    const fs::path folder = folder_ / ("child-" + method);
    EXPECT_TRUE(log.finished) << method;
    EXPECT_EQ(log.epochs(), make_rebalance_method(method)->epochs);
    ASSERT_TRUE(log.parent);
    EXPECT_EQ(log.parent->protocol, parent.log->fingerprint.protocol);
    EXPECT_EQ(log.parent->epochs, 2);
    EXPECT_EQ(log.config.at("rebalance"), method);
    EXPECT_EQ(log.strategy, "uniform");
    EXPECT_EQ(log.fingerprint.init, parent.log->fingerprint.init);
    EXPECT_NE(log.fingerprint.protocol, parent.log->fingerprint.protocol);
    EXPECT_EQ(log_text(read_log(folder / "log.json")), log_text(log));
    // Features are the parent's, the classifier is not.
    const Checkpoint state = read_state(folder);
    const auto& before = parent.network.parameters;
    const auto& after = state.network.parameters;
    EXPECT_TRUE(std::equal(before.begin(), before.begin() + features, after.begin()));
    EXPECT_FALSE(std::equal(before.begin() + features, before.end(), after.begin() + features)) << method;
    EXPECT_EQ(state.network.buffers, parent.network.buffers);
    EXPECT_EQ(config_hash(config_from_map(state.config)), log.fingerprint.protocol);
    // Whoever reads runs reads it.
    PredictorOptions one_thread;
    one_thread.threads = 1;
    const Predictor predictor(folder, one_thread);
    EXPECT_EQ(predictor.class_names().size(), 3U);
    const Predictions said = read_predictions(folder / "log.predictions", log.predictions);
    double right = 0;
    for (std::size_t i = 0; i < said.size(); ++i) right += said.last[i].label == said.labels[i];
    EXPECT_DOUBLE_EQ(100 * right / static_cast<double>(said.size()), log.last.accuracy.overall);
  }
}

TEST_F(RebalanceRun, GivesTheSameBytesOnAnyNumberOfThreads) {
  for (const std::string& method : kMethods) {
    made(method, "one-" + method, 1);
    made(method, "three-" + method, 3);
    EXPECT_EQ(results("one-" + method), results("three-" + method)) << method;
  }
}

TEST_F(RebalanceRun, InterruptedAndResumedGivesTheSameBytes) {
  for (const std::string& method : kMethods) {
    const RunLog whole = made(method, "whole-" + method);
    // Stopped again and again, each time a little later.
    bool finished = false;
    for (int calls = 1; !finished && calls < 200; calls += 5) {
      RunOptions stopping = options("cut-" + method);
      stopping.should_stop = [asked = 0, calls]() mutable { return ++asked > calls; };
      try {
        rebalance(folder_ / "parent", where(method), stopping);
        finished = true;
      } catch (const base::Interrupted&) {
      }
    }
    EXPECT_TRUE(finished);
    EXPECT_EQ(results("whole-" + method), results("cut-" + method)) << method;
    // Once more: nothing is left to do.
    EXPECT_EQ(log_text(made(method, "cut-" + method)), log_text(whole));
  }
}

TEST_F(RebalanceRun, FeaturesTimesTheClassifierAreTheLogits) {
  const Checkpoint parent = read_state(folder_ / "parent");
  base::ThreadPool pool(1);
  const FeatureReader reader("simd", parent.spec(), parent.network, 8, pool);
  const Features features = reader.read_all(*data_, data_->test, {}, [] {});
  EXPECT_EQ(features.labels, data_->test.labels);
  const HeadResult said = measure_head(parent.spec(), parent.network.parameters, features);
  EXPECT_NEAR(said.loss, parent.log->test_loss.back(), 1e-6);
  EXPECT_DOUBLE_EQ(said.accuracy, parent.log->test_acc.back());
  EXPECT_DOUBLE_EQ(said.balanced, parent.log->balanced_acc.back());
}

TEST_F(RebalanceRun, TauZeroOfLogitAdjustmentIsTheParent) {
  const RunLog log = made("logit_adjust:tau=0", "same");
  EXPECT_EQ(read_state(folder_ / "same").network.parameters,
            read_state(folder_ / "parent").network.parameters);
  EXPECT_EQ(log.last.confusion, read_log(folder_ / "parent" / "log.json").last.confusion);
  EXPECT_EQ(log.parent->tau, 0);
  EXPECT_EQ(log.parent->tau_from, "given");
}

TEST_F(RebalanceRun, TauIsChosenOnHeldOutImagesWhereThereAreSome) {
  EXPECT_EQ(made("tau_norm", "seen").parent->tau_from, "seen");
  train_parent("held", 0.25);
  const RunLog log = made("tau_norm", "unseen", 1, "held");
  EXPECT_EQ(log.parent->tau_from, "held_out");
  EXPECT_EQ(log.held_out, (std::vector<std::int64_t>{3, 2, 2}));
  EXPECT_EQ(log.val_acc.size(), 1U);
  EXPECT_EQ(log_text(read_log(folder_ / "unseen" / "log.json")), log_text(log));
}

TEST_F(RebalanceRun, AParameterOfTrainingTrainsTheParentAndThenRebalancesIt) {
  RunConfig config = small_config();
  config.val_fraction = 0;
  config.rebalance = "crt:epochs=3,lr=0.1";
  const RunLog log = run_training(config, options("both"));
  made("crt:epochs=3", "after");
  EXPECT_EQ(results("both"), results("after"));
  EXPECT_EQ(results("both/parent"), results("parent"));
  EXPECT_EQ(log.fingerprint.protocol, config_hash(config));
  fs::remove_all(folder_ / "both" / "parent");  // a finished run needs it no more
  EXPECT_EQ(log_text(run_training(config, options("both"))), log_text(log));
  EXPECT_FALSE(fs::exists(folder_ / "both" / "parent"));
}

TEST_F(RebalanceRun, AFinishedRunMendsALostLog) {
  for (const std::string method : {"logit_adjust", "crt:epochs=2"}) {
    const RunLog log = made(method, "lost-" + method);
    const std::string whole = results("lost-" + method);
    fs::remove(folder_ / ("lost-" + method) / "log.json");
    EXPECT_EQ(log_text(made(method, "lost-" + method)), log_text(log));
    EXPECT_EQ(results("lost-" + method), whole);
  }
}

TEST_F(RebalanceRun, AFinishedRunNeedsItsParentNoMore) {
  const RunLog log = made("ncm", "orphan");
  fs::rename(folder_ / "parent", folder_ / "away");
  fs::remove(folder_ / "orphan" / "log.json");
  EXPECT_EQ(log_text(made("ncm", "orphan")), log_text(log));
  EXPECT_EQ(log_text(read_log(folder_ / "orphan" / "log.json")), log_text(log));
  EXPECT_THAT(error_of("tau_norm", "orphan"), HasSubstr("holds no run"));
  EXPECT_THAT(error_of("ncm", "another"), HasSubstr("holds no run"));
}

TEST_F(RebalanceRun, WhatCannotBeIsRefusedBeforeTheParentIsTrained) {
  const auto refusal = [&](const RunConfig& config, const std::string& name) -> std::string {
    try {
      run_training(config, options(name));
    } catch (const base::Error& error) {
      return error.what();
    }
    return "";
  };
  RunConfig config = small_config();
  config.rebalance = "crt:epochs=2";
  EXPECT_THAT(refusal(config, "parent"), HasSubstr("holds a run with `rebalance` = `none`"));
  EXPECT_FALSE(fs::exists(folder_ / "parent" / "parent"));
  config.head = "cosine";
  config.loss = "ldam";
  EXPECT_THAT(refusal(config, "cosine"), HasSubstr("needs a linear head"));
  EXPECT_FALSE(fs::exists(folder_ / "cosine"));
}

TEST_F(RebalanceRun, TheLogOfAnotherRunIsNotOverwrittenWhereTheCheckpointIsGone) {
  const RunLog log = made("tau_norm", "child");
  fs::remove(folder_ / "child" / "state.ckpt");
  const std::string refusal = "holds a run with `rebalance` = `tau_norm`, but here it is `ncm`";
  EXPECT_THAT(error_of("ncm", "child"), HasSubstr(refusal));
  RunConfig config = small_config();
  config.rebalance = "ncm";
  EXPECT_THAT(data::error_of([&] { run_training(config, options("child")); }), HasSubstr(refusal));
  EXPECT_FALSE(fs::exists(folder_ / "child" / "parent"));  // not trained in vain
  EXPECT_EQ(log_text(read_log(folder_ / "child" / "log.json")), log_text(log));
  EXPECT_EQ(log_text(made("tau_norm", "child")), log_text(log));
}

TEST_F(RebalanceRun, IsLeftOutOfTheIdentityOfARunWithoutIt) {
  EXPECT_FALSE(config_map(resolved(small_config())).contains("rebalance"));
  EXPECT_FALSE(read_log(folder_ / "parent" / "log.json").parent);
}

TEST_F(RebalanceRun, WhatCannotBeIsRefusedInASentence) {
  RunConfig config = small_config();
  RunOptions stopping = options("half");
  stopping.should_stop = [asked = 0]() mutable { return ++asked == 12; };
  EXPECT_THROW(run_training(config, stopping), base::Interrupted);
  EXPECT_THAT(error_of("crt", "a", "half"), HasSubstr("is not finished: 1 epochs are done"));
  EXPECT_THAT(error_of("crt", "a", "nowhere"), HasSubstr("holds no run"));
  made("ncm", "child");
  EXPECT_THAT(error_of("crt", "a", "child"), HasSubstr("is itself rebalanced"));
  EXPECT_THAT(error_of("ncm:distance=euclidean", "child"), HasSubstr("`rebalance` = `ncm`, but here it is"));
  EXPECT_FALSE(fs::exists(folder_ / "a"));
  train_parent("other", 0.25);
  EXPECT_NE(error_of("ncm", "child", "other"), "");
}

}  // namespace
}  // namespace longtail::train
