// Against testdata/rebalance.json: the same classifiers by PyTorch in double (testdata/make_rebalance.py).
#include "longtail/train/classifier_stage.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "longtail/base/file.h"
#include "longtail/base/test_paths.h"
#include "longtail/train/evaluate.h"

namespace longtail::train {
namespace {

constexpr int kClasses = 5, kWidth = 64, kImages = 20;
constexpr std::size_t kStep = 7;  // of the weights, every seventh is in the file
const std::vector<std::int64_t> kCounts = {50, 20, 10, 4, 2};

const nlohmann::json& golden() {
  static const auto file =
      nlohmann::json::parse(base::read_text(base::source_dir() + "/longtail/train/testdata/rebalance.json"));
  return file;
}

class Rebalanced : public testing::Test {
 protected:
  Rebalanced() : spec_(nn::make_spec("resnet20", "projection", kClasses, 3)) {
    trained_.resize(static_cast<std::size_t>(nn::network_plan(spec_).parameter_count));
    initial_.resize(trained_.size());
    const LinearHead trained = head_of(spec_, trained_), initial = head_of(spec_, initial_);
    for (int k = 0; k < kClasses; ++k) {
      for (int f = 0; f < kWidth; ++f) {
        const auto at = static_cast<std::size_t>(f);
        trained.row(k)[at] = static_cast<float>(((k * 31 + f * 17) % 29 - 14) / 40.0 * (1 + 4.0 / (k + 1)));
        initial.row(k)[at] = static_cast<float>(((k * 7 + f * 5) % 23 - 11) / 100.0);
      }
      trained.bias[static_cast<std::size_t>(k)] = static_cast<float>((k - 2) / 10.0);
    }
    features_.width = kWidth;
    for (int i = 0; i < kImages; ++i) {
      features_.labels.push_back(i % kClasses);
      for (int f = 0; f < kWidth; ++f) {
        features_.values.push_back(
            static_cast<float>(((i * 13 + f * 7) % 19) / 19.0 * (1 + (i % 5 == f % 5))));
      }
    }
  }

  static void expect_weights(const LinearHead& head, const nlohmann::json& sampled, double slack) {
    ASSERT_EQ(sampled.size(), (head.weight.size() + kStep - 1) / kStep);
    for (std::size_t i = 0; i < sampled.size(); ++i)
      EXPECT_NEAR(head.weight[i * kStep], sampled[i].get<double>(), slack) << i;
  }
  static void expect_list(std::span<const float> values, const nlohmann::json& list, double slack) {
    ASSERT_EQ(values.size(), list.size());
    for (std::size_t i = 0; i < values.size(); ++i) EXPECT_NEAR(values[i], list[i].get<double>(), slack) << i;
  }

  // The three steps of the script; returns what the trainer remembers.
  std::vector<float> train(const std::string& name, std::vector<float>& parameters) const {
    const auto method = make_rebalance_method(name);
    HeadTrainer trainer(*method, spec_, trained_, {});
    std::vector<float> memory(trained_.size(), 9.0F);
    parameters.assign(trained_.size(), 9.0F);
    trainer.begin(initial_, parameters, memory);
    const struct {
      std::size_t first, last;
      double lr;
    } steps[] = {{0, 8, 0.1}, {8, 16, 0.08}, {12, 20, 0.05}};
    for (std::size_t s = 0; s < 3; ++s) {
      const auto [first, last, lr] = steps[s];
      const std::span all(features_.values);
      const nn::StepResult result =
          trainer.step(lr, all.subspan(first * kWidth, (last - first) * kWidth),
                       std::span(features_.labels).subspan(first, last - first), parameters, memory);
      EXPECT_NEAR(result.loss, golden()[name]["losses"][s].get<double>(), 2e-6) << name << " step " << s;
    }
    return memory;
  }

  nn::ResNetSpec spec_;
  std::vector<float> trained_, initial_;
  Features features_;
};

TEST_F(Rebalanced, CrtIsPyTorchsSgdOnTheClassifierAlone) {
  std::vector<float> parameters;
  train("crt", parameters);
  const LinearHead head = head_of(spec_, parameters);
  expect_weights(head, golden()["crt"]["weight"], 2e-6);
  expect_list(head.bias, golden()["crt"]["bias"], 2e-6);
  // Nothing before the classifier moved.
  const auto before = static_cast<std::size_t>(nn::network_plan(spec_).linear_weight);
  EXPECT_TRUE(
      std::equal(parameters.begin(), parameters.begin() + static_cast<long>(before), trained_.begin()));
}

TEST_F(Rebalanced, LwsIsPyTorchsSgdOnAFactorOfEachLogit) {
  std::vector<float> parameters;
  const std::vector<float> memory = train("lws", parameters);
  expect_list(std::span(memory).subspan(kClasses, kClasses), golden()["lws"]["scales"], 2e-6);
  const LinearHead head = head_of(spec_, parameters), trained = head_of(spec_, trained_);
  for (int k = 0; k < kClasses; ++k) {
    const auto at = static_cast<std::size_t>(k);
    const float factor = memory[kClasses + at];
    EXPECT_EQ(head.row(k)[5], trained.row(k)[5] * factor);
    EXPECT_EQ(head.bias[at], trained.bias[at] * factor);
  }
}

TEST_F(Rebalanced, TauNormalisationDividesByTheNormAndDropsTheBias) {
  normalise(0.7, head_of(spec_, trained_));
  expect_weights(head_of(spec_, trained_), golden()["tau_norm"]["weight"], 1e-6);
  for (const float bias : head_of(spec_, trained_).bias) EXPECT_EQ(bias, 0.0F);
}

TEST_F(Rebalanced, LogitAdjustmentTakesThePriorFromTheBias) {
  adjust(1, kCounts, head_of(spec_, trained_));
  expect_list(head_of(spec_, trained_).bias, golden()["logit_adjust"]["bias"], 1e-6);
}

// A loss that multiplies logits by 30 leaves a classifier of a thirtieth. With its scale it is adjusted as if
// cross-entropy had trained it: same logits, so same argmax and same probabilities.
TEST_F(Rebalanced, AClassifierThatItsLossMultipliedIsAdjustedAsOneOfCrossEntropy) {
  std::vector<float> small = trained_;
  for (float& value : small) value /= 30;
  RunConfig config;
  config.loss = "ldam";
  take_scale(logit_scale(config), head_of(spec_, small));
  adjust(1, kCounts, head_of(spec_, small));
  adjust(1, kCounts, head_of(spec_, trained_));
  const auto classifier = nn::make_classifier<float>(spec_);
  std::vector<float> expected(kClasses), logits(kClasses);
  for (std::size_t i = 0; i < features_.labels.size(); ++i) {
    classifier->begin(trained_);
    classifier->forward(features_.of(i), expected.data());
    classifier->begin(small);
    classifier->forward(features_.of(i), logits.data());
    EXPECT_EQ(std::max_element(logits.begin(), logits.end()) - logits.begin(),
              std::max_element(expected.begin(), expected.end()) - expected.begin());
    for (std::size_t k = 0; k < logits.size(); ++k) EXPECT_NEAR(logits[k], expected[k], 1e-4) << i;
  }
}

TEST_F(Rebalanced, NearestMeansByAngleAndByDistance) {
  take_means(true, features_, head_of(spec_, trained_));
  expect_weights(head_of(spec_, trained_), golden()["ncm_cosine"]["weight"], 1e-6);
  for (const float bias : head_of(spec_, trained_).bias) EXPECT_EQ(bias, 0.0F);
  take_means(false, features_, head_of(spec_, trained_));
  expect_weights(head_of(spec_, trained_), golden()["ncm_euclidean"]["weight"], 1e-6);
  expect_list(head_of(spec_, trained_).bias, golden()["ncm_euclidean"]["bias"], 1e-5);
}

TEST_F(Rebalanced, AClassWithoutImagesIsNeverNearest) {
  Features some = features_;
  for (std::int32_t& label : some.labels) label = label == 3 ? 1 : label;
  for (const bool cosine : {true, false}) {
    take_means(cosine, some, head_of(spec_, trained_));
    const auto classifier = nn::make_classifier<float>(spec_);
    classifier->begin(trained_);
    std::vector<float> logits(kClasses);
    for (std::size_t i = 0; i < some.labels.size(); ++i) {
      classifier->forward(some.of(i), logits.data());
      EXPECT_NE(std::max_element(logits.begin(), logits.end()) - logits.begin(), 3);
    }
  }
}

TEST_F(Rebalanced, TauIsTheFirstOfTheGridWithTheHighestBalancedAccuracy) {
  for (const std::string name : {"tau_norm", "logit_adjust"}) {
    const auto method = make_rebalance_method(name + ":tau=-1");
    EXPECT_EQ(choose_tau(*method, spec_, kCounts, trained_, features_),
              golden()[name]["chosen"].get<double>())
        << name;
  }
}

TEST(RebalanceMethod, IsTextWithDefaultsLeftOut) {
  EXPECT_EQ(canonical_rebalance("none"), "none");
  EXPECT_EQ(canonical_rebalance("crt:epochs=10,lr=0.1"), "crt");
  EXPECT_EQ(canonical_rebalance("tau_norm:tau=0.70"), "tau_norm:tau=0.7");
  EXPECT_EQ(canonical_rebalance("ncm:distance=euclidean"), "ncm:distance=euclidean");
  EXPECT_THROW(canonical_rebalance("tau_norm:tau=-0.5"), base::Error);
  EXPECT_THROW(canonical_rebalance("crt:epochs=0"), base::Error);
  EXPECT_THROW(canonical_rebalance("nothing"), base::Error);
  RunConfig config;
  EXPECT_EQ(logged_epochs(config), 200);
  config.rebalance = "lws:epochs=4";
  EXPECT_EQ(logged_epochs(config), 4);
  config.rebalance = "ncm";
  EXPECT_EQ(logged_epochs(config), 1);
  EXPECT_EQ(make_rebalance_method("crt")->rate(0), 0.1);
  EXPECT_NEAR(make_rebalance_method("crt")->rate(5), 0.05, 1e-15);
}

}  // namespace
}  // namespace longtail::train
