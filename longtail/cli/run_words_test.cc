#include "longtail/cli/run_words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace longtail::cli {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

train::Progress first_of_200(double lr, double loss) {
  train::Progress progress;
  progress.epochs = 200;
  progress.epoch_done = true;
  progress.lr = lr;
  progress.train_loss = loss;
  progress.train_acc = 24;
  return progress;
}

TEST(ProgressWords, LargeAndSmallNumbersLoseDigitsAndKeepTheBlankBeforeThem) {
  const auto line = [](double lr, double loss) {
    return progress_words(first_of_200(lr, loss), kNoTerminal);
  };
  EXPECT_THAT(line(0.09876, 2.30259), StartsWith("  1/200 0.09876 2.3026  24.0"));
  EXPECT_THAT(line(0, 13.9211), StartsWith("  1/200       0 13.921  24.0"));
  EXPECT_THAT(line(0.1, 9.99996), StartsWith("  1/200     0.1 10.000  24.0"));
  EXPECT_THAT(line(0.1, 1392.11), StartsWith("  1/200     0.1 1392.1  24.0"));
  EXPECT_THAT(line(0.1, 139211), StartsWith("  1/200     0.1 139211  24.0"));
  EXPECT_THAT(line(0.1, 1e30), StartsWith("  1/200     0.1  1e+30  24.0"));
  EXPECT_THAT(line(6.168e-6, 0.5), StartsWith("  1/200 6.2e-06 0.5000  24.0"));  // the end of a cosine
}

TEST(ProgressWords, OneOf200EpochsFitsATerminalOf80ColumnsWithAllItsNumbers) {
  train::Progress progress = first_of_200(6.168e-6, 13.9211);
  progress.images_per_second = 12345;
  progress.seconds_left = 23 * 3600 + 59 * 60;
  const std::string heading = progress_heading(progress, 79), words = progress_words(progress, 79);
  EXPECT_EQ(heading.size(), 79U);
  EXPECT_EQ(words.size(), 79U);
  EXPECT_THAT(heading, HasSubstr("done      lr   loss train   test"));
  EXPECT_THAT(words, HasSubstr(" 100% 6.2e-06 13.921  24.0   0.00"));
  EXPECT_THAT(words, EndsWith("  12,345 23 h 59 min"));
}

}  // namespace
}  // namespace longtail::cli
