#include "longtail/train/remaining_time.h"

#include <gtest/gtest.h>

namespace longtail::train {
namespace {

TEST(RemainingTime, CountsEvaluationFromTheFirstStepOn) {
  // 10 epochs; 2 s for 200 of 1,000 images: 10 s an epoch, and 3,000 / 3 images' time for its evaluation.
  const RemainingTime time(0, 10, 1000, 3000);
  EXPECT_DOUBLE_EQ(time.during(0, 200, 2), 200 - 2);
}

TEST(RemainingTime, IsWhatTheEpochsBeforeTookWhenThereAreAny) {
  RemainingTime time(4, 10, 1000, 3000);
  EXPECT_DOUBLE_EQ(time.after(4, 15), 5 * 15);
  EXPECT_DOUBLE_EQ(time.during(5, 100, 3), 5 * 15 - 3);
  EXPECT_DOUBLE_EQ(time.after(5, 17), 4 * 16);
  EXPECT_DOUBLE_EQ(time.during(9, 1000, 40), 0) << "slower than all before: not less than nothing";
}

}  // namespace
}  // namespace longtail::train
