// longtail init: what it writes, and how it refuses.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>

#include "longtail/base/file.h"
#include "longtail/base/test_paths.h"
#include "longtail/cli/testing.h"

namespace longtail::cli {
namespace {

TEST(InitCommand, WritesTheGoldenWeights) {
  const std::filesystem::path golden = base::source_dir() + "/../shared/golden/init_seed123.f32";
  if (!std::filesystem::exists(golden)) GTEST_SKIP() << "the golden files are not here";
  const std::string out = testing::TempDir() + "init.f32";
  const Outcome outcome =
      run_program({"init", "--model", "resnet32", "--classes", "100", "--seed", "123", "--out", out});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("472,756 parameters"), std::string::npos) << outcome.out;
  const auto ours = base::read_array<float>(out), expected = base::read_array<float>(golden);
  ASSERT_EQ(ours.size(), expected.size());
  for (std::size_t i = 0; i < ours.size(); ++i) ASSERT_NEAR(ours[i], expected[i], 1e-6) << "element " << i;
}

TEST(InitCommand, ShortcutAndChannelsChangeTheNumberOfParameters) {
  const std::string out = testing::TempDir() + "init_pad.f32";
  const Outcome outcome = run_program({"init", "--model", "resnet20", "--classes", "10", "--shortcut", "pad",
                                       "--channels", "1", "--out", out});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(base::read_array<float>(out).size(), 269722u - 2 * 144u);
}

TEST(InitCommand, AnUnknownModelIsExplainedAndNothingWritten) {
  const std::string out = testing::TempDir() + "init_none.f32";
  const Outcome outcome = run_program({"init", "--model", "resnet18", "--out", out});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_NE(outcome.err.find("resnet20, resnet32"), std::string::npos) << outcome.err;
  EXPECT_FALSE(std::filesystem::exists(out));
}

}  // namespace
}  // namespace longtail::cli
