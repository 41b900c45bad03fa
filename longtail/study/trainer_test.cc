#include "longtail/study/trainer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string>

#include "longtail/base/error.h"
#include "longtail/base/file.h"
#include "longtail/study/grid.h"
#include "longtail/train/log_writer.h"
#include "longtail/train/metrics.h"

namespace longtail::study {
namespace {

namespace fs = std::filesystem;

// A run whose trainer is a script of bash; $1 is the folder.
class ScriptedTrainer : public testing::Test {
 protected:
  ScriptedTrainer() {
    fs::remove_all(folder_);
    base::make_folder(folder_);
    run_.name = "scripted";
    run_.trainer.emplace();
    run_.trainer->command = {"bash", (folder_ / "trainer.sh").string(), "{run}"};
    call_.folder = folder_;
  }
  ~ScriptedTrainer() override { fs::remove_all(folder_); }
  ScriptedTrainer(const ScriptedTrainer&) = delete;
  ScriptedTrainer& operator=(const ScriptedTrainer&) = delete;

  void write(const std::string& name, const std::string& text) const {
    base::write_atomically(folder_ / name, std::string_view(text));
  }
  bool has(const std::string& name) const { return fs::exists(folder_ / name); }
  // Whether the process that a file names is gone, not even waited for any more.
  bool gone(const std::string& name) const {
    pid_t pid = 0;
    std::ifstream(folder_ / name) >> pid;
    return pid > 0 && ::kill(pid, 0) != 0 && errno == ESRCH;
  }

  fs::path folder_ = fs::path(testing::TempDir()) / ("trainer_test." + std::to_string(::getpid()));
  PlannedRun run_;
  TrainerCall call_;
};

// The wrapper dies of SIGTERM at once; what it has started needs a while to save.
TEST_F(ScriptedTrainer, BehindAWrapperHasTimeToSaveWhenItIsStopped) {
  write("trainer.sh", "bash \"$1/child.sh\" \"$1\"\necho never\n");
  write("child.sh",
        "trap 'sleep 1; echo yes > \"$1/saved\"; exit 0' TERM\n"
        "echo yes > \"$1/ready\"\n"
        "while :; do sleep 0.05; done\n");
  call_.should_stop = [&] { return has("ready"); };
  EXPECT_THROW(run_trainer(run_, call_), base::Interrupted);
  EXPECT_TRUE(has("saved"));
}

// A reboot ends the trainer, this process and the study: whoever is asked first is not to blame.
TEST_F(ScriptedTrainer, ThatIsStoppedJustBeforeTheStudyIsInterruptedAndHasNotFailed) {
  for (const char* end : {"kill -TERM $$", "exit 1", "exit 0"}) {
    for (const int asked_before : {0, 1}) {  // the stop is here at once, or a moment later
      fs::remove(folder_ / "pid");
      write("trainer.sh", "echo $$ > \"$1/pid\"\n" + std::string(end) + "\n");
      int asked = 0;
      call_.should_stop = [&] { return gone("pid") && asked++ >= asked_before; };
      EXPECT_THROW(run_trainer(run_, call_), base::Interrupted) << end;
      EXPECT_EQ(asked, asked_before + 1);
    }
  }
  call_.should_stop = [] { return false; };
  write("trainer.sh", "kill -TERM $$\n");
  try {
    run_trainer(run_, call_);
    ADD_FAILURE() << "what nobody else stops has failed";
  } catch (const base::Interrupted&) {
    ADD_FAILURE() << "nobody asked the study to stop";
  } catch (const base::Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("killed by signal 15"));
  }
}

// The study was killed between the end of the trainer and the record of it.
TEST_F(ScriptedTrainer, WhoseLogIsFinishedIsNotCalledAgain) {
  run_.config.epochs = 1;
  run_.hash = "1234";
  const auto write_finished = [&](const std::string& hash) {
    train::RunLog head;
    head.dataset = run_.config.dataset;
    head.strategy = run_.config.strategy;
    head.seed = run_.config.seed;
    head.class_counts = {20, 10};
    head.fingerprint.protocol = hash;
    train::LogWriter log(folder_, head);
    log.epoch({2.0, 50, 0.1},
              train::result_of_counts(std::vector<int>{5, 5}, std::vector<int>{10, 10}, log.groups(), 1, 0));
    log.finish();
  };
  write("trainer.sh", "echo yes > \"$1/called\"\nexit 3\n");
  int epochs = 0;
  call_.on_log = [&](const train::RunLog& log) { epochs = log.epochs(); };
  write_finished(run_.hash);
  EXPECT_NO_THROW(run_trainer(run_, call_));
  EXPECT_FALSE(has("called"));
  EXPECT_EQ(epochs, 1);
  write_finished("of another run");
  EXPECT_THROW(run_trainer(run_, call_), base::Error);
  EXPECT_TRUE(has("called"));
}

// As torchrun starts its workers: a signal to the group of the command does not reach them.
TEST_F(ScriptedTrainer, TakesAlongWhatItStartedInSessionsOfTheirOwn) {
  const std::string start =
      "setsid bash -c 'sleep 1000 & echo $! > \"$0/inner\"; echo yes > \"$0/ready\"; wait' \"$1\" &\n"
      "echo $! > \"$1/outer\"\n"
      "while [ ! -e \"$1/ready\" ]; do sleep 0.05; done\n";
  write("trainer.sh", start + "exit 3\n");
  EXPECT_THROW(run_trainer(run_, call_), base::Error);
  EXPECT_TRUE(gone("outer"));
  EXPECT_TRUE(gone("inner"));
  fs::remove(folder_ / "ready");
  write("trainer.sh", start + "wait\n");
  call_.should_stop = [&] { return has("ready"); };
  EXPECT_THROW(run_trainer(run_, call_), base::Interrupted);
  EXPECT_TRUE(gone("outer"));
  EXPECT_TRUE(gone("inner"));
}

}  // namespace
}  // namespace longtail::study
