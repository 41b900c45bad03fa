#include "longtail/study/trainer.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "longtail/base/error.h"
#include "longtail/base/file.h"
#include "longtail/study/grid.h"

namespace longtail::study {
namespace {

namespace fs = std::filesystem;

// The wrapper dies of SIGTERM at once; what it has started needs a while to save.
TEST(TrainerBehindAWrapper, HasTimeToSaveWhenItIsStopped) {
  const fs::path folder = fs::path(testing::TempDir()) / ("trainer_test." + std::to_string(::getpid()));
  fs::remove_all(folder);
  base::make_folder(folder);
  base::write_atomically(folder / "wrapper.sh",
                         std::string_view("bash \"$1/child.sh\" \"$1\"\necho never\n"));
  base::write_atomically(folder / "child.sh",
                         std::string_view("trap 'sleep 1; echo yes > \"$1/saved\"; exit 0' TERM\n"
                                          "echo yes > \"$1/ready\"\n"
                                          "while :; do sleep 0.05; done\n"));
  PlannedRun run;
  run.name = "wrapped";
  run.trainer.emplace();
  run.trainer->command = {"bash", (folder / "wrapper.sh").string(), "{run}"};
  TrainerCall call;
  call.folder = folder;
  call.should_stop = [&] { return fs::exists(folder / "ready"); };
  EXPECT_THROW(run_trainer(run, call), base::Interrupted);
  EXPECT_TRUE(fs::exists(folder / "saved"));
  fs::remove_all(folder);
}

}  // namespace
}  // namespace longtail::study
