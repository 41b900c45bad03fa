#include "longtail/train/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "longtail/base/error.h"
#include "longtail/base/file.h"
#include "longtail/train/checkpoint.h"

namespace longtail::train {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

RunConfig on_any_cpu() {
  RunConfig config;
  config.engine = "simd";
  return config;
}

TEST(Config, DefaultsAreThePapersTable) {
  const RunConfig config = resolved(on_any_cpu());
  EXPECT_EQ(config.epochs, 200);
  EXPECT_EQ(config.batch_size, 128);
  EXPECT_EQ(config.lr, 0.1);
  EXPECT_EQ(config.momentum, 0.9);
  EXPECT_TRUE(config.nesterov);
  EXPECT_EQ(config.weight_decay, 2e-4);
  EXPECT_EQ(config.clip, 5);
  EXPECT_EQ(config.warmup_epochs, 5);
  EXPECT_THAT(config.milestones, ElementsAre(160, 180));
  EXPECT_EQ(config.lr_decay, 0.01);
  EXPECT_EQ(config.model, "resnet32");
  EXPECT_EQ(config.shortcut, "projection");
}

TEST(Config, EmptyMilestonesAreAtFourAndFourAndAHalfFifths) {
  RunConfig config = on_any_cpu();
  config.epochs = 30;
  EXPECT_THAT(resolved(config).milestones, ElementsAre(24, 27));
  config.epochs = 4;
  EXPECT_THAT(resolved(config).milestones, ElementsAre(3));
  config.epochs = 1;
  EXPECT_THAT(resolved(config).milestones, ElementsAre());
  config.schedule = "cosine";
  config.epochs = 30;
  EXPECT_THAT(resolved(config).milestones, ElementsAre());
}

TEST(Config, ResolvingTwiceChangesNothing) {
  for (const int epochs : {1, 2, 4, 9, 30, 200}) {
    RunConfig config = on_any_cpu();
    config.epochs = epochs;
    EXPECT_EQ(config_identity(resolved(config)), config_identity(config)) << epochs;
  }
}

TEST(Config, IdentityHasEveryParameterButWhereAndHow) {
  RunConfig config = on_any_cpu();
  const std::string identity = config_identity(config);
  EXPECT_THAT(identity, HasSubstr("epochs=200\n"));
  EXPECT_THAT(identity, HasSubstr("rho=100\n"));
  EXPECT_THAT(identity, Not(HasSubstr("threads=")));
  config.threads = 3;
  config.data = "/somewhere";
  config.keep_epochs = {0};
  EXPECT_EQ(config_hash(config), config_hash(on_any_cpu()));
  config.seed = 7;
  EXPECT_NE(config_hash(config), config_hash(on_any_cpu()));
}

TEST(Config, EqualConfigurationsWrittenDifferentlyHaveOneIdentity) {
  RunConfig config = on_any_cpu();
  config.milestones = {180, 160};
  EXPECT_EQ(config_hash(config), config_hash(on_any_cpu()));
}

TEST(Config, WhatTheProfileDoesNotUseIsNotPartOfTheIdentity) {
  RunConfig a = on_any_cpu();
  a.subset.profile = "natural";
  RunConfig b = a;
  b.subset.rho = 10;
  b.subset.n_max = 7;
  EXPECT_EQ(config_hash(a), config_hash(b));
}

TEST(Config, AParameterAtTheValueFromBeforeItExistedIsInNoIdentity) {
  RunConfig config = on_any_cpu();
  EXPECT_THAT(config_identity(config), Not(HasSubstr("fit=")));
  EXPECT_FALSE(config_map(config).contains("skip_unreadable"));
  config.fit = "crop";
  EXPECT_THAT(config_identity(config), HasSubstr("fit=crop\n"));
  EXPECT_EQ(config_from_map(config_map(config)).fit, "crop");
}

TEST(Config, OwnDataIsTakenAsItIsAndCutIntoThirds) {
  RunConfig config = on_any_cpu();
  EXPECT_EQ(resolved(config).subset.profile, "exp");
  EXPECT_EQ(resolved(config).subset.groups, "paper");
  config.dataset = "folder:birds";
  EXPECT_EQ(resolved(config).subset.profile, "natural");
  EXPECT_EQ(resolved(config).subset.groups, "auto");
  config.subset.rho = 10;
  try {
    resolved(config);
    FAIL() << "a ratio beside the natural profile was taken";
  } catch (const base::UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("profile `natural` (the default for your own data) takes none"));
  }
  config.subset.profile = "exp";
  EXPECT_EQ(resolved(config).subset.rho, 10);
}

TEST(Config, FilesCountByWhatTheySay) {
  const std::string folder = testing::TempDir();
  RunConfig a = on_any_cpu();
  a.subset.profile = "counts";
  a.subset.counts_file = folder + "config_test_a.txt";
  RunConfig b = a;
  b.subset.counts_file = folder + "config_test_b.txt";
  for (const std::string& path : {a.subset.counts_file, b.subset.counts_file})
    base::write_atomically(path, std::string_view("3\n2\n"));
  const std::string before = config_hash(a);
  EXPECT_EQ(before, config_hash(b));
  base::write_atomically(b.subset.counts_file, std::string_view("3\n1\n"));
  EXPECT_NE(before, config_hash(b));
  for (const std::string& path : {a.subset.counts_file, b.subset.counts_file}) std::filesystem::remove(path);
}

TEST(Config, ALogSaysOfAFileOnlyItsName) {
  const std::map<std::string, std::string> config = {
      {"class_order", "shuffled:7"}, {"counts_file", "/home/me/counts.txt"}, {"lr", "0.1"}};
  std::map<std::string, std::string> said = config;
  said["counts_file"] = "counts.txt";
  EXPECT_EQ(logged_config(config), said);
  EXPECT_EQ(logged_config(said), said);
  EXPECT_EQ(logged_config({{"class_order", "../order.txt"}}).at("class_order"), "order.txt");
}

TEST(Config, AFileThatIsNotThereMakesNoHash) {
  RunConfig config = on_any_cpu();
  config.subset.class_order = "shufled";
  try {
    config_hash(config);
    FAIL() << "a name was taken for what the file says";
  } catch (const base::StorageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("`class_order` is `shufled`, which is neither label nor shuffled"));
  }
  config.subset.class_order = "label";
  config.subset.profile = "counts";
  config.subset.counts_file = "/nowhere/counts.txt";
  EXPECT_THROW(config_hash(config), base::StorageError);
  config.subset.counts_file = "/dev/null";  // no regular file: read once, by the run
  EXPECT_NO_THROW(config_hash(config));
}

TEST(Config, TextGoesThereAndBack) {
  RunConfig config = on_any_cpu();
  config.lr = 0.30000000000000004;
  config.milestones = {3, 5};
  config.nesterov = false;
  config.subset.rho = 12.5;
  EXPECT_EQ(config_identity(config_from_map(config_map(resolved(config)))), config_identity(config));
}

std::string check_refusal(const RunConfig& config) {
  try {
    check(config);
  } catch (const base::Error& error) {
    return error.what();
  }
  return "";
}

TEST(Config, CombinationsThatCannotBeAreRefusedInASentence) {
  RunConfig config;
  config.epochs = 100;
  config.milestones = {160};
  EXPECT_THAT(check_refusal(config), HasSubstr("`milestones` has 160"));
  config = {};
  config.epochs = 100;
  for (const char* text : {"deferred", "deferred:at=100", "deferred:first=square_root,at=160"}) {
    config.strategy = text;
    EXPECT_THAT(check_refusal(config), HasSubstr("but the last of 100 epochs is 99")) << text;
  }
  for (const char* text : {"deferred:at=99", "deferred:at=0.8", "deferred:at=0.999"}) {
    config.strategy = config.loss = text;
    EXPECT_EQ(check_refusal(config), "") << text;
  }
  config.strategy = "stratified:of=deferred";
  EXPECT_THAT(check_refusal(config), HasSubstr("which changes at epoch 160"));
  config.strategy = "uniform";
  config.loss = "deferred:then=deferred(at=500),at=10";
  EXPECT_THAT(check_refusal(config), HasSubstr("which changes at epoch 500"));
  config.loss = "deferred:at=160";
  EXPECT_THAT(check_refusal(config), HasSubstr("`loss` is `deferred:at=160`, which changes at epoch 160"));
  config = {};
  config.keep_epochs = {201};
  EXPECT_THAT(check_refusal(config), HasSubstr("`keep_epochs` has 201"));
  config = {};
  config.momentum = 0;
  EXPECT_THAT(check_refusal(config), HasSubstr("`nesterov`"));
  config = {};
  config.lr = -1;
  EXPECT_THAT(check_refusal(config), HasSubstr("`lr`"));
  config = {};
  config.dataset = "folder:Zaunk\xf6nig";
  EXPECT_THAT(check_refusal(config), HasSubstr("`folder:Zaunk\u00f6nig`, which is not UTF-8"));
  config = {};
  config.strategy = "unifrom";
  EXPECT_THAT(check_refusal(config), HasSubstr("uniform"));
  EXPECT_EQ(check_refusal({}), "");
}

}  // namespace
}  // namespace longtail::train
