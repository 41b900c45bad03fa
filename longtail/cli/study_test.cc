// `longtail study` as a person meets it: killed, crowded, extended, damaged, out of space.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <cstdlib>
#include <map>
#include <set>
#include <thread>

#include "longtail/base/file.h"
#include "longtail/base/scoped_variable.h"
#include "longtail/cli/testing.h"
#include "longtail/cli/testing_study.h"
#include "longtail/study/lock.h"

namespace longtail::cli {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

using Study = TinyStudy;

TEST_F(Study, KilledTenTimesEndsWithTheSameBytesAsUndisturbed) {
  ASSERT_EQ(run("calm").code, 0);
  // Killed at a beginning, and every third time at the end of a run: of twelve runs that leaves some for the
  // last kill.
  int hits = 0;
  for (int kill = 0; kill < 10; ++kill) {
    fs::remove(folder_ / "stdout");
    const pid_t child = start("killed");
    const std::string event = kill % 3 == 2 ? "  done " : "  start ";
    EXPECT_TRUE(wait_until(child, [&] { return says(folder_ / "stdout", event); })) << "kill " << kill;
    hits += kill_hits(child);
  }
  EXPECT_EQ(hits, 10);
  const Outcome last = run("killed");
  EXPECT_EQ(last.code, 0) << last.err;
  EXPECT_THAT(last.out, HasSubstr("share subset, initial weights and augmentation (checked on 12 runs)"));
  EXPECT_EQ(logs("killed"), logs("calm"));
  EXPECT_EQ(logs("calm").size(), 12u);
}

TEST_F(Study, ByFourProcessesOfWhichTwoAreKilledDoesEveryRunOnce) {
  ASSERT_EQ(run("calm").code, 0);
  std::vector<pid_t> processes;
  processes.reserve(4);
  for (int i = 0; i < 4; ++i) {
    processes.push_back(start_program({"study", "run", file(), "--out", out("crowd")},
                                      folder_ / ("out" + std::to_string(i)),
                                      folder_ / ("err" + std::to_string(i))));
  }
  for (const int i : {0, 1}) {
    const fs::path said = folder_ / ("out" + std::to_string(i));
    EXPECT_TRUE(wait_until(processes[static_cast<std::size_t>(i)], [&] { return says(said, "  start "); }));
    EXPECT_TRUE(kill_hits(processes[static_cast<std::size_t>(i)])) << "process " << i;
  }
  for (const pid_t process : {processes[2], processes[3]}) EXPECT_EQ(wait_for(process), 0);
  EXPECT_EQ(logs("crowd"), logs("calm"));
  // A run is reported as done by the one process that did it; the killed ones may have taken some words with
  // them.
  std::map<std::string, int> finished;
  for (int i = 0; i < 4; ++i) {
    const std::string text = base::read_text(folder_ / ("out" + std::to_string(i)));
    for (const auto& [name, log] : logs("crowd")) {
      const std::string line = name.substr(0, name.size() - 11) + ": ";
      for (auto at = text.find("done"); at != std::string::npos; at = text.find("done", at + 1)) {
        const std::string whole = text.substr(at, text.find('\n', at) - at);
        finished[name] +=
            whole.find(line) != std::string::npos && whole.find("by another") == std::string::npos;
      }
    }
  }
  for (const auto& [name, times] : finished) EXPECT_LE(times, 1) << name;
}

TEST_F(Study, WithASeedAddedRunsOnlyTheNewRuns) {
  write_study("seed = [1]\nstrategy = [\"uniform\", \"progressive\"]\n");
  ASSERT_EQ(run("study").code, 0);
  const auto before = logs("study");
  write_study("seed = [1, 2]\nstrategy = [\"uniform\", \"progressive\"]\n");
  const Outcome second = run("study");
  EXPECT_EQ(second.code, 0) << second.err;
  EXPECT_EQ(count(second.out, "  start "), 2);
  EXPECT_THAT(second.out, Not(HasSubstr("seed1:")));
  for (const auto& [name, log] : before) EXPECT_EQ(logs("study")[name], log);
}

TEST_F(Study, InAnotherFolderOrWithOtherThreadsRepeatsNothing) {
  write_study("seed = [1]\nstrategy = [\"uniform\", \"progressive\"]\n");
  ASSERT_EQ(run("study", {"--threads", "1"}).code, 0);
  fs::rename(folder_ / "study", folder_ / "moved");
  for (const char* threads : {"1", "3"}) {
    const Outcome again = run("moved", {"--threads", threads});
    EXPECT_EQ(again.code, 0) << again.err;
    EXPECT_EQ(count(again.out, "  start "), 0) << again.out;
  }
  const Outcome without_file = run_program({"study", "run", "--out", out("moved")});
  EXPECT_EQ(without_file.code, 0) << without_file.err;
  EXPECT_EQ(count(without_file.out, "  start "), 0);
}

TEST_F(Study, RedoesOnlyARunWhoseLogIsDamaged) {
  write_study("seed = [1]\nstrategy = [\"uniform\", \"progressive\"]\n");
  ASSERT_EQ(run("study").code, 0);
  const auto before = logs("study");
  damage(a_run("study", "uniform") / "log.json");
  const Outcome status = run_program({"study", "status", out("study")});
  EXPECT_THAT(status.out, HasSubstr("1 damaged"));
  const Outcome again = run("study");
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_THAT(again.out, HasSubstr("damaged"));
  EXPECT_EQ(count(again.out, "  start "), 1);
  for (const auto& [name, log] : before) EXPECT_EQ(logs("study")[name], log);
}

TEST_F(Study, StartsARunAfreshWhoseCheckpointIsDamaged) {
  write_study("seed = [1]\nstrategy = [\"uniform\", \"progressive\"]\n");
  ASSERT_EQ(run("study").code, 0);
  const auto before = logs("study");
  const fs::path folder = a_run("study", "uniform");
  fs::remove(folder / "done.json");
  fs::remove(folder / "log.json");
  damage(folder / "state.ckpt");
  const Outcome again = run("study");
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_THAT(again.out, HasSubstr("the run starts afresh"));
  EXPECT_EQ(count(again.out, "  start "), 1);
  EXPECT_EQ(logs("study"), before);
  EXPECT_TRUE(fs::exists(folder / "state.ckpt.damaged"));
}

TEST_F(Study, OnAFullDiskStopsWithASentenceAndLosesNothing) {
  write_study("seed = [1]\nstrategy = [\"uniform\", \"progressive\"]\n");
  ASSERT_EQ(run("calm").code, 0);
  rlimit old{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &old), 0);
  rlimit small = old;
  small.rlim_cur = 1 << 20;  // a checkpoint is larger
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const Outcome full = run("full");
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &old), 0);
  EXPECT_EQ(full.code, 1);
  EXPECT_THAT(full.err, HasSubstr("cannot write"));
  EXPECT_THAT(full.err, HasSubstr("nothing is lost"));
  for (const auto& entry : fs::recursive_directory_iterator(folder_ / "full")) {
    EXPECT_NE(entry.path().extension(), ".tmp") << entry.path();
    EXPECT_NE(entry.path().filename(), "failed.json") << "the run is not to blame";
  }
  EXPECT_EQ(run("full").code, 0);
  EXPECT_EQ(logs("full"), logs("calm"));
}

// From far too few to enough: the study stops with a sentence, and no run is blamed.
TEST_F(Study, WithTooFewFileDescriptorsStopsAndBlamesNoRun) {
  write_study("seed = [1]\nstrategy = [\"uniform\", \"progressive\"]\n");
  ASSERT_EQ(run("calm").code, 0);
  rlimit old{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &old), 0);
  int stopped = 0, done = 0;
  for (rlim_t files = 4; files <= 24 && done == 0; ++files) {
    const rlimit few{files, old.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
    const pid_t child = start("few");
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &old), 0);
    const int code = wait_for(child);
    if (!fs::exists(folder_ / "stderr")) continue;  // too few even for what the test itself opens
    const std::string said = base::read_text(folder_ / "stderr");
    stopped += code == 1 && said.find("longtail: ") != std::string::npos;
    done += code == 0;
    EXPECT_TRUE(code == 0 || code == 1 || code == 127) << files << " files: code " << code << ": " << said;
    EXPECT_THAT(said, Not(HasSubstr("runs failed"))) << files << " files";
    if (!fs::exists(folder_ / "few")) continue;
    for (const auto& entry : fs::recursive_directory_iterator(folder_ / "few")) {
      EXPECT_NE(entry.path().filename(), "failed.json") << files << " files: the run is not to blame";
    }
  }
  EXPECT_GT(stopped, 0) << "no limit was too tight: the test shows nothing";
  EXPECT_EQ(done, 1);
  EXPECT_EQ(logs("few"), logs("calm"));
}

TEST_F(Study, SaysWhomItWaitsFor) {
  write_study("seed = [1]\n");
  fs::create_directories(folder_ / "study" / "runs");
  auto lock = study::FileLock::try_take(folder_ / "study" / "study.lock");
  ASSERT_TRUE(lock);
  const pid_t child = start("study");
  const std::string words = "waiting for " + study::host_name() + ", process " + std::to_string(::getpid());
  EXPECT_TRUE(wait_until(child, [&] { return says(folder_ / "stderr", words); }));
  EXPECT_FALSE(fs::exists(folder_ / "study" / "study.json"));
  lock.reset();
  EXPECT_EQ(wait_for(child), 0);
}

TEST_F(Study, RecordsARunThatFailsDoesTheOthersAndTriesAgainWhenAsked) {
  write_study("seed = [1]\nlr = [0.1, 1e30]\nclip = 0\n");
  const Outcome first = run("study");
  EXPECT_EQ(first.code, 1);
  EXPECT_THAT(first.err, HasSubstr("1 of 2 runs failed"));
  EXPECT_THAT(first.out, HasSubstr("failed"));
  EXPECT_EQ(count(first.out, "  done "), 1) << first.out;
  EXPECT_THAT(run_program({"study", "status", out("study")}).out, HasSubstr("1 done, 1 failed"));
  EXPECT_EQ(count(run("study").out, "  start "), 0) << "a failed run is not tried again by itself";
  EXPECT_EQ(count(run("study", {"--retry-failed"}).out, "  start "), 1);
}

// Recorded by a machine whose clock is years ahead.
TEST_F(Study, TriesAFailureOfTheFutureAgainWhenAsked) {
  write_study("seed = [1]\n");
  ASSERT_EQ(
      run_program({"study", "run", file(), "--out", out("study"), "--for", "1s", "--set", "train.epochs=1"})
              .code %
          130,
      0);
  const fs::path folder = a_run("study", "uniform");
  fs::remove(folder / "done.json");
  base::write_atomically(folder / "failed.json",
                         std::string_view(R"({"reason": "it was so", "host": "x", "time": 99999999999})"));
  const std::vector<std::string> again = {"study", "run", "--out", out("study"), "--retry-failed"};
  const Outcome outcome = run_program(again);
  EXPECT_EQ(count(outcome.out, "  start "), 1) << outcome.out;
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_FALSE(fs::exists(folder / "failed.json"));
}

TEST_F(Study, GoesOnWhenNobodyReadsWhatItPrints) {
  write_study("seed = [1]\n");
  const std::string command =
      "'" + base::program() + "' study run '" + file() + "' --out '" + out("study") + "' --plain | head -n 0";
  EXPECT_EQ(std::system(command.c_str()), 0);
  const Outcome status = run_program({"study", "status", out("study")});
  EXPECT_THAT(status.out, HasSubstr("1 done")) << status.err;
}

TEST_F(Study, ALogThatCannotBeReadIsNotCalledDamaged) {
  write_study("seed = [1]\n");
  ASSERT_EQ(run("study").code, 0);
  const fs::path log = a_run("study", "uniform") / "log.json";
  fs::rename(log, log.string() + ".away");
  fs::create_symlink("log.json", log);  // leads to itself: the file system refuses to look
  const Outcome outcome = run("study");
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.err, Not(HasSubstr("damaged")));
  EXPECT_FALSE(fs::exists(log.string() + ".damaged"));
  fs::remove(log);
  fs::rename(log.string() + ".away", log);
  EXPECT_EQ(run("study").code, 0);
}

TEST_F(Study, BlamesASignalForARunThatIsKilled) {
  write_study("seed = [1]\n");
  const pid_t study =
      start_program({"study", "run", file(), "--out", out("study"), "--set", "train.epochs=400"},
                    folder_ / "stdout", folder_ / "stderr");
  // The run has begun when its lock names its process.
  std::string holder;
  wait_until(study, [&] {
    std::error_code error;
    if (!fs::exists(folder_ / "study" / "runs", error)) return false;
    const fs::path lock = a_run("study", "uniform") / "study.lock";
    if (fs::exists(lock, error)) holder = base::read_text(lock);
    return !holder.empty();
  });
  ASSERT_FALSE(holder.empty());
  ::kill(std::stoi(holder.substr(holder.rfind(' '))), SIGKILL);
  EXPECT_EQ(wait_for(study), 1);
  EXPECT_THAT(base::read_text(folder_ / "stdout"), HasSubstr("killed by signal 9"));
}

TEST_F(Study, StopsInTimeAndGoesOn) {
  write_study("seed = [1]\nepochs = [400, 500]\n");
  const Outcome stopped = run("study", {"--for", "1.5s"});
  EXPECT_EQ(stopped.code, 130);
  EXPECT_THAT(stopped.err, HasSubstr("The same command resumes"));
  const pid_t child = start("study");
  EXPECT_TRUE(wait_until(child, [&] { return says(folder_ / "stdout", "  start "); }));
  ::kill(child, SIGTERM);
  EXPECT_EQ(wait_for(child), 130);
  EXPECT_FALSE(fs::exists(a_run("study", "uniform") / "failed.json"));
}

TEST_F(Study, CollectsTheLogsOfFinishedRunsOnly) {
  const std::string logs = out("logs");
  ASSERT_EQ(run("a", {"--only", "uniform"}).code, 0);
  const Outcome first = run_program({"study", "collect", out("a"), "--out", logs});
  ASSERT_EQ(first.code, 0) << first.err;
  EXPECT_THAT(first.out, HasSubstr("3 of 12 runs are done"));
  EXPECT_THAT(first.out, HasSubstr("(3 new)"));
  const fs::path one = a_run("a", "uniform");
  EXPECT_EQ(base::read_text(fs::path(logs) / (one.filename().string() + ".json")),
            base::read_text(one / "log.json"));
  EXPECT_EQ(base::read_text(fs::path(logs) / (one.filename().string() + ".predictions")),
            base::read_text(one / "log.predictions"));
  EXPECT_THAT(run_program({"study", "collect", out("a"), "--out", logs}).out, HasSubstr("(0 new)"));

  base::write_atomically(one / "log.json", std::string_view("{}"));
  EXPECT_THAT(run_program({"study", "collect", out("a"), "--out", out("fewer")}).out,
              HasSubstr("2 of 12 runs are done"));
}

TEST_F(Study, CollectedLogsOfARaceAreReportedByItsLooks) {
  write_study("seed = [1, 2]\nstrategy = [\"uniform\", \"progressive\"]\n");
  ASSERT_EQ(run("race").code, 0);
  base::write_atomically(fs::path(out("race")) / "recommend.json",
                         std::string_view("{\"goal\": \"overall\", \"baseline\": \"uniform\"}\n"));
  ASSERT_EQ(run_program({"study", "collect", out("race"), "--out", out("logs")}).code, 0);
  const auto said = [&](const std::string& folder) {
    const Outcome outcome = run_program({"report", folder, "--tables-only", "--json"});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_THAT(outcome.err, Not(HasSubstr("recommend.json")));
    return outcome.out;
  };
  EXPECT_EQ(said(out("logs")), said(out("race")));
  EXPECT_THAT(said(out("logs")), HasSubstr("The first look needs three seeds of every strategy"));
}

TEST_F(Study, SplitsIntoShardsThatTogetherAreTheWhole) {
  write_study("seed = [1, 2]\nstrategy = [\"uniform\", \"progressive\"]\n");
  EXPECT_EQ(count(run("study", {"--shard", "1/3"}).out, "  start "), 2);
  EXPECT_EQ(count(run("study", {"--shard", "2/3"}).out, "  start "), 1);
  EXPECT_EQ(count(run("study", {"--shard", "3/3"}).out, "  start "), 1);
  EXPECT_EQ(count(run("study").out, "  start "), 0);
}

TEST_F(Study, AShardWithoutARunSaysThatThereIsNothingToDo) {
  const Outcome outcome = run("study", {"--only", "uniform-rho8-seed1", "--shard", "2/2"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out,
              HasSubstr("Nothing to do here: the shard 2/2 has none of the runs that are meant."));
  EXPECT_THAT(outcome.out, Not(HasSubstr("longtail report")));
}

TEST_F(Study, RefusesAWrongFileBeforeAnythingIsMade) {
  write_study("seeds = [1, 2]\n");
  const Outcome wrong = run("study");
  EXPECT_EQ(wrong.code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("tiny.toml:14: unknown key `seeds` in [grid]; did you mean `seed`?"));
  EXPECT_FALSE(fs::exists(folder_ / "study"));
  write_study("seed = [1]\n");
  fs::remove_all(folder_ / "data");
  const Outcome missing = run("study");
  EXPECT_EQ(missing.code, 1);
  EXPECT_EQ(count(missing.out, "  start "), 0) << "missing data is found before any run is begun";
}

TEST_F(Study, RefusesAWrongSelectionOrTimeBeforeAnythingIsMade) {
  write_study("seed = [1]\nstrategy = [\"uniform\", \"progressive\"]\n");
  const auto refused = [&](const std::string& flag, const std::string& value, const std::string& why) {
    const Outcome wrong = run("study", {flag, value});
    EXPECT_EQ(wrong.code, 2) << flag;
    EXPECT_THAT(wrong.err, HasSubstr(why));
    EXPECT_FALSE(fs::exists(folder_ / "study")) << flag;
  };
  refused("--for", "never", "`never` is no length of time");
  refused("--shard", "3/2", "write it as i/n with i from 1 to n");
  refused("--only", "unifrom", "the study has no such run");
}

TEST_F(Study, ChecksWithoutChangingAnything) {
  const Outcome checked = run_program({"study", "check", file(), "--no-time"});
  EXPECT_EQ(checked.code, 0) << checked.err;
  EXPECT_THAT(checked.out, HasSubstr("study tiny: 12 runs"));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 2)
      << "the file and the data";
}

TEST_F(Study, SubmitsNothingWhoseDataAreNotThere) {
  // A Slurm that notes that it was asked for something.
  const std::string tools = out("tools");
  fs::create_directories(tools);
  for (const char* name : {"sbatch", "squeue", "scontrol"}) {
    const fs::path tool = fs::path(tools) / name;
    base::write_atomically(tool, "#!/bin/sh\necho asked >> '" + out(name) + "'\necho 7\n");
    fs::permissions(tool, fs::perms::owner_all);
  }
  const base::ScopedVariable path("PATH", tools + ":" + std::getenv("PATH"));
  const Outcome good = run_program({"study", "submit", file(), "--out", out("good")});
  EXPECT_EQ(good.code, 0) << good.err;
  EXPECT_TRUE(fs::remove(out("sbatch"))) << "the stand-in was not asked";
  fs::remove_all(folder_ / "data");
  const Outcome missing = run_program({"study", "submit", file(), "--out", out("study")});
  EXPECT_EQ(missing.code, 1);
  EXPECT_THAT(missing.err, HasSubstr("train-images-idx3-ubyte"));
  EXPECT_FALSE(fs::exists(out("sbatch"))) << "jobs that cannot work were submitted";
}

// What the file system refuses to look into is not called empty or foreign.
TEST_F(Study, AFolderThatCannotBeLookedIntoIsToldApartFromOneWithoutAStudy) {
  fs::create_symlink("loop", folder_ / "loop");  // leads to itself
  for (const char* command : {"status", "collect", "cancel"}) {
    std::vector<std::string> words = {"study", command, out("loop")};
    if (command == std::string("collect")) words.insert(words.end(), {"--out", out("logs")});
    const Outcome outcome = run_program(words);
    EXPECT_EQ(outcome.code, 1) << command;
    EXPECT_THAT(outcome.err, HasSubstr("Too many levels of symbolic links")) << command;
    EXPECT_THAT(outcome.err, Not(HasSubstr("has no study.json"))) << command;
    EXPECT_THAT(outcome.err, Not(HasSubstr("filesystem error"))) << command;
  }
}

TEST_F(Study, WithoutSlurmSaysSo) {
  const base::ScopedVariable nowhere("PATH", "/nonexistent");
  const Outcome outcome = run_program({"study", "submit", file(), "--out", out("study")});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("Slurm is not on this machine"));
}

}  // namespace
}  // namespace longtail::cli
