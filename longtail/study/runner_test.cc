#include "longtail/study/runner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <string>

#include "longtail/base/error.h"
#include "longtail/base/file.h"
#include "longtail/study/grid.h"
#include "longtail/study/lock.h"

namespace longtail::study {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

class KindsHeard : public Watcher {
 public:
  void happened(const Board&, std::size_t, const Event& event) override {
    heard.push_back(event.kind + ": " + event.text);
  }
  void tick(const Board&) override {}
  std::vector<std::string> heard;
};

// The program is a script that says and does what a worker would.
class Runner : public testing::Test {
 protected:
  Runner() {
    fs::remove_all(place_);
    base::make_folder(place_);
    options_.program = (place_ / "worker").string();
  }
  ~Runner() override { fs::remove_all(place_); }
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;

  void write_worker(const std::string& script) const {
    base::write_atomically(place_ / "worker", "#!/bin/sh\n" + script + "\n");
    fs::permissions(place_ / "worker", fs::perms::owner_all);
  }
  Plan open(const std::string& text) const {
    return open_study(parse_study(text, "one.toml"), place_ / "out", "test");
  }
  Ending run(const Plan& plan) {
    std::vector<std::size_t> all;
    for (std::size_t i = 0; i < plan.runs.size(); ++i) all.push_back(i);
    Board board = make_board(plan, place_ / "out", all);
    return run_study(board, options_, watcher_);
  }
  bool has_failed(const PlannedRun& run) const {
    return fs::exists(run_folder(place_ / "out", run.name) / "failed.json");
  }

  fs::path place_ = fs::path(testing::TempDir()) / ("runner_test." + std::to_string(::getpid()));
  RunnerOptions options_;
  KindsHeard watcher_;
};

TEST_F(Runner, TellsOfACallThatFailedAndIsRepeated) {
  Event again;
  again.kind = "again";
  again.text = "the trainer ended with exit code 3; it is called again, 1 of 1";
  base::write_atomically(place_ / "said", to_line(again) + "\n");
  write_worker("cat '" + (place_ / "said").string() + "'\nexit 130");
  EXPECT_EQ(run(open("[train]\nepochs = 2")), Ending::kSignal);
  EXPECT_THAT(watcher_.heard, ElementsAre("start: ", "again: " + again.text));
}

// Ctrl-C reaches the workers too, and one that has just been started does not catch it yet.
TEST_F(Runner, AWorkerThatASignalToStopKillsHasNotFailedAndTheStudyStops) {
  const Plan plan = open("[train]\nepochs = 2");
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    const auto before = std::signal(signal, SIG_DFL);  // `nohup` hands down that it is ignored
    write_worker("kill -" + std::to_string(signal) + " $$\nexit 3");
    EXPECT_EQ(run(plan), Ending::kSignal) << signal;
    EXPECT_FALSE(has_failed(plan.runs[0])) << signal;
    std::signal(signal, before);
  }
}

TEST_F(Runner, AWorkerThatFailsWhenAllIsToldToStopIsNotBlamed) {
  const Plan plan = open("[train]\nepochs = 2");
  write_worker("kill -TERM $PPID\nexit 3");
  EXPECT_EQ(run(plan), Ending::kSignal);
  EXPECT_FALSE(has_failed(plan.runs[0]));
  write_worker("exit 3");
  EXPECT_EQ(run(plan), Ending::kFinished);
  EXPECT_TRUE(has_failed(plan.runs[0]));
}

// Between fork and exec a worker has the handlers of the study: the first signal does nothing there.
TEST_F(Runner, AWorkerIsAskedToStopUntilItHears) {
  write_worker("trap 'n=$((n + 1)); [ $n -lt 2 ] || exit 130' TERM\nwhile :; do sleep 0.05; done");
  options_.enough = [asked = 0](const Board&) mutable { return ++asked > 2; };
  EXPECT_EQ(run(open("[train]\nepochs = 2")), Ending::kTimeUp);
}

TEST_F(Runner, AProgramThatCannotBeStartedStopsTheStudyAndBlamesNoRun) {
  const Plan plan = open("[grid]\nseed = [1, 2]");
  const auto refusal = [&]() -> std::string {
    try {
      run(plan);
    } catch (const base::StorageError& error) {
      return error.what();
    }
    return "(none)";
  };
  EXPECT_THAT(refusal(), HasSubstr(options_.program + " cannot be started; bring it back"));
  write_worker("echo 'worker: error while loading shared libraries: libz.so' >&2\nexit 127");
  EXPECT_THAT(refusal(), HasSubstr("error while loading shared libraries"));
  for (const PlannedRun& each : plan.runs) EXPECT_FALSE(has_failed(each));
  EXPECT_THAT(watcher_.heard, ElementsAre("start: ", "start: "));
}

// The first run was resumed past the epoch at which the second parts from it, so it leaves no state any more.
TEST_F(Runner, ARunDoesNotWaitForAStateThatWillNotCome) {
  const Plan plan =
      open("[train]\nepochs = 3\n[grid]\nloss = [\"cross_entropy\", \"deferred:then=focal,at=2\"]");
  ASSERT_EQ(beginnings_of(plan.runs)[1]->epochs, 2);
  const fs::path first = run_folder(place_ / "out", plan.runs[0].name);
  write_mark(first, {.epoch = 3, .best = {}, .seconds = 1});
  const auto lock = FileLock::try_take(lock_path(first));  // somebody works on it
  write_worker("exit 130");
  options_.enough = [asked = 0](const Board&) mutable { return ++asked > 5; };
  EXPECT_EQ(run(plan), Ending::kSignal) << "the second run was not begun";
}

}  // namespace
}  // namespace longtail::study
