// Ten whole steps (forward, backward, clipping, SGD) and an evaluation against PyTorch, where rounding does
// not grow: testdata/make_steps.py wrote steps.json.
#include <gtest/gtest.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <vector>

#include "longtail/base/file.h"
#include "longtail/base/test_paths.h"
#include "longtail/nn/engine.h"
#include "longtail/nn/init.h"
#include "longtail/nn/sgd.h"
#include "longtail/nn/testing.h"

namespace longtail::nn {
namespace {

constexpr int kBatch = 24;

// The generator of make_steps.py.
std::vector<float> made_up_images(std::size_t count) {
  std::uint32_t state = 1;
  std::vector<float> values(count);
  for (float& value : values) {
    state = state * 1664525u + 1013904223u;
    value = static_cast<float>(static_cast<double>(state) * 0x1p-30 - 2);
  }
  return values;
}

void follow(const std::string& kind, const nlohmann::json& expected) {
  const int channels = expected["channels"];
  const ResNetSpec spec = make_spec("resnet20", expected["shortcut"].get<std::string>(), 10, channels);
  const std::size_t pixels = static_cast<std::size_t>(channels) * data::kPixels;
  const auto images = made_up_images(10 * kBatch * pixels);
  std::vector<std::int32_t> labels;
  for (int i = 0; i < 10 * kBatch; ++i) labels.push_back(i % 10);
  base::ThreadPool pool(2);
  const auto engine = make_engine(kind, spec, kBatch, pool);
  const auto loss = make_loss("cross_entropy", {});
  auto parameters = initial_parameters(spec, 42);
  auto buffers = initial_buffers(spec);
  std::vector<float> gradient(parameters.size()), momentum(parameters.size()), logits(10 * kBatch);
  const SgdConfig sgd{
      .lr = 0.002, .momentum = 0.9, .weight_decay = 0.01, .nesterov = expected["nesterov"], .clip = 0.5};
  for (std::size_t i = 0; i < 10; ++i) {
    const Batch batch{images.data() + i * kBatch * pixels, std::span(labels).subspan(i * kBatch, kBatch),
                      kBatch};
    const StepResult step = engine->gradient(parameters, buffers, batch, *loss, gradient);
    const double length = sgd_step(sgd, gradient, momentum, parameters);
    EXPECT_NEAR(step.loss / expected["steps"][i]["loss"].get<double>(), 1, 1e-5) << "step " << i;
    EXPECT_NEAR(length / expected["steps"][i]["grad_norm"].get<double>(), 1, 2e-3) << "step " << i;
  }
  engine->predict(parameters, buffers, {images.data(), {}, kBatch}, logits);
  EXPECT_LT(largest_difference(logits, expected["eval_logits"].get<std::vector<double>>()), 1e-4);
}

TEST(Steps, TenStepsAndAnEvaluationFollowPyTorch) {
  const auto cases =
      nlohmann::json::parse(base::read_text(base::source_dir() + "/longtail/nn/testdata/steps.json"));
  ASSERT_EQ(cases.size(), 3u);
  for (const auto& expected : cases) {
    SCOPED_TRACE(expected["shortcut"].get<std::string>() + (expected["nesterov"] ? ", Nesterov" : ", plain"));
    follow("simd", expected);
  }
}

}  // namespace
}  // namespace longtail::nn
