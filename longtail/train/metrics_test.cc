#include "longtail/train/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "longtail/base/philox.h"

namespace longtail::train {
namespace {

using data::Group;
using testing::DoubleNear;
using testing::ElementsAre;

// Logits whose softmax is the given probabilities.
std::vector<float> logits_of(std::initializer_list<double> probabilities) {
  std::vector<float> logits;
  for (const double p : probabilities) logits.push_back(static_cast<float>(std::log(p)));
  return logits;
}

TEST(Meter, CountsAccuracyByClassAndAveragesClassesInAGroup) {
  Meter meter(3, {Group::kHead, Group::kHead, Group::kMedium});
  meter.add(logits_of({0.8, 0.1, 0.1}), 0);
  meter.add(logits_of({0.8, 0.1, 0.1}), 0);
  meter.add(logits_of({0.1, 0.8, 0.1}), 0);
  meter.add(logits_of({0.1, 0.1, 0.8}), 0);
  meter.add(logits_of({0.1, 0.8, 0.1}), 1);
  meter.add(logits_of({0.8, 0.1, 0.1}), 2);
  const FullResult result = meter.full(7);
  EXPECT_EQ(result.epoch, 7);
  EXPECT_DOUBLE_EQ(result.accuracy.overall, 50);
  EXPECT_DOUBLE_EQ(result.accuracy.head, 75);  // of classes at 50 and 100, not 3 of 5 images
  EXPECT_DOUBLE_EQ(result.accuracy.medium, 0);
  EXPECT_TRUE(std::isnan(result.accuracy.tail));
  EXPECT_TRUE(std::isnan(result.tail_ece));
  EXPECT_THAT(result.per_class, ElementsAre(50, 100, 0));
  EXPECT_DOUBLE_EQ(result.balanced, 50);
  EXPECT_THAT(result.confusion,
              ElementsAre(ElementsAre(2, 1, 1), ElementsAre(0, 1, 0), ElementsAre(1, 0, 0)));
  EXPECT_NEAR(result.accuracy.loss, -(3 * std::log(0.8) + 3 * std::log(0.1)) / 6, 1e-6);
  // F1: class 0 has 2 right of 3 predicted and 4 there, class 1 has 1 of 2 and 1, class 2 none.
  EXPECT_NEAR(result.macro_f1, 100 * (4.0 / 7 + 2.0 / 3 + 0) / 3, 1e-9);
}

TEST(Meter, CalibrationIsTheGapBetweenConfidenceAndAccuracyInEachBin) {
  Meter meter(2, {Group::kHead, Group::kTail});
  meter.add(logits_of({0.95, 0.05}), 0);
  meter.add(logits_of({0.95, 0.05}), 1);
  meter.add(logits_of({0.60, 0.40}), 0);
  const FullResult result = meter.full(0);
  // The bin of 0.95 has two images, one right; the bin of 0.6 has one, right.
  EXPECT_NEAR(result.ece, 100 * (std::abs(1 - 1.9) + std::abs(1 - 0.6)) / 3, 1e-5);
  EXPECT_NEAR(result.head_ece, 100 * (0.05 + 0.4) / 2, 1e-5);
  EXPECT_NEAR(result.tail_ece, 95, 1e-5);
}

TEST(Meter, ABoundaryBelongsToTheBinBelowIt) {
  // 0.6 = 9/15 exactly would be in (8/15, 9/15]; certain predictions are in the last bin.
  Meter meter(2, {Group::kHead, Group::kHead});
  const std::vector<float> certain = {1000, 0};
  meter.add(certain, 0);
  EXPECT_DOUBLE_EQ(meter.full(0).ece, 0);
  meter.add(certain, 1);
  EXPECT_DOUBLE_EQ(meter.full(0).ece, 50);
  EXPECT_DOUBLE_EQ(meter.result().loss, 500);
}

TEST(Meter, TheFirstOfEqualLogitsIsThePrediction) {
  Meter meter(3, {Group::kHead, Group::kHead, Group::kHead});
  const std::vector<float> equal = {0, 1, 1};
  meter.add(equal, 1);
  meter.add(equal, 2);
  EXPECT_DOUBLE_EQ(meter.result().overall, 50);
  EXPECT_EQ(meter.full(0).confusion[2][1], 1);
}

TEST(Meter, AClassWithoutImagesDoesNotCount) {
  Meter meter(3, {Group::kHead, Group::kHead, Group::kTail});
  meter.add(logits_of({0.8, 0.1, 0.1}), 0);
  const FullResult result = meter.full(0);
  EXPECT_TRUE(std::isnan(result.per_class[1]));
  EXPECT_DOUBLE_EQ(result.accuracy.head, 100);
  EXPECT_TRUE(std::isnan(result.accuracy.tail));
  EXPECT_DOUBLE_EQ(result.balanced, 100);
  EXPECT_DOUBLE_EQ(result.macro_f1, 100);
}

// A plain twin: keep every image, then count by definition.
TEST(Meter, AgreesWithCountingByDefinition) {
  constexpr int kClasses = 7;
  std::vector<Group> groups;
  for (int k = 0; k < kClasses; ++k) groups.push_back(static_cast<Group>(k % 3));
  Meter meter(kClasses, groups);
  const base::Stream stream{.seed = 5};
  std::vector<std::pair<double, bool>> images;  // confidence, right
  for (std::uint64_t i = 0; i < 500; ++i) {
    std::vector<float> logits(kClasses);
    for (std::size_t k = 0; k < kClasses; ++k) {
      logits[k] = static_cast<float>(
          4 * base::unit(base::join(stream.block(i * 8 + k)[0], stream.block(i * 8 + k)[1])));
    }
    const auto label = static_cast<std::int32_t>(stream.block(i * 8 + 7)[2] % kClasses);
    meter.add(logits, label);
    double sum = 0;
    for (const float logit : logits) sum += std::exp(static_cast<double>(logit));
    const auto top = std::max_element(logits.begin(), logits.end());
    images.emplace_back(std::exp(static_cast<double>(*top)) / sum, top - logits.begin() == label);
  }
  double ece = 0;
  for (int bin = 0; bin < 15; ++bin) {
    double count = 0, confidence = 0, right = 0;
    for (const auto& [c, r] : images) {
      if (c <= bin / 15.0 || c > (bin + 1) / 15.0) continue;
      ++count;
      confidence += c;
      right += r;
    }
    if (count > 0) ece += count / 500 * std::abs(right / count - confidence / count);
  }
  EXPECT_NEAR(meter.full(0).ece, 100 * ece, 1e-9);
}

}  // namespace
}  // namespace longtail::train
