#include "longtail/report/stats.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "longtail/report/test_logs.h"

namespace longtail::report {
namespace {

// Slow and independent: every sign pattern as bits of a number, the mean instead of the sum.
double slow_p(const std::vector<double>& d) {
  const auto statistic = [&](unsigned signs) {
    double sum = 0;
    for (std::size_t i = 0; i < d.size(); ++i) sum += (signs >> i & 1) ? -d[i] : d[i];
    return std::abs(sum / static_cast<double>(d.size()));
  };
  unsigned extreme = 0;
  for (unsigned signs = 0; signs < 1u << d.size(); ++signs) {
    if (statistic(signs) >= statistic(0) - 1e-12) ++extreme;
  }
  return extreme / std::exp2(d.size());
}

std::vector<double> sample(std::size_t n, double shift, std::uint64_t key) {
  std::vector<double> values;
  for (std::size_t i = 0; i < n; ++i) values.push_back(shift + test::noise(key, 1, i));
  return values;
}

TEST(StatsTest, TheDeviationIsThePopulationsUnlessASampleIsAskedFor) {
  const std::vector<double> values = {39.30, 40.27, 39.65};
  EXPECT_NEAR(deviation(values, Deviation::kPopulation), 0.4010819, 1e-6);
  EXPECT_NEAR(deviation(values, Deviation::kSample), 0.4912230, 1e-6);
  const std::vector<double> one = {5};
  EXPECT_EQ(deviation(one, Deviation::kPopulation), 0);
  EXPECT_TRUE(std::isnan(deviation(one, Deviation::kSample)));
  EXPECT_TRUE(std::isnan(deviation({}, Deviation::kSample)));
  EXPECT_TRUE(std::isnan(mean({})));
}

TEST(StatsTest, ThePermutationPValueIsThatOfASlowEnumeration) {
  for (std::size_t n = 1; n <= 14; ++n) {
    for (double shift : {0.0, 0.4, 1.5}) {
      const std::vector<double> d = sample(n, shift, 10 * n);
      EXPECT_DOUBLE_EQ(sign_flip_p(d), slow_p(d)) << n << " " << shift;
    }
  }
}

TEST(StatsTest, TiedAndZeroDifferencesCountAsExtreme) {
  EXPECT_EQ(sign_flip_p(std::vector<double>{0, 0, 0}), 1);
  EXPECT_EQ(sign_flip_p(std::vector<double>{1, 1, 1, 1, 1, 1}), 2.0 / 64);
  EXPECT_EQ(sign_flip_p(std::vector<double>{0.1, 0.2, 0.3, -0.3, -0.2, -0.1}), 1);
}

TEST(StatsTest, BeyondTwentyPairsDrawnFlipsAgreeWithTheExactAnswer) {
  const std::vector<double> twenty = sample(20, 0.35, 3);
  std::vector<double> more = twenty;
  more.push_back(0);  // changes nothing but takes the other way
  EXPECT_NEAR(sign_flip_p(more), sign_flip_p(twenty), 0.005);
  EXPECT_EQ(sign_flip_p(more), sign_flip_p(more));
}

TEST(StatsTest, TheBootstrapIntervalIsThatOfAllResamples) {
  const std::vector<double> d = sample(6, 1, 77);
  std::vector<double> means;
  for (int code = 0; code < 46656; ++code) {  // 6^6: every resample there is
    double sum = 0;
    for (int i = 0, rest = code; i < 6; ++i, rest /= 6) sum += d[static_cast<std::size_t>(rest % 6)];
    means.push_back(sum / 6);
  }
  std::sort(means.begin(), means.end());
  const Interval interval = bootstrap_interval(d);
  EXPECT_NEAR(interval.low, means[46656 * 25 / 1000], 0.05);
  EXPECT_NEAR(interval.high, means[46656 * 975 / 1000], 0.05);
  EXPECT_LT(interval.low, mean(d));
  EXPECT_GT(interval.high, mean(d));
}

TEST(StatsTest, HolmMultipliesTheSmallestByTheNumberOfComparisonsAndNeverGoesDown) {
  const std::vector<double> p = {0.01, 0.04, 0.03, 0.005};
  const std::vector<double> corrected = holm(p);
  const std::vector<double> expected = {0.03, 0.06, 0.06, 0.02};  // as R's p.adjust(p, "holm")
  for (std::size_t i = 0; i < p.size(); ++i) EXPECT_DOUBLE_EQ(corrected[i], expected[i]) << i;
  EXPECT_EQ(holm(std::vector<double>{0.9, 0.8}), (std::vector<double>{1, 1}));
  EXPECT_TRUE(holm({}).empty());
}

TEST(StatsTest, AZeroDifferenceAgreesWithNobody) {
  EXPECT_EQ(sign_agreement(std::vector<double>{1, 2, -1}), 2);
  EXPECT_EQ(sign_agreement(std::vector<double>{-0.55, 0, 0.9}), 1);
  EXPECT_EQ(sign_agreement(std::vector<double>{0, 0}), 0);
}

}  // namespace
}  // namespace longtail::report
