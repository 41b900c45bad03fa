// What reaches a study from outside: signals that whoever started it wants ignored, data, folders and the program itself
// that go away, data that only the study file knows of.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <csignal>
#include <cstdio>
#include <fstream>
#include <functional>

#include "longtail/base/scoped_variable.h"
#include "longtail/cli/testing_study.h"
#include "longtail/train/run_folder.h"

namespace longtail::cli {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

class StudyOutside : public TinyStudy {
 protected:
  // As `nohup` starts a program.
  pid_t start_without_hangup(const std::string& name, const std::vector<std::string>& more = {}) const {
    std::vector<std::string> arguments = run_arguments(name);
    arguments.insert(arguments.end(), more.begin(), more.end());
    return start_without_hangup_of(base::program(), arguments);
  }
  pid_t start_without_hangup_of(const std::string& program, std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), program);
    std::vector<char*> argv;
    argv.reserve(arguments.size() + 1);
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    const fs::path said = folder_ / "stdout", wrong = folder_ / "stderr";
    const pid_t child = ::fork();
    if (child != 0) return child;
    ::signal(SIGHUP, SIG_IGN);
    if (!std::freopen(said.c_str(), "w", stdout) || !std::freopen(wrong.c_str(), "w", stderr)) ::_exit(127);
    ::execv(argv[0], argv.data());
    ::_exit(127);
  }
  bool has_trained_an_epoch(const std::string& name) const {
    std::error_code error;
    if (!fs::exists(folder_ / name / "runs", error)) return false;
    const fs::path folder = a_run(name, "uniform");
    return fs::exists(folder / "progress.json", error) || fs::exists(folder / "done.json", error);
  }
  // The process that has the lock of the run.
  pid_t worker(const std::string& name) const {
    const std::string holder = base::read_text(a_run(name, "uniform") / "study.lock");
    return std::stoi(holder.substr(holder.rfind(' ')));
  }
  // A study by a copy of the program, to whose file something happens while the first of two runs is trained.
  void expect_done_although(const std::function<void(const fs::path&)>& happens) {
    write_study("seed = [1, 2]\nepochs = [20]\n");
    const fs::path program = folder_ / "program";
    fs::copy_file(base::program(), program);
    const pid_t study = start_without_hangup_of(
        program.string(), {"study", "run", file(), "--out", out("study"), "--jobs", "1"});
    EXPECT_TRUE(wait_until(study, [&] { return says(folder_ / "stdout", "  start "); }));
    happens(program);
    EXPECT_EQ(wait_for(study), 0) << base::read_text(folder_ / "stderr");
    EXPECT_FALSE(blames_a_run("study"));
    for (const auto& [name, log] : logs("study")) EXPECT_NE(log, "(none)") << name;
  }
  bool blames_a_run(const std::string& name) const {
    for (const auto& entry : fs::recursive_directory_iterator(folder_ / name)) {
      if (entry.path().filename() == "failed.json") return true;
    }
    return false;
  }
};

TEST_F(StudyOutside, AHangupThatIsIgnoredFromTheStartStopsNeitherTheStudyNorItsWorkers) {
  write_study("seed = [1]\nepochs = [30]\n");
  const pid_t study = start_without_hangup("study");
  EXPECT_TRUE(wait_until(study, [&] { return has_trained_an_epoch("study"); }));
  ::kill(worker("study"), SIGHUP);
  ::kill(study, SIGHUP);
  EXPECT_EQ(wait_for(study), 0) << base::read_text(folder_ / "stderr");
}

TEST_F(StudyOutside, OneThatIgnoresAHangupStillStopsWhenAsked) {
  write_study("seed = [1]\n");
  const pid_t study = start_without_hangup("study", {"--set", "train.epochs=5000"});
  EXPECT_TRUE(wait_until(study, [&] { return has_trained_an_epoch("study"); }));
  ::kill(study, SIGTERM);
  EXPECT_EQ(wait_for(study), 130) << base::read_text(folder_ / "stderr");
  EXPECT_FALSE(blames_a_run("study"));
}

TEST_F(StudyOutside, DataThatGoAwayStopItAndNoRunIsBlamed) {
  write_study("seed = [1, 2]\nepochs = [20]\n");
  const std::vector<std::string> command = {"study", "run", file(), "--out", out("study"), "--jobs", "1"};
  const pid_t study = start_program(command, folder_ / "stdout", folder_ / "stderr");
  EXPECT_TRUE(wait_until(study, [&] { return says(folder_ / "stdout", "  start "); }));
  fs::rename(folder_ / "data", folder_ / "away");
  EXPECT_EQ(wait_for(study), 1);
  EXPECT_THAT(base::read_text(folder_ / "stderr"), HasSubstr((folder_ / "data").string()));
  EXPECT_THAT(base::read_text(folder_ / "stderr"), Not(HasSubstr("runs failed")));
  EXPECT_FALSE(blames_a_run("study"));
  fs::rename(folder_ / "away", folder_ / "data");
  const Outcome again = run_program(command);
  EXPECT_EQ(again.code, 0) << again.err;
  for (const auto& [name, log] : logs("study")) EXPECT_NE(log, "(none)") << name;
}

// As while it is built anew.
TEST_F(StudyOutside, AProgramWhoseFileGoesAwayDoesTheRestAllTheSame) {
  expect_done_although([](const fs::path& program) { fs::remove(program); });
}

// As when it has been built anew, and that build is broken.
TEST_F(StudyOutside, AProgramWhoseFileIsReplacedDoesTheRestAllTheSame) {
  expect_done_although([](const fs::path& program) {
    base::write_atomically(program, std::string_view("#!/bin/sh\nexit 3\n"));
  });
}

TEST_F(StudyOutside, AWorkerHasTheNameOfTheProgram) {
  write_study("seed = [1]\n");
  const pid_t study = start_without_hangup("study", {"--set", "train.epochs=5000"});
  EXPECT_TRUE(wait_until(study, [&] { return has_trained_an_epoch("study"); }));
  std::string name;
  std::getline(std::ifstream("/proc/" + std::to_string(worker("study")) + "/comm"), name);
  EXPECT_EQ(name, "longtail");
  ::kill(study, SIGTERM);
  EXPECT_EQ(wait_for(study), 130) << base::read_text(folder_ / "stderr");
}

TEST_F(StudyOutside, SomebodyElseInTheFolderOfARunStopsItAndNoRunIsBlamed) {
  write_study("seed = [1]\n");
  ASSERT_EQ(run("study", {"--shard", "2/2"}).code, 0);  // makes the folder and does nothing
  {
    const train::FolderLock lock(a_run("study", "uniform"));
    const Outcome outcome = run("study");
    EXPECT_EQ(outcome.code, 1);
    EXPECT_THAT(outcome.err, HasSubstr("another process is training in"));
    EXPECT_FALSE(blames_a_run("study"));
  }
  EXPECT_EQ(run("study").code, 0);
}

TEST_F(StudyOutside, AWorkerWhoseFolderIsGoneSaysWhatMayHaveBecomeOfIt) {
  const Outcome outcome = run_program({"study", "work", "--run-folder", out("nowhere")});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.out, HasSubstr("\"storage\""));
  EXPECT_THAT(outcome.out,
              HasSubstr("is gone: it was removed, or renamed by another command; give this command again"));
}

TEST_F(StudyOutside, PredictionsThatAreLostOrDamagedAreTold) {
  write_study("seed = [1, 2, 3]\n");
  ASSERT_EQ(run("study").code, 0);
  fs::remove(a_run("study", "uniform-rho8-seed1") / "log.predictions");
  damage(a_run("study", "uniform-rho8-seed2") / "log.predictions");
  const std::string status = run_program({"study", "status", out("study")}).out;
  EXPECT_THAT(status, HasSubstr("3 done"));
  EXPECT_EQ(count(status, "log.predictions"), 2) << status;
  EXPECT_THAT(status, HasSubstr("it is not the file that the log names"));
  const Outcome collected = run_program({"study", "collect", out("study"), "--out", out("logs")});
  EXPECT_EQ(collected.code, 0) << collected.err;
  EXPECT_THAT(collected.err, HasSubstr("2 of these logs are without their predictions"));
  int copied = 0;
  for (const auto& entry : fs::directory_iterator(folder_ / "logs"))
    copied += entry.path().extension() == ".predictions";
  EXPECT_EQ(copied, 1);
}

TEST_F(StudyOutside, PredictionsThatCannotBeReadStopTheCommandAndAreNotCalledLost) {
  write_study("seed = [1]\n");
  ASSERT_EQ(run("study").code, 0);
  const fs::path predictions = a_run("study", "uniform") / "log.predictions";
  fs::rename(predictions, predictions.string() + ".away");
  ASSERT_EQ(::mknod(predictions.c_str(), S_IFSOCK | 0600, 0), 0);  // not even root can open a socket
  for (const char* command : {"status", "collect"}) {
    std::vector<std::string> words = {"study", command, out("study")};
    if (command == std::string("collect")) words.insert(words.end(), {"--out", out("logs")});
    const Outcome outcome = run_program(words);
    EXPECT_EQ(outcome.code, 1) << command;
    EXPECT_THAT(outcome.err, HasSubstr("cannot read " + predictions.string())) << command;
    EXPECT_THAT(outcome.err, Not(HasSubstr("remove"))) << command;
  }
  fs::rename(predictions.string() + ".away", predictions);
  EXPECT_EQ(run_program({"study", "collect", out("study"), "--out", out("logs")}).code, 0);
}

TEST_F(StudyOutside, FindsDataThatOnlyTheStudyFileSpeaksOf) {
  const base::ScopedVariable nowhere("LONGTAIL_DATA", "/nonexistent");
  const Outcome imported = run_program({"data", "import", "tiny", "idx:" + (folder_ / "data").string(),
                                        "--data", (folder_ / "cache").string()});
  ASSERT_EQ(imported.code, 0) << imported.err;
  write_study("seed = [1, 2]\n");
  const fs::path before = fs::current_path();
  fs::current_path(folder_);  // the file names a folder beside it
  const Outcome first = run("study", {"--only", "uniform-rho8-seed1", "--set", "data.dataset=tiny", "--set",
                                      "run.data=cache", "--set", "run.threads=1"});
  fs::current_path(before);
  EXPECT_EQ(first.code, 0) << first.err;
  EXPECT_THAT(first.out, HasSubstr("2 runs, 0 done, 1 selected"));
  const std::string record = base::read_text(a_run("study", "uniform-rho8-seed1") / "run.json");
  EXPECT_THAT(record, HasSubstr(fs::canonical(folder_ / "cache").string())) << "it is found from any folder";
  EXPECT_THAT(record, HasSubstr("\"threads\": \"1\""));
  const Outcome rest = run_program({"study", "run", "--out", out("study")});
  EXPECT_EQ(rest.code, 0) << rest.err;
  EXPECT_FALSE(blames_a_run("study"));
  for (const auto& [name, log] : logs("study")) EXPECT_NE(log, "(none)") << name;
}

}  // namespace
}  // namespace longtail::cli
