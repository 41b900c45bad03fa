// For tests: class sizes with a long tail, as in the paper, and how strict a statistical test is.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace longtail::sampling {

// n_max, falling by a constant factor to n_max / rho. The data module has the real profile, with its corner
// cases; the samplers do not depend on the data module.
inline std::vector<std::int64_t> long_tail(int classes, std::int64_t n_max, double rho) {
  const double mu = std::pow(rho, -1.0 / (classes - 1));
  std::vector<std::int64_t> counts;
  for (int k = 0; k < classes; ++k) {
    const double exact = static_cast<double>(n_max) * std::pow(mu, static_cast<double>(k));
    counts.push_back(std::max<std::int64_t>(static_cast<std::int64_t>(exact), 1));
  }
  return counts;
}

// The 100 classes of the paper at rho = 100.
inline const std::vector<std::int64_t> kPaper = long_tail(100, 500, 100);

// No p-value of the many chi-square tests with fixed seeds may be below this.
inline constexpr double kStrict = 1e-4;

}  // namespace longtail::sampling
