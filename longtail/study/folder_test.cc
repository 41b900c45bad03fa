#include "longtail/study/folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "longtail/base/error.h"
#include "longtail/base/file.h"
#include "longtail/data/testing.h"
#include "longtail/study/lock.h"

namespace longtail::study {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

class StudyFolder : public testing::Test {
 protected:
  void TearDown() override { fs::current_path(before_); }
  Plan open(const std::string& text) const {
    return open_study(parse_study("[model]\nengine = \"simd\"\n" + text, "test.toml"), out_, "test");
  }
  // As if something were done there.
  void leave(const Plan& plan, std::size_t run) const {
    base::write_atomically(run_folder(out_, plan.runs[run].name) / "left", std::string_view("here"));
  }
  bool left(const Plan& plan, std::size_t run) const {
    return fs::exists(run_folder(out_, plan.runs[run].name) / "left");
  }

  data::TempFolder folder_;
  fs::path out_ = folder_ / "out";
  fs::path before_ = fs::current_path();
};

TEST_F(StudyFolder, ARunWhoseParameterBecomesAnAxisKeepsItsFolderUnderTheNewName) {
  const Plan one = open("[train]\nlr = 0.1\n[grid]\nseed = [1]\n");
  leave(one, 0);
  const Plan axis = open("[grid]\nseed = [1]\nlr = [0.1, 0.05]\n");
  ASSERT_EQ(axis.runs.size(), 2u);
  EXPECT_THAT(axis.runs[0].name, StartsWith("uniform-rho100-lr0.1-seed1-"));
  EXPECT_EQ(axis.runs[0].hash, one.runs[0].hash);
  EXPECT_TRUE(left(axis, 0));
  EXPECT_FALSE(left(axis, 1));
  EXPECT_THAT(strangers(out_, axis), IsEmpty());
  EXPECT_EQ(read_run(run_folder(out_, axis.runs[0].name)).name, axis.runs[0].name);
  // And back; what the study no longer has stays as it is.
  const Plan again = open("[grid]\nseed = [1]\n");
  EXPECT_TRUE(left(again, 0));
  EXPECT_THAT(strangers(out_, again), ElementsAre(axis.runs[1].name));
}

// Under two names it would be trained twice.
TEST_F(StudyFolder, ARunThatSomebodyWorksOnKeepsItsNameInThePlanUntilTheNextCommand) {
  const std::string grown = "[grid]\nseed = [1]\nlr = [0.1, 0.05]\n";
  const Plan one = open("[grid]\nseed = [1]\n");
  for (const bool begun : {false, true}) {  // no epoch is done yet; or one is
    if (begun) leave(one, 0);
    const auto lock = FileLock::try_take(lock_path(run_folder(out_, one.runs[0].name)));
    const Plan axis = open(grown);
    EXPECT_EQ(axis.runs[0].name, one.runs[0].name);
    EXPECT_THAT(axis.runs[1].name, StartsWith("uniform-rho100-lr0.05-seed1-"));
    EXPECT_THAT(strangers(out_, axis), IsEmpty());
    EXPECT_EQ(read_plan(out_).runs[0].name, one.runs[0].name);
    EXPECT_EQ(inspect(out_, axis.runs[0]).status, Status::kRunning);
  }
  const Plan axis = open(grown);
  EXPECT_THAT(axis.runs[0].name, StartsWith("uniform-rho100-lr0.1-seed1-"));
  EXPECT_TRUE(left(axis, 0));
  EXPECT_THAT(strangers(out_, axis), IsEmpty());
}

TEST_F(StudyFolder, WhatIsDoneUnderAnOldNameTakesThePlaceOfAFolderInWhichNothingIs) {
  const Plan axis = open("[grid]\nseed = [1]\nlr = [0.1, 0.05]\n");
  const Plan one = open("[grid]\nseed = [1]\n");
  leave(one, 0);
  // Brought from elsewhere, say: the folder of the run under the other name, as it is made.
  const fs::path empty = run_folder(out_, axis.runs[0].name);
  base::make_folder(empty);
  base::write_atomically(empty / "run.json", std::string_view("{}"));
  FileLock::try_take(lock_path(empty));
  const Plan again = open("[grid]\nseed = [1]\nlr = [0.1, 0.05]\n");
  EXPECT_TRUE(left(again, 0));
  EXPECT_THAT(strangers(out_, again), IsEmpty());
  EXPECT_EQ(read_run(empty).name, axis.runs[0].name);
}

TEST_F(StudyFolder, KilledBetweenTheRenamingAndThePlanIsRenamedBackWithoutItsFile) {
  const Plan one = open("[grid]\nseed = [1]\n");
  leave(one, 0);
  const std::string plan = base::read_text(out_ / "study.json");
  const Plan axis = open("[grid]\nseed = [1]\nlr = [0.1, 0.05]\n");
  base::write_atomically(out_ / "study.json", plan);
  const Plan again = reopen_study(out_);
  ASSERT_EQ(again.runs.size(), 1u);
  EXPECT_EQ(again.runs[0].name, one.runs[0].name);
  EXPECT_TRUE(left(one, 0));
  EXPECT_FALSE(fs::exists(run_folder(out_, axis.runs[0].name)));
  EXPECT_EQ(base::read_text(out_ / "study.json"), plan);
}

TEST_F(StudyFolder, KilledBetweenWritingTheNewNameAndTheRenamingKeepsWhatIsDone) {
  const std::string grown = "[grid]\nseed = [1]\nlr = [0.1, 0.05]\n";
  out_ = folder_ / "other";
  const Plan axis = open(grown);
  const std::string renamed = base::read_text(run_folder(out_, axis.runs[0].name) / "run.json");
  out_ = folder_ / "out";
  const Plan one = open("[grid]\nseed = [1]\n");
  leave(one, 0);
  base::write_atomically(run_folder(out_, one.runs[0].name) / "run.json", renamed);
  open(grown);
  EXPECT_TRUE(left(axis, 0));
  EXPECT_THAT(strangers(out_, axis), IsEmpty());
}

// Moved away or copied to do the run again.
TEST_F(StudyFolder, AFolderThatAPersonHasNamedIsLeftAlone) {
  const std::string text = "[grid]\nseed = [1]\n";
  const Plan one = open(text);
  const std::string run = one.runs[0].name;
  for (const std::string& name : {run + ".old", "old-" + run, "backup-" + run}) {
    leave(one, 0);
    fs::rename(run_folder(out_, run), run_folder(out_, name));
    reopen_study(out_);
    EXPECT_FALSE(left(one, 0)) << name;
    open(text);
    EXPECT_FALSE(left(one, 0)) << name;
    EXPECT_TRUE(fs::exists(run_folder(out_, name) / "left")) << name;
  }
  EXPECT_FALSE(left(open("[grid]\nseed = [1]\nlr = [0.1, 0.05]\n"), 0));
}

TEST_F(StudyFolder, TheStudyFileOfAPersonIsNotWrittenOver) {
  const std::string mine = "# why these seeds\n[grid]\nseed = [1]\n";
  base::make_folder(out_);
  base::write_atomically(out_ / "study.toml", mine);
  EXPECT_THROW(open_study(read_study(out_ / "study.toml"), out_, "test"), base::Error);
  EXPECT_EQ(base::read_text(out_ / "study.toml"), mine);
  EXPECT_FALSE(fs::exists(out_ / "runs"));
}

TEST_F(StudyFolder, AStudyOfAFileOfCountsIsContinuedFromAnotherDirectory) {
  base::make_folder(folder_ / "here");
  base::write_atomically(folder_ / "here/counts.txt", std::string_view("5\n4\n"));
  base::write_atomically(folder_ / "here/order.txt", std::string_view("1\n0\n"));
  base::make_folder(folder_ / "there");
  fs::current_path(folder_ / "here");
  const std::string counts = "[data]\nprofile = \"counts\"\ncounts_file = \"counts.txt\"\n";
  const std::string order = "[data]\nclass_order = \"order.txt\"\n";
  for (const std::string& text : {counts, order}) {
    out_ = folder_ / (text == counts ? "counts_out" : "order_out");
    fs::current_path(folder_ / "here");
    const Plan plan = open(text);
    fs::current_path(folder_ / "there");
    EXPECT_EQ(read_run(run_folder(out_, plan.runs[0].name)).hash, plan.runs[0].hash) << text;
    EXPECT_EQ(run_hash(read_plan(out_).runs[0]), plan.runs[0].hash) << text;
    // The file that the folder keeps gives the same study, from wherever it is read.
    const Plan again = open_study(read_study(out_ / "study.toml"), out_, "test");
    EXPECT_EQ(again.runs[0].name, plan.runs[0].name) << text;
  }
}

TEST_F(StudyFolder, ARunIsNamedByItsFileAndNotByWhereThatLies) {
  for (const char* name : {"a.txt", "b.txt"})
    base::write_atomically(folder_ / name, std::string(name) + "\n5\n");
  fs::current_path(folder_.path());
  const std::string whole = (folder_ / "b.txt").string();
  const Plan plan =
      open("[data]\nprofile = \"counts\"\n[grid]\ncounts_file = [\"a.txt\", \"" + whole + "\"]\n");
  EXPECT_THAT(plan.runs[0].name, StartsWith("uniform-counts-counts_filea.txt-seed42-"));
  EXPECT_THAT(plan.runs[1].name, StartsWith("uniform-counts-counts_fileb.txt-seed42-"));
}

TEST_F(StudyFolder, OnlyTheTemporariesOfARunAreRemoved) {
  const std::vector<std::string> others = {"chapter1.tmp", "output.txt.a1B2c3.tmp"};  // the trainer's
  for (const char* name :
       {"config.json", "done.json", "failed.json", "log.json", "progress.json", "run.json"})
    data::write_file(out_ / (std::string(name) + ".a1B2c3.tmp"), "left by a process that was killed");
  for (const std::string& name : others) data::write_file(out_ / name, "of somebody else");
  remove_temporaries(out_);
  EXPECT_EQ(data::contents(out_), others);
}

TEST_F(StudyFolder, AFileThatIsGoneIsNoDamageOfTheRun) {
  base::write_atomically(folder_ / "counts.txt", std::string_view("5\n4\n"));
  const std::string text =
      "[data]\nprofile = \"counts\"\ncounts_file = \"" + (folder_ / "counts.txt").string() + "\"\n";
  const Plan plan = open(text);
  fs::remove(folder_ / "counts.txt");
  try {
    read_run(run_folder(out_, plan.runs[0].name));
    FAIL() << "a run was read whose file is gone";
  } catch (const base::StorageError& error) {  // which stops the study and blames no run
    EXPECT_THAT(error.what(), HasSubstr("no file that can be read"));
  }
  EXPECT_THROW(open(text), base::StorageError);
}

}  // namespace
}  // namespace longtail::study
