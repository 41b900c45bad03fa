#include "longtail/train/beginning.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "longtail/base/error.h"
#include "longtail/base/file.h"
#include "longtail/train/run.h"
#include "longtail/train/testing.h"

namespace longtail::train {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

RunConfig four_epochs(const std::string& loss, const std::string& strategy = "uniform") {
  RunConfig config;
  config.dataset = "toy";
  config.subset.profile = "exp";
  config.subset.rho = 2;
  config.subset.groups = "5,3";
  config.model = "resnet20";
  config.engine = "simd";
  config.strategy = strategy;
  config.loss = loss;
  config.epochs = 4;
  config.batch_size = 4;
  config.lr = 0.02;
  config.threads = 1;
  return config;
}

RunConfig falling_at(std::vector<int> milestones, const std::string& strategy = "uniform") {
  RunConfig config = four_epochs("cross_entropy", strategy);
  config.warmup_epochs = 0;
  config.milestones = std::move(milestones);
  return config;
}

TEST(AlikeEpochs, LastUntilTheFirstLossOrStrategyIsOver) {
  const auto alike = [](const RunConfig& a, const RunConfig& b) {
    EXPECT_EQ(alike_epochs(a, b), alike_epochs(b, a));
    return alike_epochs(a, b);
  };
  const RunConfig plain = four_epochs("cross_entropy");
  EXPECT_EQ(alike(plain, four_epochs("focal")), 0);
  EXPECT_EQ(alike(plain, plain), 4);
  EXPECT_EQ(alike(four_epochs("focal:gamma=1"), four_epochs("deferred:first=focal(gamma=1),at=0.5")), 2);
  EXPECT_EQ(alike(plain, four_epochs("deferred:at=3", "deferred:at=1")), 1);
  EXPECT_EQ(alike(four_epochs("deferred:at=3"), four_epochs("deferred:then=focal,at=2")), 2);
  EXPECT_EQ(alike(four_epochs("deferred:at=3"), four_epochs("deferred:then=focal,at=3")), 3);
  EXPECT_EQ(alike(plain, four_epochs("deferred:at=0")), 0);
}

TEST(AlikeEpochs, LastUntilOneLearningRateFalls) {
  EXPECT_EQ(alike_epochs(falling_at({2, 3}), falling_at({1, 3})), 1);
  EXPECT_EQ(alike_epochs(falling_at({2, 3}), falling_at({2})), 3);
  RunConfig other = falling_at({2, 3});
  other.lr_decay = 0.5;
  EXPECT_EQ(alike_epochs(falling_at({2, 3}), other), 2);
  other.lr = 0.03;
  EXPECT_EQ(alike_epochs(falling_at({2, 3}), other), 0);
}

TEST(AlikeEpochs, AreNoneWhereSomethingElseDiffersOrALaterStrategyMustHaveBeenTold) {
  RunConfig other = four_epochs("deferred:at=2");
  other.seed = 7;
  EXPECT_EQ(alike_epochs(four_epochs("cross_entropy"), other), 0);
  EXPECT_EQ(
      alike_epochs(four_epochs("cross_entropy"), four_epochs("cross_entropy", "deferred:then=focus,at=2")),
      0);
}

class BranchedRun : public testing::Test {
 protected:
  BranchedRun() : folder_(fs::path(testing::TempDir()) / ("beginning_test." + std::to_string(::getpid()))) {
    fs::remove_all(folder_);
    base::make_folder(folder_);
  }
  ~BranchedRun() override { fs::remove_all(folder_); }

  RunLog train(const std::string& name, const RunConfig& config, const fs::path& from = {},
               std::vector<int> branches = {}) {
    RunOptions options;
    options.folder = folder_ / name;
    options.dataset = data_;
    options.begin_from = from;
    options.branch_epochs = std::move(branches);
    options.on_note = [this](const std::string& sentence) { notes_ += sentence + "\n"; };
    options.on_progress = [this](const Progress& progress) { epochs_trained_ += progress.epoch_done; };
    return run_training(config, options);
  }
  std::string results(const std::string& name) const {
    return base::read_text(folder_ / name / "log.json") + base::read_text(folder_ / name / "state.ckpt") +
           base::read_text(folder_ / name / "log.predictions");
  }

  fs::path folder_;
  std::shared_ptr<const data::Dataset> data_ = std::make_shared<const data::Dataset>(toy_dataset(3, 6, 2));
  std::string notes_;
  int epochs_trained_ = 0;
};

TEST_F(BranchedRun, HasTheBytesOfOneTrainedByItself) {
  for (const auto& [deferred, plain] :
       {std::pair{four_epochs("deferred:then=focal,at=2"), four_epochs("cross_entropy")},
        std::pair{four_epochs("focal", "deferred:then=square_root,at=2"), four_epochs("focal")},
        std::pair{four_epochs("cross_entropy"), four_epochs("deferred:then=focal,at=2")},
        std::pair{falling_at({2, 3}, "progressive"), falling_at({3}, "progressive")}}) {
    train("plain", plain, {}, {2});
    train("alone", deferred);
    epochs_trained_ = 0;
    train("branched", deferred, branch_path(folder_ / "plain", 2));
    EXPECT_EQ(epochs_trained_, 2);
    EXPECT_EQ(results("branched"), results("alone"));
    EXPECT_NE(results("branched"), results("plain"));
    for (const char* name : {"plain", "alone", "branched"}) fs::remove_all(folder_ / name);
  }
}

TEST_F(BranchedRun, IsTrainedWholeWhereTheStateCannotBeUsed) {
  const RunConfig deferred = four_epochs("deferred:then=focal,at=2");
  train("alone", deferred);
  RunConfig other = four_epochs("cross_entropy");
  other.seed = 7;
  train("other", other, {}, {2, 3});
  fs::create_directories(folder_ / "cut" / "branch");
  const std::string bytes = base::read_text(branch_path(folder_ / "other", 2));
  base::write_atomically(branch_path(folder_ / "cut", 2), bytes.substr(0, bytes.size() / 2));
  const std::vector<std::pair<fs::path, std::string>> cases = {
      {branch_path(folder_ / "nowhere", 2), ""},
      {branch_path(folder_ / "other", 2), "`seed` = `7`"},
      {branch_path(folder_ / "cut", 2), "cut"},
  };
  for (const auto& [from, said] : cases) {
    notes_.clear();
    epochs_trained_ = 0;
    train("whole", deferred, from);
    EXPECT_EQ(epochs_trained_, 4) << from;
    EXPECT_THAT(notes_, HasSubstr(said));
    EXPECT_EQ(results("whole"), results("alone"));
    fs::remove_all(folder_ / "whole");
  }
}

TEST_F(BranchedRun, KeepsTheNetworksThatOneTrainedByItselfKeeps) {
  train("plain", four_epochs("cross_entropy"), {}, {2});
  RunConfig deferred = four_epochs("deferred:then=focal,at=2");
  for (const auto& [kept, trained] :
       {std::pair{std::vector<int>{2, 3}, 2}, std::pair{std::vector<int>{1, 3}, 4},
        std::pair{std::vector<int>{0}, 4}}) {
    deferred.keep_epochs = kept;
    train("alone", deferred);
    epochs_trained_ = 0;
    train("branched", deferred, branch_path(folder_ / "plain", 2));
    EXPECT_EQ(epochs_trained_, trained);
    EXPECT_EQ(results("branched"), results("alone"));
    for (const int epoch : kept) {
      ASSERT_TRUE(fs::exists(kept_path(folder_ / "branched", epoch))) << epoch;
      EXPECT_EQ(base::read_text(kept_path(folder_ / "branched", epoch)),
                base::read_text(kept_path(folder_ / "alone", epoch)));
    }
    for (const char* name : {"alone", "branched"}) fs::remove_all(folder_ / name);
  }
}

TEST_F(BranchedRun, AStateFromAfterTheRunsPartedIsNotTaken) {
  train("plain", four_epochs("cross_entropy"), {}, {3});
  train("branched", four_epochs("deferred:then=focal,at=2"), branch_path(folder_ / "plain", 3));
  EXPECT_THAT(notes_, HasSubstr("the two runs are alike for 2 epochs, and this is a state after 3"));
}

}  // namespace
}  // namespace longtail::train
