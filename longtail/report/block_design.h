// A randomised block design: strategy + seed + residual, fitted by least squares; runs may be missing.
#pragma once

#include <cstddef>
#include <vector>

#include "longtail/report/family.h"
#include "longtail/report/multivariate_t.h"

namespace longtail::report {

// Accuracies are percentages with a few decimals; a residual below this is none.
inline constexpr double kNoSpread = 1e-9;

// Least squares of strategy + seed over the runs of the strategies in `who`, the first of which is the
// origin: effects, their covariance divided by the residual variance, residual sum of squares and degrees of
// freedom.
struct Fit {
  std::vector<std::size_t> who;
  std::vector<double> effect;
  Matrix unit_covariance;
  Matrix residuals;  // [who][seed], NaN where there is no run
  double sum_of_squares = 0;
  int dof = 0;
  bool balanced = true;

  double unit_variance(std::size_t i, std::size_t j) const {
    return unit_covariance[i][i] + unit_covariance[j][j] - 2 * unit_covariance[i][j];
  }
};

// Strategies that share seeds with `first`, directly or through others.
std::vector<std::size_t> connected(const SeedTable& table, std::size_t first);

// Fits the strategies in `who`, which must be connected.
Fit fit(const SeedTable& table, std::vector<std::size_t> who);

// Cochran's test that one strategy's residuals are the largest by chance, on the seeds that every strategy
// has.
double unequal_p(const SeedTable& table, const std::vector<std::size_t>& who);

}  // namespace longtail::report
