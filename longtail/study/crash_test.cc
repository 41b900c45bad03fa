// The same as train/crash_test.cc for a study of two runs: its plan, its runs, what says that they are done.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "longtail/base/crashed_disk.h"
#include "longtail/base/text.h"
#include "longtail/study/folder.h"
#include "longtail/study/worker.h"

namespace longtail::study {
namespace {

namespace fs = std::filesystem;

// `images` pictures of two classes in the form of MNIST: a dark and a bright one.
void write_tiny_data(const fs::path& folder, const std::string& split, int images) {
  std::string pixels("\0\0\x08\x03\0\0\0", 7), labels("\0\0\x08\x01\0\0\0", 7);
  pixels += static_cast<char>(images);
  labels += static_cast<char>(images);
  pixels += std::string("\0\0\0\x1c\0\0\0\x1c", 8);
  for (int i = 0; i < images; ++i) {
    for (int p = 0; p < 28 * 28; ++p) pixels += static_cast<char>((p * 7 + i * 13) % 60 + 100 * (i % 2));
    labels += static_cast<char>(i % 2);
  }
  base::write_atomically(folder / (split + "-images-idx3-ubyte"), pixels);
  base::write_atomically(folder / (split + "-labels-idx1-ubyte"), labels);
}

TEST(Crash, AStudyResumesToTheSameBytesFromEveryDiskThatACrashCouldLeave) {
  const fs::path place = fs::path(testing::TempDir()) / ("study_crash_test." + std::to_string(::getpid()));
  fs::create_directories(place / "data");
  write_tiny_data(place / "data", "train", 8);
  write_tiny_data(place / "data", "t10k", 4);
  const StudyFile study =
      parse_study("[data]\ndataset = \"idx:" + (place / "data").string() +
                      "\"\nprofile = \"natural\"\ngroups = \"5,3\"\n[model]\nmodel = \"resnet20\"\n"
                      "[train]\nbatch_size = 4\nwarmup_epochs = 1\nepochs = 2\n"
                      "[grid]\nseed = [1]\nstrategy = [\"uniform\", \"class_balanced\"]\n",
                  "tiny.toml");
  const int silent = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  const auto run = [&](const fs::path& folder) {
    const Plan plan = open_study(study, folder, "test");
    for (const study::PlannedRun& each : plan.runs) {
      EXPECT_EQ(work({run_folder(folder, each.name), "", 1}, silent), 0);
      EXPECT_EQ(inspect(folder, each).status, Status::kDone);
    }
    return plan;
  };
  std::vector<base::FileEvent> events;
  base::record_file_events(&events);
  const Plan plan = run(place / "whole");
  base::record_file_events(nullptr);
  const auto results = [&](const fs::path& folder) {
    std::string all;
    for (const study::PlannedRun& each : plan.runs)
      all += base::read_text(run_folder(folder, each.name) / "log.json");
    return all + base::read_text(folder / "study.json") + base::read_text(folder / "study.toml");
  };
  const std::string whole = results(place / "whole");
  const int disks = base::each_crash(events, [&](const base::DiskImage& image) {
    base::lay_out(image, place / "whole", place / "crashed");
    run(place / "crashed");
    EXPECT_TRUE(results(place / "crashed") == whole) << "after " << image.size() << " files";
  });
  std::printf("%zu events, so %zu prefixes; %d different disks, each resumed to the same bytes\n",
              events.size(), events.size() + 1, disks);
  EXPECT_GT(disks, 80);
  ::close(silent);
  fs::remove_all(place);
}

}  // namespace
}  // namespace longtail::study
