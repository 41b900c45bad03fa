#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "longtail/base/gnuplot.h"
#include "longtail/base/philox.h"
#include "longtail/cli/testing.h"

namespace longtail::cli {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::HasSubstr;

constexpr int kClasses = 3;
constexpr int kPerClass = 8;

// A folder with a small data set in the form of MNIST: noise around a shade of each class.
class ProbeCommandTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = fs::path(testing::TempDir()) / ("longtail_probe." + std::to_string(getpid()));
    fs::create_directories(folder_ / "data");
    for (const char* split : {"train", "t10k"}) {
      std::string images = header({0x803, kClasses * kPerClass, 28, 28}),
                  labels = header({0x801, kClasses * kPerClass});
      const base::Stream noise{.seed = 1, .purpose = base::Purpose::kTest};
      for (int i = 0; i < kClasses * kPerClass; ++i) {
        labels += static_cast<char>(i % kClasses);
        for (int p = 0; p < 28 * 28; ++p) {
          images += static_cast<char>(noise.block(static_cast<std::uint64_t>(i * 1000 + p))[0] % 80 +
                                      i % kClasses * 60);
        }
      }
      base::write_atomically(folder_ / "data" / (std::string(split) + "-images-idx3-ubyte"),
                             std::string_view(images));
      base::write_atomically(folder_ / "data" / (std::string(split) + "-labels-idx1-ubyte"),
                             std::string_view(labels));
    }
  }
  static void TearDownTestSuite() { fs::remove_all(folder_); }

  static std::string header(const std::vector<std::uint32_t>& words) {
    std::string bytes;
    for (const std::uint32_t word : words) {
      for (const int shift : {24, 16, 8, 0}) bytes += static_cast<char>(word >> shift);
    }
    return bytes;
  }

  static std::string dataset() { return "idx:" + (folder_ / "data").string(); }

  // Trains for two epochs and keeps the network after the first.
  static fs::path make_run(const std::string& name, const std::string& loss = "cross_entropy") {
    const Outcome outcome = run_program(
        {"train", "--dataset",       dataset(),  "--profile",    "exp",   "--rho",
         "4",     "--model",         "resnet20", "--epochs",     "2",     "--batch-size",
         "4",     "--warmup-epochs", "1",        "--milestones", "",      "--keep-epochs",
         "1",     "--quiet",         "--loss",   loss,           "--out", (folder_ / name).string()});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return folder_ / name;
  }

  // The formulas alone, as JSON: of the initial network with flags, or of a run.
  static json formulas(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "probe");
    arguments.insert(arguments.end(), {"--batches", "0", "--training-batches", "0", "--json"});
    const Outcome outcome = run_program(arguments);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return outcome.code == 0 ? json::parse(outcome.out)["results"] : json();
  }
  static json of_initial_network(const std::string& loss) {
    return formulas({"--dataset", dataset(), "--profile", "exp", "--rho", "4", "--model", "resnet20",
                     "--batch-size", "4", "--epochs", "2", "--loss", loss});
  }

  static fs::path folder_;
};

fs::path ProbeCommandTest::folder_;

TEST_F(ProbeCommandTest, TheInitialNetworkIsProbedWithoutARun) {
  const Outcome outcome = run_program({"probe", "--dataset", dataset(), "--profile", "exp", "--rho", "4",
                                       "--model", "resnet20", "--batch-size", "4", "--epochs", "4",
                                       "--batches", "4", "--training-batches", "4", "--json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const json result = json::parse(outcome.out)["results"][0];
  EXPECT_EQ(result["epoch"], 0);
  EXPECT_EQ(result["classes"]["count"], json({8, 4, 2}));
  ASSERT_EQ(result["strategies"].size(), 4u);
  for (const json& one : result["strategies"]) {
    EXPECT_GT(one["total"]["variance"].get<double>(), 0);
    EXPECT_EQ(one["mini_batches"]["batches"], 4);
    EXPECT_EQ(one["training_mode"]["batches"], 4);
    EXPECT_NEAR(one["total"]["mse"].get<double>(),
                one["total"]["bias2"].get<double>() + one["total"]["variance"].get<double>(), 1e-9);
  }
  EXPECT_NEAR(result["strategies"][0]["total"]["bias2"].get<double>(), 0, 1e-9);
}

TEST_F(ProbeCommandTest, ARunIsProbedAlongItsTrainingWithTablesAndFigures) {
  const fs::path run = make_run("run");
  std::vector<std::string> arguments = {"probe", run.string(),         "--epoch", "1,last", "--batches",
                                        "0",     "--training-batches", "0"};
  const bool figures = base::has_gnuplot();
  if (figures) arguments.insert(arguments.end(), {"--out", (folder_ / "out").string(), "--format", "svg"});
  const Outcome outcome = run_program(arguments);
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("after 1 epochs; class weights of epoch 1 of 2"));
  EXPECT_THAT(outcome.out, HasSubstr("after 2 epochs; class weights of epoch 1 of 2"));
  EXPECT_THAT(outcome.out, HasSubstr("Along the training"));
  if (figures) {
    for (const char* name :
         {"probe.json", "probe_strategies_epoch1.svg", "probe_ratios_epoch2.svg", "probe_training.svg"}) {
      EXPECT_TRUE(fs::exists(folder_ / "out" / name)) << name;
    }
  }

  const Outcome missing = run_program({"probe", run.string(), "--epoch", "7"});
  EXPECT_EQ(missing.code, 1);
  EXPECT_THAT(missing.err, HasSubstr("kept are 1, and the last has 2"));
  EXPECT_EQ(run_program({"probe", run.string(), "--epoch", "soon"}).code, 2);
  const Outcome known = run_program({"probe", run.string(), "--skip-unreadable"});
  EXPECT_EQ(known.code, 2);
  EXPECT_THAT(known.err, HasSubstr("--skip-unreadable is what"));
}

// Measuring takes minutes; what cannot be done is said before.
TEST_F(ProbeCommandTest, WhatCannotBeMeasuredIsRefusedBeforeTheFirstMeasurement) {
  const fs::path run = make_run("short");
  for (const std::vector<std::string>& arguments : {std::vector<std::string>{"--epoch", "0,7"},
                                                    {"--strategies", "uniform", "deferred"},
                                                    {"--strategies", "uniform", "adaptive"}}) {
    std::vector<std::string> command = {"probe", run.string(), "--batches", "2", "--training-batches", "0"};
    command.insert(command.end(), arguments.begin(), arguments.end());
    const Outcome outcome = run_program(command);
    EXPECT_NE(outcome.code, 0) << arguments.back();
    EXPECT_THAT(outcome.err, testing::Not(HasSubstr("gradients of images"))) << arguments.back();
    EXPECT_THAT(outcome.err, testing::AnyOf(HasSubstr("kept are"), HasSubstr("changes at epoch 160"),
                                            HasSubstr("`adaptive`")));
  }
}

TEST_F(ProbeCommandTest, EveryNetworkIsProbedWithTheLossOfItsEpoch) {
  const json plain = of_initial_network("cross_entropy"), focal = of_initial_network("focal");
  ASSERT_NE(plain, focal);
  EXPECT_EQ(of_initial_network("deferred:then=focal,at=1"), plain);
  EXPECT_EQ(of_initial_network("deferred:then=focal,at=0"), focal);
  // Two runs whose networks are the same until the loss of one changes.
  const json before = formulas({make_run("plain").string(), "--epoch", "0,1"}),
             after = formulas({make_run("deferred", "deferred:then=focal,at=1").string(), "--epoch", "0,1"});
  ASSERT_EQ(before.size(), 2u);
  ASSERT_EQ(after.size(), 2u);
  EXPECT_EQ(after[0], before[0]);
  EXPECT_EQ(after[0], plain[0]);
  EXPECT_NE(after[1], before[1]);
}

TEST_F(ProbeCommandTest, ANetworkThatAnotherTrainingHasKeptIsRefused) {
  const fs::path run = make_run("mixed"), other = make_run("other", "focal");
  fs::copy_file(other / "kept" / "1.ckpt", run / "kept" / "1.ckpt", fs::copy_options::overwrite_existing);
  for (const char* epoch : {"1", "all"}) {
    const Outcome outcome = run_program({"probe", run.string(), "--epoch", epoch});
    EXPECT_EQ(outcome.code, 1);
    EXPECT_THAT(outcome.err, HasSubstr((run / "kept" / "1.ckpt").string() + " is no network of the run"));
  }
  fs::rename(other / "kept" / "1.ckpt", other / "kept" / "7.ckpt");
  EXPECT_EQ(run_program({"probe", other.string(), "--epoch", "7"}).code, 1);
}

TEST_F(ProbeCommandTest, OtherImagesThanThoseOfTheTrainingAreRefused) {
  const fs::path run = make_run("before"), labels = folder_ / "data" / "train-labels-idx1-ubyte";
  const std::string bytes = base::read_text(labels);
  std::string more = bytes;
  more.back() = kClasses;  // one class more
  base::write_atomically(labels, more);
  const Outcome outcome = run_program({"probe", run.string(), "--batches", "0", "--training-batches", "0"});
  base::write_atomically(labels, bytes);
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("other images now than when the run"));
}

TEST_F(ProbeCommandTest, WithoutARunOnlyTheInitialNetworkExists) {
  EXPECT_EQ(run_program({"probe", "--dataset", dataset(), "--epoch", "3"}).code, 2);
  EXPECT_EQ(run_program({"probe", (folder_ / "nothing").string()}).code, 1);
}

}  // namespace
}  // namespace longtail::cli
