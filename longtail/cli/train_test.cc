// train, evaluate and export as a person runs them, on a data set of a few images.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <chrono>
#include <csignal>
#include <map>
#include <random>
#include <thread>
#include <tuple>

#include "longtail/base/error.h"
#include "longtail/cli/testing.h"
#include "longtail/nn/engine.h"
#include "longtail/train/checkpoint.h"

namespace longtail::cli {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

// IDX: two zeros, 8 for bytes, the number of dimensions, each dimension big-endian, the values.
void write_idx(const fs::path& path, const std::vector<int>& dimensions, const std::vector<char>& values) {
  std::string bytes = {0, 0, 8, static_cast<char>(dimensions.size())};
  for (const int size : dimensions) {
    for (const int shift : {24, 16, 8, 0}) bytes += static_cast<char>(size >> shift & 255);
  }
  bytes.append(values.begin(), values.end());
  base::write_atomically(path, bytes);
}

void write_split(const fs::path& folder, const std::string& name, int images) {
  base::make_folder(folder);
  std::mt19937 random(1);
  std::vector<char> pixels, labels;
  for (int i = 0; i < images; ++i) {
    labels.push_back(static_cast<char>(i % 3));
    for (int p = 0; p < 32 * 32; ++p)
      pixels.push_back(static_cast<char>(random() % 64 + 60 * static_cast<unsigned>(i % 3)));
  }
  write_idx(folder / (name + "-images-idx3-ubyte"), {images, 32, 32}, pixels);
  write_idx(folder / (name + "-labels-idx1-ubyte"), {images}, labels);
}

class TrainCommand : public testing::Test {
 protected:
  TrainCommand() : folder_(fs::path(testing::TempDir()) / ("train_test." + std::to_string(getpid()))) {
    fs::remove_all(folder_);
    base::make_folder(folder_);
    write_split(folder_, "train", 18);
    write_split(folder_, "t10k", 6);
  }
  ~TrainCommand() override { fs::remove_all(folder_); }

  std::string run_folder(const std::string& name) const { return (folder_ / name).string(); }

  std::vector<std::string> command(const std::string& name, const std::vector<std::string>& more = {}) const {
    std::vector<std::string> words = {"train",     "--dataset",     "idx:" + folder_.string(),
                                      "--profile", "exp",           "--rho",
                                      "2",         "--groups",      "5,3",
                                      "--model",   "resnet20",      "--threads",
                                      "2",         "--batch-size",  "4",
                                      "--out",     run_folder(name)};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }

  std::string results(const std::string& name) const {
    return base::read_text(folder_ / name / "log.json") + base::read_text(folder_ / name / "state.ckpt");
  }

  fs::path folder_;
};

TEST_F(TrainCommand, WritesALineAnEpochTheTableAndTheLog) {
  const Outcome outcome = run_program(command("a", {"--epochs", "3"}));
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out,
              HasSubstr("epoch      lr   loss train   test  head medium  tail   img/s        left\n"
                        "  1/3    0.02 "));
  EXPECT_THAT(outcome.out, HasSubstr("\n  3/3    0.06 "));
  EXPECT_THAT(outcome.out, HasSubstr("overall accuracy %"));
  EXPECT_THAT(outcome.out, Not(HasSubstr("\r")));
  EXPECT_EQ(train::read_log(folder_ / "a" / "log.json").epochs(), 3);

  const Outcome again = run_program(command("a", {"--epochs", "3"}));
  EXPECT_EQ(again.code, 0);
  EXPECT_THAT(again.out, HasSubstr("finished already"));
  EXPECT_THAT(again.out, Not(HasSubstr("  1/3 ")));
}

TEST_F(TrainCommand, QuietSaysNothing) {
  const Outcome outcome = run_program(command("a", {"--epochs", "1", "--quiet"}));
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.out + outcome.err, "");
}

TEST_F(TrainCommand, KilledAtLeastFourTimesItEndsWithTheSameBytes) {
  const std::vector<std::string> flags = {"--epochs", "6", "--warmup-epochs", "1"};
  ASSERT_EQ(run_program(command("whole", flags)).code, 0);
  // Killed before anything, while the first epochs are trained and as soon as each further checkpoint is
  // there.
  int kills = 0;
  for (int epochs = 0; epochs < 4; ++epochs) {
    const pid_t child = start_program(command("killed", flags), folder_ / "out", folder_ / "err");
    const auto trained = [&] {
      if (!fs::exists(folder_ / "killed" / "state.ckpt")) return false;
      return train::read_state(folder_ / "killed").epochs_done >= epochs;
    };
    if (epochs > 0) {
      EXPECT_TRUE(wait_until(child, trained)) << "epoch " << epochs;
    }
    kills += kill_hits(child);
  }
  EXPECT_EQ(kills, 4);
  ASSERT_EQ(run_program(command("killed", flags)).code, 0);
  EXPECT_EQ(results("killed"), results("whole"));
}

TEST_F(TrainCommand, ASignalEndsItWith130AndItGoesOn) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    const std::string name = "signal" + std::to_string(signal);
    const pid_t child = start_program(command(name, {"--epochs", "5000"}), folder_ / "out", folder_ / "err");
    EXPECT_TRUE(wait_until(child, [&] { return fs::exists(folder_ / name / "state.ckpt"); }));
    kill(child, signal);
    EXPECT_EQ(wait_for(child), 130);
    EXPECT_THAT(base::read_text(folder_ / "err"), HasSubstr("The same command resumes from there"));
    EXPECT_GT(train::read_state(folder_ / name).epochs_done, 0);
  }
}

TEST_F(TrainCommand, WhatCannotBeIsRefusedWithTheRightCode) {
  EXPECT_EQ(run_program(command("a", {"--epochs", "0"})).code, 2);
  EXPECT_EQ(run_program(command("a", {"--epochs", "2", "--milestones", "5"})).code, 2);
  const Outcome unknown = run_program(command("a", {"--strategy", "unifrom"}));
  EXPECT_EQ(unknown.code, 2);
  EXPECT_THAT(unknown.err + unknown.out, HasSubstr("uniform"));
  const Outcome infinite =
      run_program(command("a", {"--epochs", "2", "--lr", "1e30", "--clip", "0", "--warmup-epochs", "0"}));
  EXPECT_EQ(infinite.code, 1);
  EXPECT_THAT(infinite.err, HasSubstr("epoch 1, step"));
  ASSERT_EQ(run_program(command("b", {"--epochs", "1"})).code, 0);
  const Outcome other = run_program(command("b", {"--epochs", "1", "--seed", "43"}));
  EXPECT_EQ(other.code, 1);
  EXPECT_THAT(other.err, HasSubstr("`seed` = `42`, but here it is `43`"));
}

TEST_F(TrainCommand, ALearningRateBeyondAllNumbersIsToldTheLargest) {
  const Outcome outcome = run_program(command("a", {"--lr", "1e308"}));
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("`lr` is `1e+308`; it must be above 0 and at most 1e+300"));
  EXPECT_FALSE(fs::exists(folder_ / "a"));
}

// From far too little to enough: every time a sentence or the whole result, never a signal.
TEST_F(TrainCommand, WithTooLittleAddressSpaceItEndsWithASentence) {
#if defined(LONGTAIL_SANITIZED)
  GTEST_SKIP() << "the sanitiser needs its own address space";
#endif
  std::map<std::string, int> ends;
  rlimit old{};
  ASSERT_EQ(::getrlimit(RLIMIT_AS, &old), 0);
  for (rlim_t megabytes = 40; megabytes <= 640; megabytes += megabytes < 240 ? 4 : 40) {
    const std::string name = "run" + std::to_string(megabytes);
    const rlimit tight{megabytes << 20, old.rlim_max};
    const auto end_of = [&](const std::vector<std::string>& arguments) {
      EXPECT_EQ(::setrlimit(RLIMIT_AS, &tight), 0);
      const pid_t child = start_program(arguments, folder_ / "out", folder_ / "err");
      EXPECT_EQ(::setrlimit(RLIMIT_AS, &old), 0);
      return wait_for(child);
    };
    const int code = end_of(command(name, {"--epochs", "1"}));
    const std::string said = base::read_text(folder_ / "err");
    // The system's loader says so, or a library is initialised before the program begins and aborts; then --version does too.
    if (code == 127 || (code > 128 && end_of({"--version"}) == code)) {
      ++ends["not even loaded"];
    } else if (code == 1 && said.find("longtail: ") != std::string::npos) {
      ++ends["sentence"];
    } else if (code == 0) {
      ++ends["done"];
    } else {
      ADD_FAILURE() << megabytes << " MB: code " << code << ": " << said;
    }
  }
  EXPECT_GT(ends["sentence"], 0) << "no limit was too tight: the test shows nothing";
  EXPECT_GT(ends["done"], 0) << "no limit was wide enough";
}

TEST_F(TrainCommand, TheAmxEngineOnACpuWithoutItIsAnErrorThatSaysWhy) {
  if (nn::resolve_engine("auto") == "amx") GTEST_SKIP() << "this CPU has AMX";
  const Outcome outcome = run_program(command("a", {"--engine", "amx"}));
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("amx engine cannot run here"));
}

TEST_F(TrainCommand, EvaluateMeasuresWhatTheLogHas) {
  ASSERT_EQ(run_program(command("a", {"--epochs", "2"})).code, 0);
  const Outcome outcome = run_program({"evaluate", run_folder("a"), "--classes", "--threads", "1"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("The log of the run says the same, to the last digit."));
  EXPECT_THAT(outcome.out, HasSubstr("images"));
  EXPECT_EQ(run_program({"evaluate", run_folder("nothing")}).code, 1);
}

TEST_F(TrainCommand, ExportWritesTheNetworkThatWasAskedFor) {
  ASSERT_EQ(run_program(command("a", {"--epochs", "2"})).code, 0);
  const std::string model = run_folder("model.safetensors");
  EXPECT_EQ(run_program({"export", run_folder("a"), "--out", model, "--last"}).code, 0);
  const std::string file = base::read_text(model);
  const train::Checkpoint state = train::read_state(folder_ / "a");
  const auto tail =
      std::as_bytes(std::span(state.network.buffers));  // the last tensor is at the end of the file
  EXPECT_EQ(file.substr(file.size() - tail.size()),
            std::string(reinterpret_cast<const char*>(tail.data()), tail.size()));
  EXPECT_EQ(run_program({"export", run_folder("a"), "--out", model, "--last", "--best"}).code, 2);
}

TEST_F(TrainCommand, EvaluateComparesWithTheLogThatIsThere) {
  ASSERT_EQ(run_program(command("a", {"--epochs", "1"})).code, 0);
  ASSERT_EQ(run_program(command("other", {"--epochs", "1", "--seed", "43"})).code, 0);
  const fs::path log = folder_ / "a" / "log.json";
  const auto evaluated = [&](int code) {
    const Outcome outcome = run_program({"evaluate", run_folder("a"), "--threads", "1"});
    EXPECT_EQ(outcome.code, code) << outcome.err;
    EXPECT_THAT(outcome.out, HasSubstr("overall accuracy %"));
    return outcome.out + outcome.err;
  };
  EXPECT_THAT(evaluated(0), HasSubstr("The log of the run says the same"));
  fs::copy_file(folder_ / "other" / "log.json", log, fs::copy_options::overwrite_existing);
  EXPECT_THAT(evaluated(0), testing::AllOf(HasSubstr("log.json is not the log of this checkpoint"),
                                           HasSubstr("points of overall accuracy")));
  base::write_atomically(log, std::string_view("{not a log"));
  EXPECT_THAT(evaluated(1), HasSubstr("log.json is not a run log"));
  fs::remove(log);
  EXPECT_THAT(evaluated(0), testing::AllOf(HasSubstr("There is no " + log.string()),
                                           HasSubstr("The copy of the log in the checkpoint says the same"),
                                           Not(HasSubstr("The log of the run says"))));
}

TEST_F(TrainCommand, EvaluateProbeAndRebalanceTakeTheFolderThatDataWasMovedTo) {
  write_split(folder_ / "here", "train", 18);
  write_split(folder_ / "here", "t10k", 6);
  const std::vector<std::string> words = {"train",   "--dataset",    "idx:" + (folder_ / "here").string(),
                                          "--model", "resnet20",     "--epochs",
                                          "1",       "--batch-size", "4",
                                          "--out",   run_folder("a")};
  ASSERT_EQ(run_program(words).code, 0);
  fs::rename(folder_ / "here", folder_ / "there");
  EXPECT_EQ(run_program({"evaluate", run_folder("a")}).code, 1);
  const std::string there = (folder_ / "there").string();
  const auto rebalanced = [&](const std::string& name, const std::string& data) {
    return run_program(
        {"rebalance", run_folder("a"), "--method", "ncm", "--data", data, "--out", run_folder(name)});
  };
  const Outcome moved = run_program({"evaluate", run_folder("a"), "--data", there});
  EXPECT_EQ(moved.code, 0) << moved.err;
  EXPECT_THAT(moved.out, HasSubstr("says the same"));
  const Outcome probed =
      run_program({"probe", run_folder("a"), "--data", there, "--batches", "0", "--training-batches", "0"});
  EXPECT_EQ(probed.code, 0) << probed.err;
  const Outcome made = rebalanced("b", there);
  EXPECT_EQ(made.code, 0) << made.err;
  EXPECT_EQ(train::read_log(folder_ / "b" / "log.json").dataset, words[2]);  // the name it was trained under
  EXPECT_EQ(run_program({"evaluate", run_folder("b"), "--data", there}).code, 0);

  fs::copy(there, folder_ / "here");
  EXPECT_EQ(rebalanced("c", run_folder("nowhere")).code, 1);  // nor is it looked for where it was
  write_split(there, "t10k", 9);
  for (const Outcome& other :
       {run_program({"evaluate", run_folder("a"), "--data", there}),
        run_program({"probe", run_folder("a"), "--data", there}), rebalanced("c", there)}) {
    EXPECT_EQ(other.code, 1);
    EXPECT_THAT(other.err, HasSubstr("holds other images now than when the run in " + run_folder("a")));
  }
  EXPECT_FALSE(fs::exists(folder_ / "c"));
}

TEST_F(TrainCommand, FlagsThatWouldDoNothingAreRefused) {
  for (const auto& [flag, value, why] :
       {std::tuple("--n-max", "3", "`n_max` says how classes are cut, but the profile `natural`"),
        std::tuple("--class-order", "shuffled", "`class_order` says how classes are cut, but the profile"),
        std::tuple("--data", "/data", "--data would do nothing beside `idx:")}) {
    for (const char* name : {"train", "probe", "subset"}) {
      std::vector<std::string> words = {name, "--dataset", "idx:" + folder_.string(), flag, value};
      if (words[0] == "train") words.insert(words.end(), {"--out", run_folder("a")});
      const Outcome outcome = run_program(words);
      EXPECT_EQ(outcome.code, 2) << name << " " << flag;
      EXPECT_THAT(outcome.err, HasSubstr(why)) << name << " " << flag;
    }
  }
  EXPECT_FALSE(fs::exists(folder_ / "a"));
}

TEST_F(TrainCommand, ExportGoesByTheEndingAndNeverWritesOverARun) {
  ASSERT_EQ(run_program(command("a", {"--epochs", "1"})).code, 0);
  const auto exported = [&](const fs::path& out, const std::vector<std::string>& more = {}) {
    std::vector<std::string> words = {"export", run_folder("a"), "--out", out.string()};
    words.insert(words.end(), more.begin(), more.end());
    return run_program(words);
  };
  EXPECT_THAT(exported(folder_ / "m.safetensors").out, HasSubstr(", as safetensors."));
  EXPECT_THAT(exported(folder_ / "m.bin").out, HasSubstr(", as safetensors."));
  EXPECT_THAT(exported(folder_ / "a/m.safetensors").out, HasSubstr(", as safetensors."));
  const Outcome onnx = exported(folder_ / "m.onnx");
  EXPECT_THAT(onnx.out + onnx.err, testing::AnyOf(HasSubstr(", as onnx."), HasSubstr("without ONNX")));
  const Outcome capital = exported(folder_ / "M.ONNX"), inside = exported(folder_ / "a/M.SafeTensors");
  EXPECT_THAT(capital.out + capital.err, testing::AnyOf(HasSubstr(", as onnx."), HasSubstr("without ONNX")));
  EXPECT_THAT(inside.out, HasSubstr(", as safetensors."));
  for (const auto& [format, name] :
       {std::pair("onnx", "n.safetensors"), std::pair("safetensors", "n.onnx")}) {
    const Outcome outcome = exported(folder_ / name, {"--format", format});
    EXPECT_EQ(outcome.code, 2);
    EXPECT_THAT(outcome.err, HasSubstr("leave --format out"));
    EXPECT_FALSE(fs::exists(folder_ / name));
  }
  const std::string before = results("a");
  fs::create_symlink(folder_ / "a" / "log.json", folder_ / "link");
  for (const char* name : {"a/log.json", "a/state.ckpt", "link"}) {
    const Outcome outcome = exported(folder_ / name);
    EXPECT_EQ(outcome.code, 2) << name;
    EXPECT_THAT(outcome.err, HasSubstr("whose own files must stay as they are"));
  }
  EXPECT_EQ(results("a"), before);
}

TEST_F(TrainCommand, ARebalancedRunIsReadLikeAnyOther) {
  ASSERT_EQ(run_program(command("a", {"--epochs", "2"})).code, 0);
  const Outcome made = run_program(
      {"rebalance", run_folder("a"), "--method", "tau_norm", "--threads", "1", "--out", run_folder("b")});
  EXPECT_EQ(made.code, 0) << made.err;
  EXPECT_THAT(made.out, HasSubstr("has the highest balanced accuracy on the training images"));
  EXPECT_THAT(made.out, HasSubstr("overall accuracy %"));
  EXPECT_EQ(train::read_log(folder_ / "b" / "log.json").parent->epochs, 2);
  const Outcome measured = run_program({"evaluate", run_folder("b"), "--threads", "1"});
  EXPECT_THAT(measured.out, HasSubstr("1 of 1 epochs"));
  EXPECT_THAT(measured.out, HasSubstr("The log of the run says the same, to the last digit."));
  EXPECT_EQ(run_program({"export", run_folder("b"), "--out", run_folder("b.safetensors")}).code, 0);
  const Outcome wrong =
      run_program({"rebalance", run_folder("a"), "--method", "ctr", "--out", run_folder("c")});
  EXPECT_EQ(wrong.code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("did you mean `crt`?"));
  EXPECT_EQ(
      run_program({"rebalance", run_folder("nothing"), "--method", "crt", "--out", run_folder("c")}).code, 1);
}

TEST_F(TrainCommand, RebalancingKilledAtLeastThreeTimesEndsWithTheSameBytes) {
  ASSERT_EQ(run_program(command("a", {"--epochs", "1"})).code, 0);
  for (const std::string method : {"crt:epochs=60", "lws:epochs=60"}) {
    const auto words = [&](const std::string& name) {
      return std::vector<std::string>{
          "rebalance", run_folder("a"),          "--method", method, "--threads", "1",
          "--out",     run_folder(name + method)};
    };
    ASSERT_EQ(run_program(words("whole")).code, 0);
    int kills = 0;
    for (const int epochs : {1, 8, 20}) {
      const pid_t child = start_program(words("killed"), folder_ / "out", folder_ / "err");
      const fs::path state = folder_ / ("killed" + method) / "state.ckpt";
      EXPECT_TRUE(wait_until(
          child, [&] { return fs::exists(state) && train::read_checkpoint(state).epochs_done >= epochs; }));
      kills += kill_hits(child);
    }
    EXPECT_EQ(kills, 3) << method;
    ASSERT_EQ(run_program(words("killed")).code, 0);
    EXPECT_EQ(results("killed" + method), results("whole" + method));
  }
}

TEST_F(TrainCommand, ACosineHeadIsTrainedPredictedAndExportedButNotAsOnnx) {
  const std::vector<std::string> flags = {"--epochs", "2", "--head", "cosine", "--loss", "ldam"};
  ASSERT_EQ(run_program(command("a", flags)).code, 0);
  EXPECT_EQ(train::read_log(folder_ / "a" / "log.json").config.at("head"), "cosine");
  EXPECT_THAT(run_program({"evaluate", run_folder("a"), "--threads", "1"}).out,
              HasSubstr("The log of the run says the same, to the last digit."));
  EXPECT_EQ(run_program({"export", run_folder("a"), "--out", run_folder("a.safetensors")}).code, 0);
  EXPECT_THAT(base::read_text(folder_ / "a.safetensors"), HasSubstr("\"logit_scale\":\"30\""));
  const Outcome onnx =
      run_program({"export", run_folder("a"), "--format", "onnx", "--out", run_folder("a.onnx")});
  EXPECT_EQ(onnx.code, 1);
  EXPECT_THAT(onnx.err,
              testing::AnyOf(HasSubstr("cosine head cannot be written as ONNX"), HasSubstr("without ONNX")));
  const Outcome rebalanced =
      run_program({"rebalance", run_folder("a"), "--method", "crt", "--out", run_folder("b")});
  EXPECT_THAT(rebalanced.err, HasSubstr("only a linear one can be rebalanced"));
  const Outcome plain = run_program(command("c", {"--head", "cosine"}));
  EXPECT_EQ(plain.code, 2);
  EXPECT_THAT(plain.err, HasSubstr("use a loss that multiplies them"));
}

}  // namespace
}  // namespace longtail::cli
