#include "longtail/train/run_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "longtail/base/error.h"
#include "longtail/base/file.h"
#include "longtail/data/testing.h"
#include "longtail/train/run.h"
#include "longtail/train/testing.h"

namespace longtail::train {
namespace {

RunConfig counted(const std::string& file) {
  RunConfig config;
  config.engine = "simd";
  config.subset.profile = "counts";
  config.subset.counts_file = file;
  return resolved(config);
}

// What a folder holds of a run.
Checkpoint held(const RunConfig& config) {
  Checkpoint state;
  state.config = config_map(config);
  state.log.emplace();
  state.log->fingerprint.protocol = config_hash(config);
  return state;
}

TEST(RunFolder, ARunIsTheSameWhateverPathItsFileHas) {
  const data::TempFolder folder;
  const std::string a = folder / "a.txt", b = folder / "b.txt", c = folder / "c.txt";
  base::write_atomically(a, std::string_view("3\n2\n"));
  base::write_atomically(b, std::string_view("3\n2\n"));
  base::write_atomically(c, std::string_view("3\n1\n"));
  const Checkpoint state = held(counted(a));
  EXPECT_TRUE(is_run(state, counted(a)));
  EXPECT_TRUE(is_run(state, counted(b)));
  EXPECT_FALSE(is_run(state, counted(c)));
  EXPECT_NO_THROW(refuse_other_config("run", state.config, config_map(counted(b))));
  EXPECT_THROW(refuse_other_config("run", state.config, config_map(counted(c))), base::Error);
  std::filesystem::remove(a);  // it was relative to another folder, say
  EXPECT_TRUE(is_run(state, counted(b)));
  EXPECT_FALSE(is_run(state, counted(c)));
}

// Without a word it would be the old result under the name of the new one.
TEST(RunFolder, AFinishedRunWhoseFileHasAnotherContentIsRefusedAndTheFileNamed) {
  const data::TempFolder folder;
  RunConfig config = counted(folder / "counts.txt");
  base::write_atomically(folder / "counts.txt", std::string_view("8\n4\n"));
  config.dataset = "toy";
  config.model = "resnet20";
  config.subset.groups = "7,3";
  config.val_fraction = 0;
  config.epochs = 1;
  config.milestones.clear();
  config.batch_size = 4;
  config.threads = 1;
  RunOptions options;
  options.folder = folder / "run";
  options.dataset = std::make_shared<const data::Dataset>(toy_dataset(2, 8, 2));
  const RunLog log = run_training(config, options);
  EXPECT_EQ(log_text(run_training(config, options)), log_text(log));
  base::write_atomically(folder / "counts.txt", std::string_view("8\n2\n"));
  try {
    run_training(config, options);
    FAIL() << "another run was called finished";
  } catch (const base::Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("another content of `counts_file` = `" +
                                                 (folder / "counts.txt").string()));
  }
  std::filesystem::remove(folder / "counts.txt");  // no other content
  EXPECT_EQ(log_text(run_training(config, options)), log_text(log));
}

// A study stops for it, and blames no run.
TEST(RunFolder, ThatIsTakenIsTheFaultOfThePlace) {
  const data::TempFolder folder;
  const FolderLock lock(folder / "run");
  EXPECT_THROW(FolderLock(folder / "run"), base::StorageError);
}

}  // namespace
}  // namespace longtail::train
