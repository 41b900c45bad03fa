#include "longtail/nn/init.h"
#include "longtail/base/test_paths.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "longtail/nn/testing.h"

namespace longtail::nn {
namespace {

TEST(Init, SumsAndEvery911thWeightAreThoseOfPyTorchForThePapersSeeds) {
  const auto cases =
      nlohmann::json::parse(base::read_text(base::source_dir() + "/longtail/nn/testdata/golden_init.json"));
  ASSERT_EQ(cases.size(), 3u);
  for (const auto& golden : cases) {
    const auto ours =
        initial_parameters(make_spec("resnet32", "projection", 100, 3), golden["seed"].get<std::int64_t>());
    ASSERT_EQ(ours.size(), golden["parameters"].get<std::size_t>());
    double sum = 0, absolute = 0, squares = 0;
    for (const float value : ours) {
      sum += value;
      absolute += std::abs(static_cast<double>(value));
      squares += static_cast<double>(value) * static_cast<double>(value);
    }
    EXPECT_NEAR(sum, golden["sum"].get<double>(), 1e-8 * static_cast<double>(ours.size()));
    EXPECT_NEAR(absolute / golden["absolute_sum"].get<double>(), 1, 1e-7);
    EXPECT_NEAR(squares / golden["square_sum"].get<double>(), 1, 1e-7);
    const auto step = golden["step"].get<std::size_t>();
    ASSERT_EQ(golden["values"].size(), (ours.size() + step - 1) / step);
    for (std::size_t i = 0; i * step < ours.size(); ++i) {
      ASSERT_NEAR(ours[i * step], golden["values"][i].get<double>(), 1e-6) << "element " << i * step;
    }
  }
}

TEST(Init, OtherSeedsModelsClassesShortcutsChannelsAndWidthsAreThoseOfPyTorch) {
  const auto cases =
      nlohmann::json::parse(base::read_text(base::source_dir() + "/longtail/nn/testdata/init_samples.json"));
  ASSERT_GE(cases.size(), 11u);
  for (const auto& c : cases) {
    const auto spec = make_spec(c["model"].get<std::string>(), c["shortcut"].get<std::string>(), c["classes"],
                                c["channels"], c["width"]);
    const auto ours = initial_parameters(spec, c["seed"].get<std::int64_t>());
    ASSERT_EQ(ours.size(), c["parameters"].get<std::size_t>());
    double sum = 0, absolute = 0;
    for (const float value : ours) {
      sum += value;
      absolute += std::abs(value);
    }
    EXPECT_NEAR(sum, c["sum"].get<double>(), 1e-8 * static_cast<double>(ours.size()));
    // PyTorch computes normals in float, a little too small in the mean; it shows in millions of weights.
    EXPECT_NEAR(absolute / c["absolute_sum"].get<double>(), 1.0, spec.width == 1 ? 1e-8 : 3e-8);
    for (std::size_t i = 0; i < c["at"].size(); ++i) {
      EXPECT_NEAR(ours[c["at"][i].get<std::size_t>()], c["values"][i].get<double>(), 1e-6) << c["model"];
    }
  }
}

TEST(Init, BuffersStartAsMeanZeroAndVarianceOne) {
  const auto spec = make_spec("resnet20", "pad", 10, 1);
  const auto layout = parameter_layout(spec);
  const auto buffers = initial_buffers(spec);
  ASSERT_EQ(static_cast<std::int64_t>(buffers.size()), layout.buffer_count);
  EXPECT_EQ(buffers[static_cast<std::size_t>(layout.buffer("layer2.1.bn2.running_mean").offset)], 0.0f);
  EXPECT_EQ(buffers[static_cast<std::size_t>(layout.buffer("layer2.1.bn2.running_var").offset + 31)], 1.0f);
}

}  // namespace
}  // namespace longtail::nn
