#include "longtail/theory/exposure.h"

#include <gtest/gtest.h>

#include <cmath>

#include "longtail/base/error.h"

namespace longtail::theory {
namespace {

const std::vector<std::int64_t> kFourClasses = {400, 80, 16, 4};  // 500 images

TEST(ExposureTest, UniformShowsEveryImageAtMostOnceAnEpoch) {
  const Exposure e = exposure(*sampling::make_strategy("uniform"), kFourClasses, 20, 50, 3);
  EXPECT_EQ(e.draws, 20 * 500);
  for (const ClassExposure& one : e.classes) {
    EXPECT_EQ(one.fewest, 20);
    EXPECT_EQ(one.most, 20);
    EXPECT_DOUBLE_EQ(one.expected, 20);
  }
  EXPECT_EQ(e.never, 0);
  EXPECT_NEAR(e.effective, 500, 1e-9);
  EXPECT_NEAR(e.distinct_an_epoch, 500, 1e-9);
}

TEST(ExposureTest, DroppedBatchesAreNotCounted) {
  const Exposure e = exposure(*sampling::make_strategy("uniform"), kFourClasses, 3, 128, 3);
  EXPECT_EQ(e.draws, 3 * 384);
  EXPECT_NEAR(e.distinct_an_epoch, 384, 1e-9);
}

TEST(ExposureTest, ClassBalancedRepeatsTailImagesAsOftenAsExpected) {
  const Exposure e = exposure(*sampling::make_strategy("class_balanced"), kFourClasses, 100, 50, 3);
  EXPECT_DOUBLE_EQ(e.classes[3].expected, 100 * 500 / 4.0 / 4);
  for (const ClassExposure& one : e.classes) {
    // Draws of a class are binomial: 5 standard deviations.
    const double draws = one.expected * static_cast<double>(one.count);
    EXPECT_NEAR(one.mean, one.expected, 5 * std::sqrt(draws) / static_cast<double>(one.count));
    EXPECT_LE(static_cast<double>(one.fewest), one.mean);
    EXPECT_GE(static_cast<double>(one.most), one.mean);
  }
  // Kish with p_i = 1 / (K n_k): 1 / sum 1 / (K^2 n_k).
  EXPECT_NEAR(e.effective, 16 / (1 / 400.0 + 1 / 80.0 + 1 / 16.0 + 1 / 4.0), 2);
  EXPECT_LT(e.distinct_an_epoch, 350);
}

TEST(ExposureTest, ProgressiveLiesBetweenTheTwo) {
  const double uniform =
      exposure(*sampling::make_strategy("uniform"), kFourClasses, 40, 50, 3).classes[3].expected;
  const double balanced =
      exposure(*sampling::make_strategy("class_balanced"), kFourClasses, 40, 50, 3).classes[3].expected;
  const double progressive =
      exposure(*sampling::make_strategy("progressive"), kFourClasses, 40, 50, 3).classes[3].expected;
  EXPECT_NEAR(progressive, (uniform + balanced) / 2, 1e-9);  // lambda is 1/2 on average
}

TEST(ExposureTest, ABatchLargerThanTheSubsetIsRefused) {
  EXPECT_THROW(exposure(*sampling::make_strategy("uniform"), kFourClasses, 1, 501, 3), base::Error);
}

}  // namespace
}  // namespace longtail::theory
