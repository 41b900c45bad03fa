// Runs of a study that stand on one another: rebalanced from a parent, or alike until an epoch.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "longtail/cli/testing_study.h"
#include "longtail/study/lock.h"
#include "longtail/train/run_folder.h"

namespace longtail::cli {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

using RelatedRuns = TinyStudy;

TEST_F(RelatedRuns, RebalancedRunsShareAParentThatIsTrainedOnceAndSurviveKills) {
  write_study("seed = [1, 2]\nrebalance = [\"crt:lr=0.05\", \"none\", \"tau_norm\"]\n");
  const Outcome calm = run("calm");
  ASSERT_EQ(calm.code, 0) << calm.err;
  const auto whole = logs("calm");
  ASSERT_EQ(whole.size(), 6u);
  for (const auto& [name, log] : whole) {
    EXPECT_EQ(log.find("\"parent\"") == std::string::npos, name.find("rebalancenone") != std::string::npos)
        << name;
    EXPECT_FALSE(fs::exists(folder_ / "calm" / "runs" / name / "parent")) << name;
  }
  int hits = 0;
  for (int kill = 0; kill < 4; ++kill) {
    fs::remove(folder_ / "stdout");
    const pid_t child = start("killed");
    EXPECT_TRUE(wait_until(child, [&] { return says(folder_ / "stdout", "  start "); }));
    hits += kill_hits(child);
  }
  EXPECT_EQ(hits, 4);
  ASSERT_EQ(run("killed").code, 0);
  EXPECT_EQ(logs("killed"), whole);
  // A child alone: its parent is trained for it.
  ASSERT_EQ(run("alone", {"--only", "uniform-rho8-rebalancecrt-lr0.05-seed1"}).code, 0);
  EXPECT_EQ(logs("alone").at(a_run("alone", "uniform-rho8-rebalancecrt-lr0.05-seed1").filename().string()),
            whole.at(a_run("alone", "uniform-rho8-rebalancecrt-lr0.05-seed1").filename().string()));
  const Outcome report = run_program({"report", out("calm"), "--out", out("report"), "--tables-only"});
  EXPECT_EQ(report.code, 0) << report.err;
  const std::string overall = base::read_text(folder_ / "report" / "tables" / "overall.md");
  for (const char* series : {"| Uniform  ", "rebalance=crt:lr=0.05", "rebalance=tau_norm"})
    EXPECT_THAT(overall, HasSubstr(series));
}

TEST_F(RelatedRuns, RunsThatBeginAlikeAreTrainedOnceUntilTheyPart) {
  const std::string deferred = "\"deferred:then=focal,at=2\"", plain = "\"cross_entropy\"";
  write_study("loss = [" + deferred + ", " + plain + "]\nepochs = [3]\n");
  ASSERT_EQ(run("shared", {"--only", "uniform-rho8-lossdeferred"}).code, 0);
  EXPECT_TRUE(fs::exists(a_run("shared", "uniform-rho8-lossdeferred") / "branch" / "2.ckpt"));
  const Outcome second =
      run_program({"study", "work", "--run-folder", a_run("shared", "uniform-rho8-losscross").string()});
  ASSERT_EQ(second.code, 0) << second.err;
  EXPECT_THAT(second.out, HasSubstr("The first 2 epochs are those of another run"));
  for (const auto& [name, loss] : {std::pair("lossdeferred", deferred), std::pair("losscross", plain)}) {
    write_study("loss = [" + loss + "]\nepochs = [3]\n");
    const Outcome alone = run(name);
    ASSERT_EQ(alone.code, 0) << alone.err;
    EXPECT_EQ(base::read_text(a_run("shared", std::string("uniform-rho8-") + name) / "log.json"),
              base::read_text(a_run(name, "uniform-rho8") / "log.json"));
  }
}

TEST_F(RelatedRuns, SaysWhichRunsCannotBeginBecauseTheOneTheyAreRebalancedFromFailed) {
  write_study("seed = [1]\nlr = [1e30]\nclip = 0\nrebalance = [\"none\", \"ncm\"]\n");
  EXPECT_EQ(run("study").code, 1);
  const std::string status = run_program({"study", "status", out("study")}).out;
  EXPECT_THAT(status, HasSubstr("1 waiting, 1 failed"));
  EXPECT_EQ(count(status, "the run that it is rebalanced from failed"), 1) << status;
  const Outcome alone = run("study", {"--only", "uniform-rho8-rebalancencm"});
  EXPECT_EQ(alone.code, 1);
  EXPECT_THAT(alone.err, HasSubstr("1 of 1 runs could not be done; see above"));
  EXPECT_THAT(alone.out, HasSubstr(": the run that it is rebalanced from failed"));
}

TEST_F(RelatedRuns, AFinishedRebalancedRunIsMendedWithoutTheNetworkOfItsParent) {
  write_study("rebalance = [\"none\", \"ncm\"]\n");
  ASSERT_EQ(run("study").code, 0);
  const auto before = logs("study");
  fs::remove(a_run("study", "uniform-rho8-rebalancenone") / "state.ckpt");
  fs::resize_file(a_run("study", "uniform-rho8-rebalancencm") / "log.json", 100);
  const Outcome again = run("study");
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_EQ(count(again.out, "is trained again"), 0) << again.out;
  EXPECT_EQ(logs("study"), before);
  EXPECT_FALSE(fs::exists(a_run("study", "uniform-rho8-rebalancenone") / "state.ckpt"));
}

TEST_F(RelatedRuns, ACopyOfTheParentUnderAnotherNameDoesNotDisturb) {
  write_study("rebalance = [\"none\", \"ncm\"]\n");
  ASSERT_EQ(run("study", {"--only", "uniform-rho8-rebalancenone"}).code, 0);
  const fs::path parent = a_run("study", "uniform-rho8-rebalancenone");
  for (const char* mark : {"old-", "a-", "z-"})  // whichever comes first in the folder
    fs::copy(parent, parent.parent_path() / (mark + parent.filename().string()), fs::copy_options::recursive);
  const Outcome rest = run("study");
  EXPECT_EQ(rest.code, 0) << rest.err;
}

TEST_F(RelatedRuns, SeveralAreRebalancedFromOneAtATime) {
  write_study("rebalance = [\"none\", \"ncm\", \"logit_adjust\"]\n");
  ASSERT_EQ(run("study", {"--only", "uniform-rho8-rebalancenone"}).code, 0);
  // As if another one were just reading it.
  const train::FolderLock reader(a_run("study", "uniform-rho8-rebalancenone"));
  const Outcome rest = run("study");
  EXPECT_EQ(rest.code, 0) << rest.err;
  EXPECT_EQ(count(rest.out, "  done "), 2) << rest.out;
}

TEST_F(RelatedRuns, AParentWhoseNetworkIsLostIsTrainedAgainOnce) {
  write_study("rebalance = [\"none\", \"ncm\", \"logit_adjust\"]\n");
  for (const std::string& name : {std::string("gone"), std::string("damaged")}) {
    ASSERT_EQ(run(name, {"--only", "uniform-rho8-rebalancenone"}).code, 0);
    const fs::path parent = a_run(name, "uniform-rho8-rebalancenone");
    const std::string log = base::read_text(parent / "log.json");
    if (name == "gone") {
      fs::remove(parent / "state.ckpt");
    } else {
      damage(parent / "state.ckpt");
    }
    const Outcome rest = run(name);
    EXPECT_EQ(rest.code, 0) << rest.err;
    EXPECT_EQ(count(rest.out, "is trained again"), 1) << rest.out;
    for (const auto& entry : fs::recursive_directory_iterator(folder_ / name))
      EXPECT_NE(entry.path().filename(), "failed.json") << entry.path();
    EXPECT_EQ(base::read_text(parent / "log.json"), log);
    EXPECT_TRUE(fs::exists(parent / "done.json"));
    EXPECT_EQ(fs::exists(parent / "state.ckpt.damaged"), name == "damaged");
  }
}

// The first run is under way elsewhere, beyond the epoch at which the second parts from it.
TEST_F(RelatedRuns, WhatBeginsAlikeWaitsOnlyUntilTheStateIsThere) {
  write_study("loss = [\"cross_entropy\", \"deferred:then=focal,at=2\"]\nepochs = [3]\n");
  ASSERT_EQ(run("shared", {"--only", "uniform-rho8-losscross"}).code, 0);
  const fs::path first = a_run("shared", "uniform-rho8-losscross");
  ASSERT_TRUE(fs::exists(first / "branch" / "2.ckpt"));
  const std::string done = base::read_text(first / "done.json");
  fs::remove(first / "done.json");
  auto lock = study::FileLock::try_take(first / "study.lock");
  ASSERT_TRUE(lock);
  const pid_t child = start("shared");
  EXPECT_TRUE(wait_until(child, [&] { return says(folder_ / "stdout", "  done "); }));
  EXPECT_THAT(base::read_text(folder_ / "stdout"), HasSubstr("uniform-rho8-lossdeferred"));
  base::write_atomically(first / "done.json", done);
  lock.reset();
  EXPECT_EQ(wait_for(child), 0);
}

}  // namespace
}  // namespace longtail::cli
