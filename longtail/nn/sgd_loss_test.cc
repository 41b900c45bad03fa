#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "longtail/base/error.h"
#include "longtail/nn/loss.h"
#include "longtail/nn/reference_layers.h"
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

// The gradient of every loss against differences of its value, with one class rare and one without images.
TEST(Loss, EveryGradientIsTheSlopeOfItsValue) {
  const std::vector<std::int64_t> counts = {500, 40, 0, 3};
  for (const char* text : {"cross_entropy", "class_weighted", "class_weighted:power=0.5", "logit_adjusted",
                           "logit_adjusted:tau=0", "logit_adjusted:tau=1.7", "focal", "focal:gamma=0",
                           "focal:gamma=0.5", "focal:gamma=5"}) {
    const auto loss = make_loss(text, counts);
    for (const std::int32_t label : {0, 1, 3}) {
      for (const std::vector<float>& logits :
           {std::vector<float>{0.5f, -2.0f, 3.25f, 0.0f}, {0, 0, 0, 0}, {6, -6, 1, 8}, {-1, 2, -3, 0.25f}}) {
        std::vector<float> gradient(4), ignored(4);
        loss->value(logits, label, gradient);
        for (std::size_t k = 0; k < 4; ++k) {
          std::vector<float> up = logits, down = logits;
          up[k] += 1.0f / 128;
          down[k] -= 1.0f / 128;
          const double slope = (loss->value(up, label, ignored) - loss->value(down, label, ignored)) * 64;
          EXPECT_NEAR(gradient[k], slope, 1e-4 * (1 + std::abs(slope))) << text << " " << label << " " << k;
        }
      }
    }
  }
}

TEST(Loss, ValuesAreThoseOfTheFormulas) {
  const std::vector<std::int64_t> counts = {80, 15, 5};
  const std::vector<float> logits = {0.3f, -0.2f, 1.0f};
  std::vector<float> gradient(3);
  const auto log_p = [&](const std::vector<double>& z, std::size_t label) {
    double total = 0;
    for (const double one : z) total += std::exp(one);
    return z[label] - std::log(total);
  };
  const std::vector<double> wide(logits.begin(), logits.end());
  for (const std::int32_t label : {0, 1, 2}) {
    const auto at = static_cast<std::size_t>(label);
    const auto n = static_cast<double>(counts[at]);
    const double plain = -log_p(wide, at), p = std::exp(-plain);
    const auto value = [&](const char* text) {
      return make_loss(text, counts)->value(logits, label, gradient);
    };
    EXPECT_NEAR(value("class_weighted"), 100.0 / (3 * n) * plain, 1e-12);
    EXPECT_NEAR(value("class_weighted:power=0"), plain, 1e-12);
    EXPECT_NEAR(value("focal"), (1 - p) * (1 - p) * plain, 1e-12);
    EXPECT_NEAR(value("focal:gamma=0"), plain, 1e-12);
    std::vector<double> shifted = wide;
    for (std::size_t k = 0; k < 3; ++k) shifted[k] += 0.5 * std::log(static_cast<double>(counts[k]) / 100);
    EXPECT_NEAR(value("logit_adjusted:tau=0.5"), -log_p(shifted, at), 1e-12);
  }
}

TEST(Loss, ACertainPredictionDoesNotDivideByZero) {
  std::vector<float> gradient(2);
  for (const char* text : {"focal", "focal:gamma=0.5", "focal:gamma=0"}) {
    EXPECT_EQ(std::abs(make_loss(text, {})->value(std::vector<float>{1000, 0}, 0, gradient)), 0) << text;
    EXPECT_EQ(std::abs(gradient[0]), 0) << text;
  }
}

TEST(Loss, HasOneNameHoweverItIsWritten) {
  EXPECT_EQ(canonical_loss(" focal:gamma=2 "), "focal");
  EXPECT_EQ(canonical_loss("focal: gamma=0.50"), "focal:gamma=0.5");
  EXPECT_EQ(canonical_loss("cross_entropy"), "cross_entropy");
}

std::string refusal(const char* text) {
  try {
    make_loss(text, {});
  } catch (const base::Error& error) {
    return error.what();
  }
  return "";
}

TEST(Loss, AnUnknownLossIsExplained) { EXPECT_THROW(make_loss("crossentropy", {}), base::Error); }

TEST(Loss, WhatIsNoLossIsExplainedInASentence) {
  EXPECT_EQ(refusal("crossentropy"),
            "unknown loss `crossentropy`; there are cross_entropy, class_weighted, logit_adjusted, focal, "
            "deferred, ldam, vs, label_smoothing, label_aware_smoothing; did you mean `cross_entropy`?");
  EXPECT_EQ(refusal("focal:tau=1"), "loss `focal`: unknown key `tau`; it takes gamma");
  EXPECT_NE(refusal("focal:gamma=-1"), "");
  EXPECT_NE(refusal("focal:gamma=x"), "");
  EXPECT_NE(refusal("focal:"), "");
  EXPECT_EQ(refusal("cross_entropy:a=1"), "loss `cross_entropy`: it has no parameters, but got `a`");
}

}  // namespace
}  // namespace longtail::nn
