// The cosine head against PyTorch (testdata/make_cosine.py) and against finite differences.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "longtail/base/error.h"
#include "longtail/nn/conformance.h"
#include "longtail/nn/gradient_sketch.h"
#include "longtail/nn/head.h"
#include "longtail/nn/registry.h"
#include "longtail/nn/testing.h"

namespace longtail::nn {
namespace {

const nlohmann::json& golden() {
  static const auto file =
      nlohmann::json::parse(base::read_text(base::source_dir() + "/longtail/nn/testdata/cosine.json"));
  return file;
}

ResNetSpec cosine_spec(int classes, int side = 32) {
  return make_spec("resnet20", "projection", classes, 3, 1, side, "cosine");
}

TEST(CosineHead, InitialWeightsAreThoseOfPyTorch) {
  ASSERT_EQ(golden()["initial"].size(), 3U);
  for (const auto& c : golden()["initial"]) {
    const ResNetSpec spec = make_spec(c["model"].get<std::string>(), c["shortcut"].get<std::string>(),
                                      c["classes"], 3, c["width"], 32, "cosine");
    const auto ours = initial_parameters(spec, c["seed"].get<std::int64_t>());
    ASSERT_EQ(ours.size(), c["parameters"].get<std::size_t>());
    for (std::size_t i = 0; i < c["at"].size(); ++i) {
      EXPECT_NEAR(ours[c["at"][i].get<std::size_t>()], c["values"][i].get<double>(), 1e-6)
          << c["model"] << " at " << c["at"][i];
    }
  }
}

template <class T>
void expect_the_head_of_pytorch(double slack) {
  constexpr int kClasses = 7, kImages = 4, kWidth = 64;
  const ResNetSpec spec = cosine_spec(kClasses);
  const NetworkPlan plan = network_plan(spec);
  EXPECT_EQ(plan.linear_bias, -1);
  std::vector<T> parameters(static_cast<std::size_t>(plan.parameter_count)), gradient(parameters.size());
  std::vector<T> x, slopes, logits(kImages * kClasses), back(kImages * kWidth);
  for (int c = 0; c < kClasses; ++c) {
    for (int f = 0; f < kWidth; ++f) {
      parameters[static_cast<std::size_t>(plan.linear_weight + c * kWidth + f)] =
          static_cast<float>(((c * 31 + f * 17) % 29 - 14) / 40.0);
    }
  }
  for (int i = 0; i < kImages; ++i) {
    for (int f = 0; f < kWidth; ++f) x.push_back(static_cast<float>(((i * 13 + f * 7) % 19) / 19.0));
    for (int c = 0; c < kClasses; ++c) slopes.push_back(static_cast<float>(((i * 5 + c * 3) % 11 - 5) / 8.0));
  }
  const auto head = make_classifier<T>(spec);
  head->begin(parameters);
  for (std::size_t i = 0; i < kImages; ++i) {
    head->forward(x.data() + i * kWidth, logits.data() + i * kClasses);
    head->backward(x.data() + i * kWidth, slopes.data() + i * kClasses, back.data() + i * kWidth);
  }
  head->parameter_gradient(kImages, 0, 3, slopes.data(), x.data(), gradient);
  head->parameter_gradient(kImages, 3, kClasses, slopes.data(), x.data(), gradient);
  const auto& file = golden()["head"];
  for (std::size_t i = 0; i < logits.size(); ++i)
    EXPECT_NEAR(logits[i], file["logits"][i].get<double>(), slack);
  for (std::size_t i = 0; i < back.size(); i += 5)
    EXPECT_NEAR(back[i], file["feature_gradient"][i / 5].get<double>(), slack);
  for (std::size_t i = 0; i < kClasses * kWidth; i += 5) {
    EXPECT_NEAR(gradient[static_cast<std::size_t>(plan.linear_weight) + i],
                file["weight_gradient"][i / 5].get<double>(), slack);
  }
}

TEST(CosineHead, LogitsAndGradientsAreThoseOfPyTorch) {
  expect_the_head_of_pytorch<double>(1e-12);
  expect_the_head_of_pytorch<float>(1e-6);
}

// d(slopes . logits) along every parameter and every feature, in double.
TEST(CosineHead, GradientsAreFiniteDifferences) {
  const ResNetSpec spec = cosine_spec(3);
  const NetworkPlan plan = network_plan(spec);
  std::vector<double> parameters(static_cast<std::size_t>(plan.parameter_count)), gradient(parameters.size());
  for (std::size_t i = 0; i < parameters.size(); ++i) parameters[i] = noise(1, i);
  std::vector<double> x(64), back(64), slopes = {0.5, -1.25, 2}, logits(3);
  for (std::size_t f = 0; f < x.size(); ++f) x[f] = noise(2, f);
  const auto head = make_classifier<double>(spec);
  const auto value = [&] {
    head->begin(parameters);
    head->forward(x.data(), logits.data());
    return slopes[0] * logits[0] + slopes[1] * logits[1] + slopes[2] * logits[2];
  };
  value();
  head->backward(x.data(), slopes.data(), back.data());
  head->parameter_gradient(1, 0, 3, slopes.data(), x.data(), gradient);
  constexpr double kStep = 1e-5;
  const auto slope = [&](double& at) {
    const double before = at;
    at = before + kStep;
    const double above = value();
    at = before - kStep;
    const double below = value();
    at = before;
    return (above - below) / (2 * kStep);
  };
  for (std::size_t f = 0; f < x.size(); ++f) EXPECT_NEAR(back[f], slope(x[f]), 1e-8);
  for (auto i = static_cast<std::size_t>(plan.linear_weight); i < parameters.size(); i += 7)
    EXPECT_NEAR(gradient[i], slope(parameters[i]), 1e-8);
}

TEST(CosineHead, AStepOfTheWholeNetworkUnderLdamIsThatOfPyTorch) {
  constexpr double kLimit = 1e-4;
  const ResNetSpec spec = cosine_spec(7, 16);
  const auto& c = golden()["step"];
  auto state = c["start"].get<std::uint32_t>();
  const std::vector<std::int32_t> labels = {static_cast<std::int32_t>(state % 7)};
  std::vector<float> images(data::ImageShape{3, 16}.values());
  for (float& pixel : images) pixel = static_cast<float>(next(state) / 1073741824.0 - 2);
  base::ThreadPool pool(2);
  const auto engine = make_engine("reference", spec, 1, pool);
  const std::vector<float> parameters = initial_parameters(spec, 42);
  std::vector<float> buffers = initial_buffers(spec), gradient(parameters.size()), logits(7);
  const Batch batch{images.data(), labels, 1};
  engine->predict(parameters, buffers, batch, logits);
  for (std::size_t k = 0; k < 7; ++k) EXPECT_NEAR(logits[k], c["logits"][k].get<double>(), 1e-5);
  const std::vector<std::int64_t> counts = {500, 200, 80, 30, 12, 6, 5};
  const StepResult step = engine->gradient(parameters, buffers, batch, *make_loss("ldam", counts), gradient);
  EXPECT_NEAR(step.loss, c["loss"].get<double>(), 1e-4);
  const auto& views = parameter_layout(spec).parameters;
  ASSERT_EQ(views.size(), c["norms"].size());
  const GradientSketch ours = sketch(spec, gradient, c["products"]);
  for (std::size_t v = 0; v < views.size(); ++v) {
    EXPECT_NEAR(ours.norms[v], c["norms"][v].get<double>(), kLimit * c["norm"].get<double>())
        << views[v].name;
  }
  EXPECT_LT(ours.distance, kLimit);
}

TEST(CosineHead, EveryEngineThatDoesItAgreesWithTheReferenceOnAnyNumberOfThreads) {
  const Problem problem = exact_problem(cosine_spec(5), 16);
  const Answer expected = answer_of("reference", problem, 2);
  for (const std::string& engine : engines_for(problem.spec)) {
    if (engine == "reference") continue;
    const Answer two = answer_of(engine, problem, 2), three = answer_of(engine, problem, 3);
    EXPECT_THAT(disagreements(problem.spec, two, expected, tolerance_of(engine)), testing::IsEmpty())
        << engine;
    EXPECT_EQ(two.gradient, three.gradient) << engine;
    EXPECT_EQ(two.logits, three.logits) << engine;
  }
}

}  // namespace
}  // namespace longtail::nn
