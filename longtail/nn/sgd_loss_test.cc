#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "longtail/base/error.h"
#include "longtail/nn/loss.h"
#include "longtail/nn/reference.h"
#include "longtail/nn/sgd.h"

namespace longtail::nn {
namespace {

// Values by hand, one parameter: torch's formula spelled out.
TEST(Sgd, OneParameterFollowsTheFormula) {
  for (const bool nesterov : {true, false}) {
    const SgdConfig config{.lr = 0.1, .momentum = 0.9, .weight_decay = 0.01, .nesterov = nesterov, .clip = 0};
    std::vector<float> p = {2.0f}, v = {0.0f};
    double parameter = 2, momentum = 0;
    for (const float g : {1.0f, -0.5f, 0.25f}) {
      const std::vector<float> gradient = {g};
      EXPECT_DOUBLE_EQ(sgd_step(config, gradient, v, p), std::abs(g));
      const double d = g + 0.01 * parameter;
      momentum = 0.9 * momentum + d;
      parameter -= 0.1 * (nesterov ? d + 0.9 * momentum : momentum);
      EXPECT_NEAR(p[0], parameter, 1e-6);
      EXPECT_NEAR(v[0], momentum, 1e-6);
    }
  }
}

TEST(Sgd, ALongGradientIsClippedBeforeWeightDecayIsAdded) {
  const SgdConfig config{.lr = 1, .momentum = 0, .weight_decay = 0.5, .nesterov = false, .clip = 5};
  std::vector<float> p = {1.0f, 1.0f}, v = {0, 0};
  const std::vector<float> gradient = {30.0f, 40.0f};
  EXPECT_DOUBLE_EQ(sgd_step(config, gradient, v, p), 50.0);
  EXPECT_NEAR(p[0], 1 - (3 + 0.5), 1e-5);
  EXPECT_NEAR(p[1], 1 - (4 + 0.5), 1e-5);
}

TEST(Sgd, AShortGradientIsNotLengthened) {
  const SgdConfig config{.lr = 1, .momentum = 0, .weight_decay = 0, .nesterov = false, .clip = 5};
  std::vector<float> p = {0.0f}, v = {0};
  sgd_step(config, std::vector<float>{0.125f}, v, p);
  EXPECT_EQ(p[0], -0.125f);
}

TEST(Sgd, ANanGradientReachesTheParametersInsteadOfHiding) {
  std::vector<float> p = {1.0f, 1.0f}, v = {0, 0};
  const std::vector<float> gradient = {std::numeric_limits<float>::quiet_NaN(), 0.0f};
  EXPECT_TRUE(std::isnan(sgd_step({}, gradient, v, p)));
  EXPECT_TRUE(std::isnan(p[0]));
}

TEST(Sgd, ArraysOfDifferentLengthsAreRefused) {
  std::vector<float> p(3), v(2);
  EXPECT_THROW(sgd_step({}, std::vector<float>(3), v, p), base::Error);
}

TEST(Norm, OddLengthsAreSummedWhole) {
  for (const int n : {0, 1, 15, 16, 17, 1000}) {
    std::vector<float> values(static_cast<std::size_t>(n), 2.0f);
    EXPECT_DOUBLE_EQ(norm(values), 2 * std::sqrt(n));
  }
}

TEST(CrossEntropy, EqualsTheReferenceAndItsGradientSumsToZero) {
  const auto loss = make_loss("cross_entropy", {});
  const std::vector<float> logits = {0.5f, -2.0f, 3.25f, 0.0f};
  std::vector<float> gradient(4);
  const double value = loss->value(logits, 1, gradient);
  const std::vector<double> wide(logits.begin(), logits.end());
  std::vector<double> expected(4);
  EXPECT_NEAR(value, reference::cross_entropy<double>(wide, 1, expected), 1e-12);
  double sum = 0;
  for (std::size_t k = 0; k < 4; ++k) {
    EXPECT_NEAR(gradient[k], expected[k], 1e-7);
    sum += gradient[k];
  }
  EXPECT_NEAR(sum, 0, 1e-7);
}

TEST(CrossEntropy, HugeLogitsDoNotOverflow) {
  const auto loss = make_loss("cross_entropy", {});
  std::vector<float> gradient(2);
  EXPECT_DOUBLE_EQ(loss->value(std::vector<float>{1e30f, 0.0f}, 0, gradient), 0.0);
  EXPECT_NEAR(loss->value(std::vector<float>{1000.0f, 0.0f}, 1, gradient), 1000.0, 1e-9);
  EXPECT_FLOAT_EQ(gradient[0], 1.0f);
}

TEST(Loss, AnUnknownLossIsExplained) { EXPECT_THROW(make_loss("crossentropy", {}), base::Error); }

}  // namespace
}  // namespace longtail::nn
