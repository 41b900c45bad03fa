// Where commands find the data of a run when the folder of its study has been moved.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "longtail/cli/testing_study.h"

namespace longtail::cli {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

using RecordedData = TinyStudy;

TEST_F(RecordedData, MovesWithTheFolderOfTheStudyAndIsNamedWhenItIsGone) {
  const std::string store = out("s") + "/data";
  ASSERT_EQ(
      run_program({"data", "import", "tiny", "idx:" + (folder_ / "data").string(), "--data", store}).code, 0);
  base::write_atomically(file(),
                         "[data]\ndataset = \"tiny\"\n[model]\nmodel = \"resnet20\"\n[train]\nepochs = 1\n"
                         "warmup_epochs = 0\nbatch_size = 16\n[run]\ndata = \"" +
                             store + "\"\n[grid]\nseed = [1]\n");
  const Outcome made = run("s", {"--plain"});
  ASSERT_EQ(made.code, 0) << made.err;
  const std::string name = a_run("s", "uniform").filename().string();
  fs::rename(folder_ / "s", folder_ / "moved");
  fs::create_directory_symlink("runs/" + name, folder_ / "moved/network");
  const auto evaluated = [&](const std::string& run, const std::vector<std::string>& more = {}) {
    std::vector<std::string> words = {"evaluate", (folder_ / run).string()};
    words.insert(words.end(), more.begin(), more.end());
    return run_program(words);
  };
  for (const std::string& run : {std::string("moved/network"), "moved/runs/" + name}) {
    const Outcome outcome = evaluated(run);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_THAT(outcome.out, HasSubstr("says the same"));
  }
  fs::rename(folder_ / "moved/data", folder_ / "away");
  const Outcome gone = evaluated("moved/network");
  EXPECT_EQ(gone.code, 1);
  EXPECT_THAT(gone.err, AllOf(HasSubstr("its data were in " + store + ", which is not there any more"),
                              HasSubstr("say with --data DIR where they are")));
  EXPECT_EQ(evaluated("moved/network", {"--data", out("away")}).code, 0);
}

}  // namespace
}  // namespace longtail::cli
