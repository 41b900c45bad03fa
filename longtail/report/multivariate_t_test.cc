// Critical values at few degrees of freedom, where they are in the hundreds, against closed forms.
#include "longtail/report/multivariate_t.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace longtail::report {
namespace {

constexpr double kConfidences[] = {0.5, 0.95, 0.9875, 0.99821, 0.99955, 0.99999};

TEST(StudentTest, OneDegreeOfFreedomIsATangentAndTwoHaveAClosedForm) {
  for (const double c : kConfidences) {
    const double one = std::tan(std::numbers::pi / 2 * c);
    EXPECT_NEAR(student_critical(1, c, Sides::kTwo) / one, 1, 1e-8) << c;
    EXPECT_NEAR(student_critical(1, (1 + c) / 2, Sides::kOne) / one, 1, 1e-8) << c;
    const double two = c * std::sqrt(2 / (1 - c * c));
    EXPECT_NEAR(student_critical(2, c, Sides::kTwo) / two, 1, 1e-8) << c;
  }
}

TEST(StudentTest, WhatIsIntegratedOverTheSpreadIsTheSameAtOneDegreeOfFreedom) {
  for (const double c : kConfidences) {
    const double exact = student_critical(1, c, Sides::kTwo);
    EXPECT_NEAR(all_pairs_critical(2, 1, c) / exact, 1, 1e-5) << c;
    EXPECT_NEAR(dunnett_critical(1, 1, c, Sides::kTwo) / exact, 1, 1e-5) << c;
  }
  // Of several comparisons: beyond one of them, below Bonferroni's.
  for (const double c : {0.95, 0.9875}) {
    const double seven = dunnett_critical(7, 1, c, Sides::kTwo);
    EXPECT_GT(seven, student_critical(1, c, Sides::kTwo)) << c;
    EXPECT_LT(seven, student_critical(1, 1 - (1 - c) / 7, Sides::kTwo)) << c;
    EXPECT_NEAR(seven / dunnett_critical(7, 1, 0.95, Sides::kTwo), 0.05 / (1 - c), 0.02)
        << "the tail of one degree of freedom falls as 1 / t";
  }
}

TEST(StudentTest, TheLatticeAgreesAtOneDegreeOfFreedom) {
  Matrix correlation(3, std::vector<double>(3, 0.5));
  for (std::size_t i = 0; i < 3; ++i) correlation[i][i] = 1;
  const double c = dunnett_critical(3, 1, 0.9875, Sides::kTwo);
  const Box box{std::vector<double>(3, -c), std::vector<double>(3, c)};
  EXPECT_NEAR(general_probability(correlation, 1, box), 0.9875, 1e-4);
}

}  // namespace
}  // namespace longtail::report
