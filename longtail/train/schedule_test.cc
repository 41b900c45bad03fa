#include "longtail/train/schedule.h"

#include <gtest/gtest.h>

namespace longtail::train {
namespace {

TEST(Schedule, IsThePapersEquation) {
  RunConfig config;
  config.milestones = {160, 180};
  EXPECT_DOUBLE_EQ(learning_rate(config, 0), 0.02);
  EXPECT_DOUBLE_EQ(learning_rate(config, 3), 0.08);
  EXPECT_DOUBLE_EQ(learning_rate(config, 4), 0.1);
  EXPECT_DOUBLE_EQ(learning_rate(config, 5), 0.1);
  EXPECT_DOUBLE_EQ(learning_rate(config, 159), 0.1);
  EXPECT_DOUBLE_EQ(learning_rate(config, 160), 0.001);
  EXPECT_DOUBLE_EQ(learning_rate(config, 179), 0.001);
  EXPECT_DOUBLE_EQ(learning_rate(config, 180), 1e-5);
  EXPECT_DOUBLE_EQ(learning_rate(config, 199), 1e-5);
}

TEST(Schedule, CosineGoesFromTheBaseRateDownAfterTheWarmUp) {
  RunConfig config;
  config.schedule = "cosine";
  config.epochs = 105;
  EXPECT_DOUBLE_EQ(learning_rate(config, 1), 0.04);
  EXPECT_DOUBLE_EQ(learning_rate(config, 5), 0.1);
  EXPECT_DOUBLE_EQ(learning_rate(config, 55), 0.05);
  for (int epoch = 5; epoch < 104; ++epoch)
    EXPECT_GT(learning_rate(config, epoch), learning_rate(config, epoch + 1));
  EXPECT_GT(learning_rate(config, 104), 0);
}

TEST(Schedule, ConstantStaysAndNoWarmUpStartsAtTheBaseRate) {
  RunConfig config;
  config.schedule = "constant";
  config.warmup_epochs = 0;
  config.milestones = {1};
  EXPECT_DOUBLE_EQ(learning_rate(config, 0), 0.1);
  EXPECT_DOUBLE_EQ(learning_rate(config, 199), 0.1);
}

}  // namespace
}  // namespace longtail::train
