#include "longtail/base/exp_log.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>

namespace longtail::base {
namespace {

double relative(double actual, double expected) { return std::abs(actual / expected - 1); }

TEST(ExpLog, EqualTheCLibraryToFifteenDigits) {
  for (int i = -70000; i <= 70000; ++i) {
    const double x = i * 0.01;
    ASSERT_LE(relative(base::exp(x), std::exp(x)), 1e-15) << x;
    if (i != 0) {
      ASSERT_LE(relative(base::expm1(x * 0.1), std::expm1(x * 0.1)), 2e-15) << x;
    }
  }
  for (double x = 1e-300; x < 1e300; x *= 1.0173) {
    if (std::abs(x - 1) < 0.01) continue;  // below
    ASSERT_LE(relative(base::log(x), std::log(x)), 1e-15) << x;
  }
  for (int i = -1000; i <= 1000; ++i) {
    const double x = 1 + i * 1e-5;
    if (i != 0) {
      ASSERT_LE(relative(base::log(x), std::log(x)), 1e-15) << x;
    }
  }
  for (const double y : {0.5, 1.0, 2.0, 7.5}) {
    for (double x = 1e-6; x < 1; x *= 1.3) ASSERT_LE(relative(base::power(x, y), std::pow(x, y)), 1e-13);
  }
}

TEST(ExpLog, EndsOfTheRangeAreThoseOfTheCLibrary) {
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(base::exp(0), 1);
  EXPECT_EQ(base::exp(-infinity), 0);
  EXPECT_EQ(base::exp(infinity), infinity);
  EXPECT_EQ(base::exp(-800), 0);
  EXPECT_EQ(base::exp(800), infinity);
  EXPECT_TRUE(std::isnan(base::exp(std::nan(""))));
  EXPECT_EQ(base::log(1), 0);
  EXPECT_EQ(base::log(0), -infinity);
  EXPECT_EQ(base::log(infinity), infinity);
  EXPECT_TRUE(std::isnan(base::log(-1)));
  EXPECT_TRUE(std::isnan(base::log(std::nan(""))));
  EXPECT_EQ(base::power(0, 2), 0);
  EXPECT_EQ(base::power(0, 0), 1);
}

// The bits themselves, whatever the CPU and the compiler.
TEST(ExpLog, HaveTheSameBitsOnEveryMachine) {
  std::uint64_t hash = 1469598103934665603u;
  const auto mix = [&](double value) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    hash = (hash ^ bits) * 1099511628211u;
  };
  for (int i = -5000; i <= 5000; ++i) {
    mix(base::exp(i * 0.013));
    mix(base::log(5001 + i * 0.999));
  }
  EXPECT_EQ(hash, 12158492694577191822u);
}

}  // namespace
}  // namespace longtail::base
