// The classifier against the plain loops of the reference, and its order of additions.
#include "longtail/nn/head.h"

#include <gtest/gtest.h>

#include <cstring>

#include "longtail/base/cpu.h"
#include "longtail/base/error.h"
#include "longtail/base/scoped_variable.h"
#include "longtail/nn/reference_layers.h"
#include "longtail/nn/testing.h"

namespace longtail::nn {
namespace {

std::vector<float> numbers(std::size_t count, std::uint32_t what) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = noise(what, i);
  return values;
}
std::vector<double> wide(std::span<const float> values) { return {values.begin(), values.end()}; }

TEST(Classifier, EqualsThePlainLoopsForEveryWidth) {
  for (const int width : {1, 2, 4}) {
    const ResNetSpec spec = make_spec("resnet20", "pad", 37, 3, width, 32);
    const NetworkPlan plan = network_plan(spec);
    const auto classes = static_cast<std::size_t>(plan.classes),
               width_features = static_cast<std::size_t>(plan.features);
    constexpr std::size_t kImages = 5;
    const std::vector<float> parameters = numbers(static_cast<std::size_t>(plan.parameter_count), 1);
    const std::vector<float> features = numbers(kImages * width_features, 2),
                             slopes = numbers(kImages * classes, 3);
    const auto weight =
        std::span(parameters).subspan(static_cast<std::size_t>(plan.linear_weight), classes * width_features);
    const auto bias = std::span(parameters).subspan(static_cast<std::size_t>(plan.linear_bias), classes);
    const std::vector<double> expected =
        reference::linear<double>(wide(features), wide(weight), wide(bias), kImages);
    std::vector<double> weight_gradient(weight.size()), bias_gradient(classes);
    const std::vector<double> back = reference::linear_backward<double>(
        wide(features), wide(weight), wide(slopes), kImages, weight_gradient, bias_gradient);
    const auto classifier = make_classifier<float>(spec);
    classifier->begin(parameters);
    std::vector<float> logits(expected.size()), feature_gradient(back.size()), gradient(parameters.size());
    for (std::size_t i = 0; i < kImages; ++i) {
      classifier->forward(features.data() + i * width_features, logits.data() + i * classes);
      classifier->backward(features.data() + i * width_features, slopes.data() + i * classes,
                           feature_gradient.data() + i * width_features);
    }
    classifier->parameter_gradient(kImages, 0, 20, slopes.data(), features.data(), gradient);
    classifier->parameter_gradient(kImages, 20, plan.classes, slopes.data(), features.data(), gradient);
    EXPECT_LT(largest_difference(logits, expected), 2e-5);
    EXPECT_LT(largest_difference(feature_gradient, back), 1e-5);
    EXPECT_LT(largest_difference(
                  std::span(gradient).subspan(static_cast<std::size_t>(plan.linear_weight), weight.size()),
                  weight_gradient),
              1e-5);
    EXPECT_LT(
        largest_difference(std::span(gradient).subspan(static_cast<std::size_t>(plan.linear_bias), classes),
                           bias_gradient),
        1e-5);
  }
}

// Sixteen lanes, then halves: the order of a vector register of sixteen floats, whatever the CPU has.
TEST(Classifier, AddsInTheOrderOfSixteenLanes) {
  const ResNetSpec spec = make_spec("resnet20", "pad", 3, 3);
  const NetworkPlan plan = network_plan(spec);
  const std::vector<float> parameters = numbers(static_cast<std::size_t>(plan.parameter_count), 4);
  const std::vector<float> features = numbers(64, 5);
  const auto classifier = make_classifier<float>(spec);
  classifier->begin(parameters);
  std::vector<float> logits(3);
  classifier->forward(features.data(), logits.data());
  for (std::size_t c = 0; c < 3; ++c) {
    const float* w = parameters.data() + plan.linear_weight + 64 * c;
    float lane[16];
    for (std::size_t l = 0; l < 16; ++l) {
      lane[l] = w[l] * features[l];
      for (std::size_t f = 16; f < 64; f += 16) lane[l] = std::fma(w[f + l], features[f + l], lane[l]);
    }
    float eight[8], four[4];
    for (std::size_t l = 0; l < 8; ++l) eight[l] = lane[l] + lane[l + 8];
    for (std::size_t l = 0; l < 4; ++l) four[l] = eight[l] + eight[l + 4];
    const float sum = (four[0] + four[2]) + (four[1] + four[3]);
    EXPECT_EQ(logits[c], sum + parameters[static_cast<std::size_t>(plan.linear_bias) + c]);
  }
}

// Logits, gradient of the features and gradient of the parameters of a few images, one after the other.
std::vector<float> said_by_classifier(const ResNetSpec& spec) {
  const NetworkPlan plan = network_plan(spec);
  const auto classes = static_cast<std::size_t>(plan.classes),
             width = static_cast<std::size_t>(plan.features);
  constexpr std::size_t kImages = 5;
  const std::vector<float> parameters = numbers(static_cast<std::size_t>(plan.parameter_count), 6),
                           features = numbers(kImages * width, 7), slopes = numbers(kImages * classes, 8);
  const auto classifier = make_classifier<float>(spec);
  classifier->begin(parameters);
  std::vector<float> said(kImages * (classes + width) + parameters.size());
  float* back = said.data() + kImages * classes;
  for (std::size_t i = 0; i < kImages; ++i) {
    const float* of_image = features.data() + i * width;
    classifier->forward(of_image, said.data() + i * classes);
    classifier->backward(of_image, slopes.data() + i * classes, back + i * width);
  }
  classifier->parameter_gradient(kImages, 0, plan.classes, slopes.data(), features.data(),
                                 std::span(said).subspan(kImages * (classes + width)));
  return said;
}

TEST(Classifier, SaysTheSameBytesOnEveryInstructionSetOfTheMachine) {
  for (const Head head : {Head::kLinear, Head::kCosine}) {
    for (const int width : {1, 4}) {
      ResNetSpec spec = make_spec("resnet20", "pad", 37, 3, width, 32);
      spec.head = head;
      std::vector<float> first;
      for (const base::Cpu cpu : base::cpus_here()) {
        const base::ScopedVariable forced("LONGTAIL_CPU", base::cpu_name(cpu));
        const std::vector<float> said = said_by_classifier(spec);
        if (first.empty()) first = said;
        ASSERT_EQ(said.size(), first.size());
        EXPECT_EQ(std::memcmp(said.data(), first.data(), said.size() * sizeof(float)), 0)
            << base::cpu_name(cpu) << ", width " << width;
      }
    }
  }
}

// What the test above rests on: the variable is asked each time, so that another instruction set is other code
// within one process too.
TEST(Classifier, TakesItsLoopsWhenItIsMade) {
  const ResNetSpec spec = make_spec("resnet20", "pad", 3, 3);
  const base::ScopedVariable unknown("LONGTAIL_CPU", "abacus");
  EXPECT_THROW(make_classifier<float>(spec), base::Error);
}

}  // namespace
}  // namespace longtail::nn
