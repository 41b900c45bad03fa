#include "longtail/study/runner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "longtail/base/file.h"
#include "longtail/study/grid.h"

namespace longtail::study {
namespace {

namespace fs = std::filesystem;

class KindsHeard : public Watcher {
 public:
  void happened(const Board&, std::size_t, const Event& event) override {
    heard.push_back(event.kind + ": " + event.text);
  }
  void tick(const Board&) override {}
  std::vector<std::string> heard;
};

// The program is a script that says what a worker would say, and stops as one that was asked to.
TEST(Runner, TellsOfACallThatFailedAndIsRepeated) {
  const fs::path place = fs::path(testing::TempDir()) / ("runner_test." + std::to_string(::getpid()));
  fs::remove_all(place);
  Event again;
  again.kind = "again";
  again.text = "the trainer ended with exit code 3; it is called again, 1 of 1";
  base::make_folder(place);
  base::write_atomically(place / "said", to_line(again) + "\n");
  base::write_atomically(place / "worker", "#!/bin/sh\ncat '" + (place / "said").string() + "'\nexit 130\n");
  fs::permissions(place / "worker", fs::perms::owner_all);
  const Plan plan = open_study(parse_study("[train]\nepochs = 2", "one.toml"), place / "out", "test");
  Board board = make_board(plan, place / "out", {0});
  KindsHeard watcher;
  RunnerOptions options;
  options.program = (place / "worker").string();
  EXPECT_EQ(run_study(board, options, watcher), Ending::kSignal);
  EXPECT_THAT(watcher.heard, testing::ElementsAre("start: ", "again: " + again.text));
  fs::remove_all(place);
}

}  // namespace
}  // namespace longtail::study
