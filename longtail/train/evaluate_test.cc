#include "longtail/train/evaluate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "longtail/nn/loss.h"
#include "longtail/train/testing.h"

namespace longtail::train {
namespace {

// Says of every image the same.
class OneAnswer final : public nn::Engine {
 public:
  explicit OneAnswer(std::vector<float> logits) : logits_(std::move(logits)) {}
  std::string_view name() const override { return "one answer"; }
  const nn::ResNetSpec& spec() const override { return spec_; }
  data::PixelLayout input_layout() const override { return data::PixelLayout::kNchwF32; }
  nn::StepResult gradient(std::span<const float>, std::span<float>, const nn::Batch&, const nn::Loss&,
                          std::span<float>) override {
    return {};
  }
  void predict(std::span<const float>, std::span<const float>, const nn::Batch& batch,
               std::span<float> logits) override {
    for (int i = 0; i < batch.size; ++i)
      std::copy(logits_.begin(), logits_.end(), logits.begin() + i * static_cast<long>(logits_.size()));
  }
  void image_gradients(std::span<const float>, std::span<const float>, const nn::Batch&, const nn::Loss&,
                       const ImageSink&) override {}

 private:
  nn::ResNetSpec spec_;
  std::vector<float> logits_;
};

TEST(LogitScale, IsThatOfTheLossForEveryHeadAndOneAfterRebalancing) {
  RunConfig config;
  EXPECT_EQ(logit_scale(config), 1);
  for (const char* head : {"linear", "cosine"}) {
    config.head = head;
    config.loss = "ldam";
    EXPECT_EQ(logit_scale(config), 30) << head;
    config.loss = "deferred:first=ldam(scale=20),then=ldam(scale=20,beta=0.9999)";
    EXPECT_EQ(logit_scale(config), 20) << head;
  }
  config.head = "linear";
  config.rebalance = "crt";
  EXPECT_EQ(logit_scale(config), 1);
}

// With a margin of 0 ldam is the cross-entropy of scaled logits, so it says what the test loss must be.
TEST(Evaluate, TheTestLossOfALinearHeadIsOfTheLogitsThatItsLossMultiplies) {
  RunConfig config;
  config.loss = "ldam:max_margin=0";
  const data::Dataset data = toy_dataset(3, 2, 2);
  const std::vector<float> logits = {0.02F, -0.03F, 0.05F};
  OneAnswer engine(logits);
  const EvaluationSet set{data, data.test, {}, std::vector<data::Group>(3), logit_scale(config)};
  const EpochResult result = evaluate(engine, {}, set, 4).result();
  const std::vector<std::int64_t> counts = {2, 2, 2};
  const auto loss = nn::make_loss(config.loss, counts);
  double expected = 0;
  std::vector<float> gradient(3);
  for (std::int32_t label = 0; label < 3; ++label) expected += loss->value(logits, label, gradient) / 3;
  EXPECT_NEAR(result.loss, expected, 1e-6);
  EXPECT_GT(std::abs(result.loss - std::log(3.0)), 0.1);  // not that of nearly equal logits
}

}  // namespace
}  // namespace longtail::train
