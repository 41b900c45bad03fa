// Critical values for several comparisons at once: quantiles of the largest of m correlated t variables that
// share their denominator (Dunnett's, one- or two-sided). Numerical integration and a fixed lattice, no
// random draws, so the same design gives the same digits. A test compares them with R's mvtnorm and multcomp.
#pragma once

#include <span>
#include <vector>

namespace longtail::report {

using Matrix = std::vector<std::vector<double>>;

double normal_cdf(double x);
double normal_quantile(double p);
// P(X <= x) of a beta variable.
double beta_cdf(double x, double a, double b);

enum class Sides { kOne, kTwo };

// P(low_i < (Z_i + shift_i) / s < high_i for every i), Z standard normal with correlations
// loading_i loading_j, s an independent sqrt(chi^2 / dof). Limits may be infinite.
struct Box {
  std::vector<double> low{};
  std::vector<double> high{};
  std::vector<double> shift{};  // empty: none
};
double product_probability(std::span<const double> loadings, double dof, const Box& box);
// The same for any correlation matrix, without shift: Genz's transformation on a lattice.
double general_probability(const Matrix& correlation, double dof, const Box& box);

// The loadings if the matrix is loading_i loading_j off the diagonal, otherwise nothing.
std::vector<double> product_loadings(const Matrix& correlation);

// c such that max T_i (one-sided) or max |T_i| (two-sided) stays below it with probability `confidence`.
double critical_value(const Matrix& correlation, double dof, double confidence, Sides sides);
// The same where every correlation is 1/2, as between comparisons with a common control in a balanced design.
double dunnett_critical(int comparisons, double dof, double confidence, Sides sides);
// c such that no two of `count` equal means with independent errors differ by more than c standard errors of
// a difference, with probability `confidence`: the studentised range divided by sqrt(2), Tukey's critical
// value for all pairs.
double all_pairs_critical(int count, double dof, double confidence);
// The same for a single t variable.
double student_critical(double dof, double confidence, Sides sides);

}  // namespace longtail::report
