// A crash at every moment at which it could make a difference: the writes, syncs and renames of a run are
// recorded, and every disk that a crash between two of them could leave is made and resumed from. No luck is
// needed.
#include <gtest/gtest.h>
#include <unistd.h>

#include "longtail/base/crashed_disk.h"
#include "longtail/train/beginning.h"
#include "longtail/train/run.h"
#include "longtail/train/testing.h"

namespace longtail::train {
namespace {

namespace fs = std::filesystem;

TEST(Crash, ARunResumesToTheSameBytesFromEveryDiskThatACrashCouldLeave) {
  const fs::path place = fs::path(testing::TempDir()) / ("crash_test." + std::to_string(::getpid()));
  RunConfig config;
  config.dataset = "toy";
  config.subset.profile = "natural";
  config.subset.groups = "5,3";
  config.model = "resnet20";
  config.strategy = "progressive";
  config.epochs = 3;
  config.batch_size = 4;
  config.threads = 1;
  config.keep_epochs = {1};
  RunOptions options;
  options.dataset = std::make_shared<const data::Dataset>(toy_dataset(2, 3, 2));
  options.folder = place / "whole";
  options.branch_epochs = {2};
  std::vector<base::FileEvent> events;
  base::record_file_events(&events);
  run_training(config, options);
  base::record_file_events(nullptr);
  const auto results = [](const fs::path& folder) {
    return base::read_text(folder / "log.json") + base::read_text(folder / "state.ckpt") +
           base::read_text(branch_path(folder, 2));
  };
  const std::string whole = results(place / "whole");
  options.folder = place / "crashed";
  const int disks = base::each_crash(events, [&](const base::DiskImage& image) {
    base::lay_out(image, place / "whole", options.folder);
    run_training(config, options);
    EXPECT_TRUE(results(options.folder) == whole) << "after " << image.size() << " files";
    for (const auto& entry : fs::directory_iterator(options.folder)) {
      EXPECT_NE(entry.path().extension(), ".tmp") << entry.path();
    }
  });
  std::printf("%zu events, so %zu prefixes; %d different disks, each resumed to the same bytes\n",
              events.size(), events.size() + 1, disks);
  RecordProperty("prefixes", static_cast<int>(events.size() + 1));
  EXPECT_GT(disks, 40);
  fs::remove_all(place);
}

}  // namespace
}  // namespace longtail::train
