#include "longtail/train/checkpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <numeric>

#include "longtail/base/error.h"
#include "longtail/base/file.h"
#include "longtail/base/hash.h"
#include "longtail/base/other_version.h"
#include "longtail/data/testing.h"
#include "longtail/nn/init.h"

namespace longtail::train {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

Checkpoint sample(bool with_log) {
  Checkpoint checkpoint;
  checkpoint.epochs_done = 1;
  checkpoint.steps_per_epoch = 84;
  checkpoint.classes = 2;
  RunConfig config;
  config.model = "resnet20";
  config.engine = "onednn";
  checkpoint.config = config_map(config);
  checkpoint.network = {nn::initial_parameters(checkpoint.spec(), 42),
                        nn::initial_buffers(checkpoint.spec())};
  if (!with_log) return checkpoint;
  checkpoint.best = checkpoint.network;
  checkpoint.best.parameters[0] = 3;
  checkpoint.momentum.assign(checkpoint.network.parameters.size(), 0.25F);
  RunLog log;
  log.strategy = "uniform";
  log.rho = 100;
  log.group_sizes = {2, 0, 0};
  log.class_counts = {500, 400};
  log.class_names = {"a", "b"};
  log.train_loss = log.test_loss = log.lr_history = {1.0 / 3};
  log.train_acc = log.test_acc = log.head_acc = log.medium_acc = log.tail_acc = {50};
  log.best.per_class = log.last.per_class = {40, 60};
  log.best.accuracy = log.last.accuracy = {50, 50, 50, 50, 1.0 / 3};
  checkpoint.log = log;
  return checkpoint;
}

std::string read_refusal(const fs::path& path) {
  try {
    read_checkpoint(path);
  } catch (const base::DamagedFile& error) {
    return error.what();
  }
  return "";
}

TEST(Checkpoint, ReadsBackWhatWasWritten) {
  const data::TempFolder folder;
  const fs::path path = folder / "whole.ckpt";
  const Checkpoint written = sample(true);
  write_checkpoint(path, written);
  const Checkpoint read = read_checkpoint(path);
  EXPECT_EQ(read.epochs_done, 1);
  EXPECT_EQ(read.steps_per_epoch, 84);
  EXPECT_EQ(read.config, written.config);
  EXPECT_EQ(read.network.parameters, written.network.parameters);
  EXPECT_EQ(read.network.buffers, written.network.buffers);
  EXPECT_EQ(read.best.parameters, written.best.parameters);
  EXPECT_EQ(read.momentum, written.momentum);
  EXPECT_EQ(log_text(*read.log), log_text(*written.log));
  EXPECT_EQ(read.spec(), written.spec());
}

TEST(Checkpoint, OfANetworkAloneHasNoLog) {
  const data::TempFolder folder;
  const fs::path path = folder / "network.ckpt";
  write_checkpoint(path, sample(false));
  EXPECT_FALSE(read_checkpoint(path).log.has_value());
  EXPECT_TRUE(read_checkpoint(path).momentum.empty());
}

TEST(Checkpoint, WithAnyByteChangedIsRefusedInASentence) {
  const data::TempFolder folder;
  const fs::path path = folder / "damaged.ckpt";
  write_checkpoint(path, sample(false));
  const std::string whole = base::read_text(path);
  std::vector<std::size_t> places(
      64);  // magic, version, sizes, the start of the header; then all over the file
  std::iota(places.begin(), places.end(), std::size_t{0});
  for (std::size_t i = 1; i <= 60; ++i) places.push_back(whole.size() * i / 61);
  places.push_back(whole.size() - 1);
  for (const std::size_t place : places) {
    std::string damaged = whole;
    damaged[place] = static_cast<char>(damaged[place] ^ 1);
    base::write_atomically(path, damaged);
    EXPECT_THAT(read_refusal(path), HasSubstr(path.string())) << place;
  }
}

TEST(Checkpoint, CutShortOrTooLongIsRefused) {
  const data::TempFolder folder;
  const fs::path path = folder / "short.ckpt";
  write_checkpoint(path, sample(false));
  const std::string whole = base::read_text(path);
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{7}, std::size_t{8}, std::size_t{50}, whole.size() - 1}) {
    base::write_atomically(path, std::string_view(whole).substr(0, size));
    EXPECT_NE(read_refusal(path), "") << size;
  }
  base::write_atomically(path, whole + "x");
  EXPECT_NE(read_refusal(path), "");
}

TEST(Checkpoint, WhoseArraysDoNotFitItsNetworkIsRefused) {
  const data::TempFolder folder;
  const fs::path path = folder / "misfit.ckpt";
  Checkpoint checkpoint = sample(false);
  checkpoint.network.parameters.pop_back();
  write_checkpoint(path, checkpoint);
  EXPECT_THAT(read_refusal(path), HasSubstr("do not fit"));
}

TEST(Checkpoint, OfAnotherVersionIsNotCalledDamaged) {
  const data::TempFolder folder;
  const fs::path path = folder / "newer.ckpt";
  write_checkpoint(path, sample(false));
  std::string bytes = base::read_text(path);
  bytes[8] = 2;
  bytes.replace(bytes.size() - 64, 64, base::sha256(std::string_view(bytes).substr(0, bytes.size() - 64)));
  base::write_atomically(path, bytes);
  try {
    read_checkpoint(path);
    FAIL() << "it was read";
  } catch (const base::DamagedFile& error) {
    FAIL() << "a study would set it aside: " << error.what();
  } catch (const base::OtherVersion& error) {
    EXPECT_THAT(error.what(), HasSubstr("version 2"));
  }
}

TEST(Checkpoint, ThatSaysWhatOnlyANewerVersionKnowsIsNotCalledDamaged) {
  const data::TempFolder folder;
  const fs::path path = folder / "newer.ckpt";
  for (const auto& [key, value] : {std::pair("loss", "of_tomorrow"), std::pair("of_tomorrow", "1"),
                                   std::pair("model", "resnet99999"), std::pair("width", "three")}) {
    Checkpoint checkpoint = sample(false);
    checkpoint.config[key] = value;
    write_checkpoint(path, checkpoint);
    try {
      read_checkpoint(path);
      FAIL() << "it was read: " << key;
    } catch (const base::DamagedFile& error) {
      FAIL() << "a study would set it aside: " << error.what();
    } catch (const base::OtherVersion& error) {
      EXPECT_THAT(error.what(), HasSubstr("use the longtail that wrote it"));
    }
  }
}

TEST(Checkpoint, WithALogWhoseGroupsOnlyANewerVersionKnowsIsNotCalledDamaged) {
  const data::TempFolder folder;
  Checkpoint checkpoint = sample(true);
  checkpoint.config["groups"] = checkpoint.log->groups = "quartiles";
  write_checkpoint(folder / "newer.ckpt", checkpoint);
  try {
    read_checkpoint(folder / "newer.ckpt");
    FAIL() << "it was read";
  } catch (const base::DamagedFile& error) {
    FAIL() << "a study would set it aside: " << error.what();
  } catch (const base::OtherVersion& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("quartiles"), HasSubstr("use the longtail that wrote it")));
  }
}

// `prlimit --as` while a run resumes: a study sets aside what is called damaged and starts the run again.
TEST(Checkpoint, IsNotCalledDamagedWhenMemoryRunsOut) {
#if defined(LONGTAIL_SANITIZED)
  GTEST_SKIP() << "the sanitiser needs its own address space";
#endif
  const data::TempFolder folder;
  const fs::path path = folder / "whole.ckpt";
  write_checkpoint(path, sample(true));
  std::map<int, int> ends;
  for (std::size_t more = 0; more < 20 << 20; more += 512 << 10) {
    const pid_t child = ::fork();
    if (child == 0) {
      long pages = 0;
      std::FILE* statm = std::fopen("/proc/self/statm", "r");
      if (!statm || std::fscanf(statm, "%ld", &pages) != 1) ::_exit(9);
      const rlim_t limit = static_cast<rlim_t>(pages) * static_cast<rlim_t>(::sysconf(_SC_PAGESIZE));
      struct rlimit soft = {limit, RLIM_INFINITY};
      ::setrlimit(RLIMIT_AS, &soft);
      // What earlier tests freed is used up first, so that the limit is met.
      for (std::size_t piece = 1 << 20; piece >= 1024; piece /= 2) {
        while (void* taken = std::malloc(piece)) static_cast<volatile char*>(taken)[0] = 1;
      }
      soft.rlim_cur = limit + more;
      ::setrlimit(RLIMIT_AS, &soft);
      try {
        read_checkpoint(path);
        ::_exit(0);
      } catch (const base::DamagedFile&) {
        ::_exit(2);
      } catch (const std::exception&) {
        ::_exit(1);
      }
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    ++ends[WIFEXITED(status) ? WEXITSTATUS(status) : -1];
  }
  EXPECT_GT(ends[0], 0) << "no limit was wide enough to read it";
  EXPECT_GT(ends[1], 0) << "no limit was too tight: the test shows nothing";
  EXPECT_EQ(ends[2], 0) << "called damaged";
  EXPECT_EQ(ends[9] + ends[-1], 0);
}

TEST(Checkpoint, AFolderWithoutARunSaysHowToMakeOne) {
  try {
    read_state(data::TempFolder() / "nowhere");
    FAIL();
  } catch (const base::Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("longtail train"));
  }
}

}  // namespace
}  // namespace longtail::train
