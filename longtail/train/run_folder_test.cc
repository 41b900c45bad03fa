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

// One epoch on the classes of toy_options().
RunConfig short_run(const std::string& counts_file) {
  RunConfig config = counted(counts_file);
  config.dataset = "toy";
  config.model = "resnet20";
  config.subset.groups = "7,3";
  config.val_fraction = 0;
  config.epochs = 1;
  config.milestones.clear();
  config.batch_size = 4;
  config.threads = 1;
  return config;
}

RunOptions toy_options(const std::filesystem::path& run) {
  RunOptions options;
  options.folder = run;
  options.dataset = std::make_shared<const data::Dataset>(toy_dataset(2, 8, 2));
  return options;
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
  base::write_atomically(folder / "counts.txt", std::string_view("8\n4\n"));
  const RunConfig config = short_run(folder / "counts.txt");
  const RunOptions options = toy_options(folder / "run");
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

TEST(RunFolder, ALogWithoutItsCheckpointIsOverwrittenByItsOwnRunOnlyOrIfItIsDamaged) {
  const data::TempFolder folder;
  base::write_atomically(folder / "counts.txt", std::string_view("8\n4\n"));
  base::write_atomically(folder / "other.txt", std::string_view("8\n2\n"));
  const RunConfig config = short_run(folder / "counts.txt");
  const RunOptions options = toy_options(folder / "run");
  const auto text = [&] { return base::read_text(log_path(options.folder)); };
  run_training(config, options);
  const std::string whole = text();
  std::filesystem::remove(state_path(options.folder));

  RunConfig other = config;
  other.seed = 43;
  const RunConfig counts = short_run(folder / "other.txt");
  const auto refusal = [&](const RunConfig& wanted) {
    return data::error_of([&] { run_training(wanted, options); });
  };
  EXPECT_THAT(refusal(other), testing::HasSubstr("holds a run with `seed` = `42`, but here it is `43`"));
  EXPECT_THAT(refusal(counts),
              testing::HasSubstr("`counts_file` = `counts.txt`, but here it is `other.txt`"));
  base::write_atomically(folder / "counts.txt", std::string_view("8\n3\n"));
  EXPECT_THAT(refusal(config), testing::HasSubstr("log.json is the log of another run"));
  EXPECT_EQ(text(), whole);
  EXPECT_FALSE(std::filesystem::exists(state_path(options.folder)));

  base::write_atomically(folder / "counts.txt", std::string_view("8\n4\n"));
  run_training(config, options);
  EXPECT_EQ(text(), whole);
  std::filesystem::remove(state_path(options.folder));
  std::filesystem::resize_file(log_path(options.folder), 100);
  EXPECT_EQ(run_training(other, options).seed, 43);
  EXPECT_EQ(read_log(log_path(options.folder)).seed, 43);
}

TEST(RunFolder, OnlyTheTemporariesOfARunAreRemoved) {
  const data::TempFolder folder;
  const std::filesystem::path run = folder / "run";
  for (const char* name : {"log.json.a1B2c3.tmp", "log.predictions.XXXXXX.tmp", "timings.json.a1B2c3.tmp",
                           "state.ckpt.000000.tmp", "kept/0.ckpt.a1B2c3.tmp", "branch/140.ckpt.a1B2c3.tmp"}) {
    data::write_file(run / name, "left by a process that was killed");
  }
  const std::vector<std::string> others = {"branch",
                                           "branch/140.ckpt",
                                           "branch/tmp.a1B2c3.tmp",
                                           "chapter1.tmp",
                                           "kept",
                                           "kept/chapter1.ckpt.a1B2c3.tmp",
                                           "log.json.a1B2c3",
                                           "log.json.a1B2c3d.tmp",
                                           "log.json.tmp",
                                           "notes.a1B2c3.tmp"};
  for (const std::string& name : others) {
    if (name != "branch" && name != "kept") data::write_file(run / name, "of somebody else");
  }
  const FolderLock lock(run);
  EXPECT_EQ(data::contents(run), others);
}

// A study stops for it, and blames no run.
TEST(RunFolder, ThatIsTakenIsTheFaultOfThePlace) {
  const data::TempFolder folder;
  const FolderLock lock(folder / "run");
  EXPECT_THROW(FolderLock(folder / "run"), base::StorageError);
}

}  // namespace
}  // namespace longtail::train
