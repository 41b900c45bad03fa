#include "longtail/sampling/batch_odds.h"

#include <gtest/gtest.h>

#include <cmath>

#include "longtail/sampling/stream.h"
#include "longtail/sampling/testing.h"

namespace longtail::sampling {
namespace {

// The paper: a tail class of 5 images is in only about 6% of the batches of 128 under uniform sampling.
TEST(BatchOdds, TellHowRarelyATailClassIsSeen) {
  const auto uniform = batch_odds(*make_strategy("uniform"), kPaper, {0, 200}, 128);
  EXPECT_NEAR(1 - uniform[99].absent, 0.0577, 0.0005);
  EXPECT_DOUBLE_EQ(uniform[99].expected, 128 * 5 / 10847.0);
  const auto balanced = batch_odds(*make_strategy("class_balanced"), kPaper, {0, 200}, 128);
  EXPECT_NEAR(balanced[99].absent, std::pow(0.99, 128), 1e-15);
}

TEST(BatchOdds, WithoutReplacementCountDifferentImages) {
  // Two of five in a batch of three: C(3,3) / C(5,3) = 1/10.
  EXPECT_NEAR(batch_odds(0.4, 2, 5, 3, false).absent, 0.1, 1e-15);
  EXPECT_EQ(batch_odds(0.4, 2, 5, 4, false).absent, 0);
  EXPECT_EQ(batch_odds(0.4, 2, 5, 5, false).absent, 0);
  EXPECT_EQ(batch_odds(0, 0, 5, 5, false).absent, 1);
  EXPECT_NEAR(batch_odds(0.4, 2, 5, 3, true).absent, 0.216, 1e-15);
}

TEST(BatchOdds, AreWhatTheStreamsDo) {
  for (const char* name : {"uniform", "square_root"}) {
    const auto strategy = make_strategy(name);
    const auto odds = batch_odds(*strategy, kPaper, {0, 200}, 128);
    int batches = 0, absent = 0;
    std::vector<std::int64_t> images(128);
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
      const IndexStream stream(*strategy, kPaper, {0, 200}, seed);
      for (std::int64_t first = 0; first + 128 <= stream.size(); first += 128, ++batches) {
        stream.fill(first, images);
        bool seen = false;
        for (const std::int64_t image : images) seen = seen || stream.class_of(image) == 70;
        absent += !seen;
      }
    }
    const double p = odds[70].absent;
    EXPECT_NEAR(absent, batches * p, 4 * std::sqrt(batches * p * (1 - p))) << name;
  }
}

}  // namespace
}  // namespace longtail::sampling
