// longtail init: what it writes, and how it refuses.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "longtail/base/file.h"
#include "longtail/base/test_paths.h"
#include "longtail/cli/testing.h"

namespace longtail::cli {
namespace {

TEST(InitCommand, WritesTheWeightsOfPyTorch) {
  const auto cases =
      nlohmann::json::parse(base::read_text(base::source_dir() + "/longtail/nn/testdata/golden_init.json"));
  ASSERT_EQ(cases.size(), 3u);
  const std::string out = testing::TempDir() + "init.f32";
  for (const auto& golden : cases) {
    const std::string seed = std::to_string(golden["seed"].get<int>());
    const Outcome outcome =
        run_program({"init", "--model", "resnet32", "--classes", "100", "--seed", seed, "--out", out});
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_NE(outcome.out.find("472,756 parameters"), std::string::npos) << outcome.out;
    const auto ours = base::read_array<float>(out);
    ASSERT_EQ(ours.size(), golden["parameters"].get<std::size_t>());
    double absolute = 0, squares = 0;
    for (const float value : ours) {
      absolute += std::abs(static_cast<double>(value));
      squares += static_cast<double>(value) * static_cast<double>(value);
    }
    EXPECT_NEAR(absolute / golden["absolute_sum"].get<double>(), 1, 1e-7) << "seed " << seed;
    EXPECT_NEAR(squares / golden["square_sum"].get<double>(), 1, 1e-7) << "seed " << seed;
    const auto step = golden["step"].get<std::size_t>();
    const auto& values = golden["values"];
    ASSERT_EQ(values.size(), (ours.size() + step - 1) / step);
    for (std::size_t i = 0; i < values.size(); ++i) {
      ASSERT_NEAR(ours[i * step], values[i].get<double>(), 1e-6) << "element " << i * step;
    }
  }
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
  EXPECT_EQ(outcome.code, 2);
  EXPECT_NE(outcome.err.find("resnet20, resnet32"), std::string::npos) << outcome.err;
  EXPECT_FALSE(std::filesystem::exists(out));
}

TEST(InitCommand, AWrongValueIsWrongUsage) {
  const std::string out = testing::TempDir() + "init_wrong.f32";
  const std::vector<std::vector<std::string>> wrong = {
      {"--shortcut", "foo"}, {"--head", "foo"}, {"--width", "3"}, {"--channels", "2"}, {"--classes", "0"}};
  for (const std::vector<std::string>& flag : wrong) {
    const Outcome outcome = run_program({"init", flag[0], flag[1], "--out", out});
    EXPECT_EQ(outcome.code, 2) << flag[0] << outcome.err;
    EXPECT_FALSE(std::filesystem::exists(out)) << flag[0];
  }
}

}  // namespace
}  // namespace longtail::cli
