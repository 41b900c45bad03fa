#include "longtail/nn/resnet.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "longtail/base/error.h"
#include "longtail/base/file.h"
#include "longtail/nn/testing.h"

namespace longtail::nn {
namespace {

TEST(ResNet, NamesAndShapesAreThoseOfPyTorchInItsOrder) {
  const auto golden =
      nlohmann::json::parse(base::read_text(base::source_dir() + "/longtail/nn/testdata/parameters.json"));
  const ParameterLayout layout = parameter_layout(make_spec("resnet32", "projection", 100, 3));
  for (const auto& [key, views] :
       {std::pair{"parameters", &layout.parameters}, std::pair{"buffers", &layout.buffers}}) {
    ASSERT_EQ(golden[key].size(), views->size());
    for (std::size_t i = 0; i < views->size(); ++i) {
      EXPECT_EQ((*views)[i].name, golden[key][i]["name"].get<std::string>());
      EXPECT_EQ((*views)[i].shape, golden[key][i]["shape"].get<std::vector<int>>());
    }
  }
}

TEST(ResNet, ParameterCountsAreTheKnownOnes) {
  const auto count = [](const char* model, const char* shortcut, int classes) {
    return parameter_layout(make_spec(model, shortcut, classes, 3)).parameter_count;
  };
  EXPECT_EQ(count("resnet32", "projection", 100), 472756);
  // He et al. 2016, table 6 (pad shortcut, 10 classes): 0.27, 0.46, 0.66, 0.85 and 1.7 million.
  EXPECT_EQ(count("resnet20", "pad", 10), 269722);
  EXPECT_EQ(count("resnet32", "pad", 10), 464154);
  EXPECT_EQ(count("resnet44", "pad", 10), 658586);
  EXPECT_EQ(count("resnet56", "pad", 10), 853018);
  EXPECT_EQ(count("resnet110", "pad", 10), 1727962);
}

TEST(ResNet, ViewsTileTheFlatArrays) {
  for (const char* shortcut : {"projection", "pad"}) {
    const ParameterLayout layout = parameter_layout(make_spec("resnet20", shortcut, 7, 1));
    std::int64_t next = 0;
    for (const View& view : layout.parameters) {
      EXPECT_EQ(view.offset, next) << view.name;
      next += view.size;
    }
    EXPECT_EQ(next, layout.parameter_count);
    next = 0;
    for (const View& view : layout.buffers) {
      EXPECT_EQ(view.offset, next) << view.name;
      next += view.size;
    }
    EXPECT_EQ(next, layout.buffer_count);
  }
}

TEST(ResNet, ThePlanPointsAtTheNamedParts) {
  const ResNetSpec spec = make_spec("resnet32", "projection", 100, 3);
  const ParameterLayout layout = parameter_layout(spec);
  const NetworkPlan plan = network_plan(spec);
  ASSERT_EQ(plan.blocks.size(), 15u);
  EXPECT_EQ(plan.blocks[5].skip, Skip::kProjection);
  EXPECT_EQ(plan.blocks[6].skip, Skip::kIdentity);
  EXPECT_EQ(plan.blocks[5].projection.weight, layout.parameter("layer2.0.shortcut.0.weight").offset);
  EXPECT_EQ(plan.blocks[14].second.beta, layout.parameter("layer3.4.bn2.bias").offset);
  EXPECT_EQ(plan.blocks[14].second.variance, layout.buffer("layer3.4.bn2.running_var").offset);
  EXPECT_EQ(plan.linear_bias, layout.parameter("linear.bias").offset);
}

TEST(ResNet, AnUnknownModelOrShortcutIsExplained) {
  EXPECT_THROW(
      {
        try {
          make_spec("resnet23", "projection", 10, 3);
        } catch (const base::Error& error) {
          EXPECT_NE(std::string(error.what()).find("resnet20, resnet32"), std::string::npos) << error.what();
          throw;
        }
      },
      base::Error);
  EXPECT_THROW(make_spec("resnet32", "projected", 10, 3), base::Error);
  EXPECT_THROW(make_spec("resnet32", "pad", 0, 3), base::Error);
  EXPECT_THROW(make_spec("resnet32", "pad", 10, 2), base::Error);
  EXPECT_THROW(parameter_layout({}).parameter("layer9.weight"), base::Error);
}

}  // namespace
}  // namespace longtail::nn
