#include "longtail/nn/loss.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "longtail/base/error.h"
#include "longtail/base/file.h"
#include "longtail/base/test_paths.h"
#include "longtail/nn/image_loss.h"

namespace longtail::nn {
namespace {

// testdata/make_losses.py: each formula in PyTorch, in double, by autograd.
TEST(Loss, ValuesAndGradientsAreThoseOfPyTorchForEveryLoss) {
  const auto golden =
      nlohmann::json::parse(base::read_text(base::source_dir() + "/longtail/nn/testdata/losses.json"));
  const auto counts = golden.at("counts").get<std::vector<std::int64_t>>();
  std::vector<std::string> seen;
  for (const auto& one : golden.at("cases")) {
    const auto text = one.at("loss").get<std::string>();
    const auto logits = one.at("logits").get<std::vector<float>>();
    const auto expected = one.at("gradient").get<std::vector<double>>();
    std::vector<float> gradient(logits.size());
    const double value = make_loss(text, counts)->value(logits, one.at("label").get<int>(), gradient);
    EXPECT_NEAR(value, one.at("value").get<double>(), 1e-9 * (1 + std::abs(value))) << text;
    for (std::size_t k = 0; k < gradient.size(); ++k) {
      EXPECT_NEAR(gradient[k], expected[k], 3e-7 * (1 + std::abs(expected[k]))) << text << " " << k;
    }
    seen.push_back(text.substr(0, text.find(':')));
  }
  for (const base::VariantInfo& info : losses()) {
    if (info.name == "deferred") continue;  // made of others
    EXPECT_NE(std::find(seen.begin(), seen.end(), info.name), seen.end()) << info.name;
  }
}

TEST(Loss, EveryGradientOfTheNewerLossesIsTheSlopeOfItsValue) {
  const std::vector<std::int64_t> counts = {500, 40, 0, 3};
  for (const char* text :
       {"class_weighted:beta=0.999", "ldam:scale=4", "ldam:max_margin=0.3,scale=10,beta=0.99", "vs",
        "vs:tau=0,gamma=0.5", "label_smoothing:epsilon=0.2", "label_aware_smoothing",
        "deferred:first=focal,then=ldam(scale=1)"}) {
    const auto loss = make_loss(text, counts);
    for (const std::int32_t label : {0, 1, 3}) {
      for (const std::vector<float>& logits :
           {std::vector<float>{0.5f, -2.0f, 1.25f, 0.0f}, {0, 0, 0, 0}, {-1, 2, -3, 0.25f}}) {
        std::vector<float> gradient(4), ignored(4);
        loss->value(logits, label, gradient);
        for (std::size_t k = 0; k < 4; ++k) {
          constexpr float kStep = 1.0f / 4096;
          std::vector<float> up = logits, down = logits;
          up[k] += kStep;
          down[k] -= kStep;
          const double slope =
              (loss->value(up, label, ignored) - loss->value(down, label, ignored)) / (2 * kStep);
          EXPECT_NEAR(gradient[k], slope, 1e-5 * (1 + std::abs(slope))) << text << " " << label << " " << k;
        }
      }
    }
  }
}

TEST(Loss, DeferredChangesAtItsEpochOrItsPartOfTheTraining) {
  const std::vector<std::int64_t> counts = {80, 15, 5};
  const auto by_epoch = make_loss("deferred:then=class_weighted(beta=0.9999),at=160", counts);
  EXPECT_EQ(by_epoch->name(), "deferred:then=class_weighted(beta=0.9999),at=160");
  EXPECT_EQ(by_epoch->at({159, 200}).name(), "cross_entropy");
  EXPECT_EQ(by_epoch->at({160, 200}).name(), "class_weighted:beta=0.9999");
  const auto by_part = make_loss("deferred:first=ldam,then=ldam(beta=0.9999),at=0.75", counts);
  EXPECT_EQ(by_part->at({149, 200}).name(), "ldam");
  EXPECT_EQ(by_part->at({150, 200}).name(), "ldam:beta=0.9999");
  EXPECT_EQ(by_part->logit_scale(), 30);
  EXPECT_EQ(make_loss("deferred:first=deferred(at=10),then=focal,at=20", counts)->at({15, 30}).name(),
            "class_weighted");
  EXPECT_EQ(make_loss("deferred:first=deferred(at=150),then=focal,at=100", counts)->deferral(200)->changes,
            (std::vector<int>{150, 100}));
  EXPECT_THROW(make_loss("deferred:then=ldam", counts), base::Error);
  EXPECT_THROW(make_loss("class_weighted:power=2,beta=0.9", counts), base::Error);
}

TEST(Loss, WeightsByEffectiveNumberAreOneInTheMeanOverTheImages) {
  const std::vector<std::int64_t> counts = {500, 40, 3};
  const auto weighted = make_loss("class_weighted:beta=0.9999", counts),
             plain = make_loss("cross_entropy", counts);
  const std::vector<float> logits = {0.5f, -1.0f, 2.0f};
  std::vector<float> ignored(3);
  double sum = 0;
  for (std::int32_t y = 0; y < 3; ++y) {
    sum += static_cast<double>(counts[static_cast<std::size_t>(y)]) * weighted->value(logits, y, ignored) /
           plain->value(logits, y, ignored);
  }
  EXPECT_NEAR(sum / 543, 1, 1e-12);
}

TEST(ImageLoss, OfAMixedImageIsTheWeightedSumOfBothLabelsAndItsHitIsAtTheHeavierOne) {
  const auto loss = make_loss("focal", {});
  const std::vector<float> logits = {0.5f, -1.0f, 2.0f};
  const std::vector<std::int32_t> first = {0, 0, 2}, second = {2, 2, 1};
  const std::vector<float> weight = {0.25f, 0.5f, 1.0f};
  std::vector<std::uint8_t> hits(3, 9);
  const Batch batch{nullptr, first, 3, second, weight, hits};
  std::vector<float> a(3), b(3), mixed(3);
  bool hit = false;
  const double va = loss->value(logits, 0, a), vb = loss->value(logits, 2, b);
  EXPECT_DOUBLE_EQ(image_loss(*loss, batch, 0, logits, mixed, hit), 0.25 * va + 0.75 * vb);
  for (std::size_t k = 0; k < 3; ++k) EXPECT_FLOAT_EQ(mixed[k], 0.25f * a[k] + 0.75f * b[k]);
  EXPECT_TRUE(hit);
  image_loss(*loss, batch, 1, logits, mixed, hit);
  EXPECT_FALSE(hit);  // equal weights: the first label counts
  EXPECT_EQ(image_loss(*loss, batch, 2, logits, mixed, hit), vb);
  EXPECT_EQ(mixed, b);
  EXPECT_EQ(hits, (std::vector<std::uint8_t>{1, 0, 1}));
}

}  // namespace
}  // namespace longtail::nn
