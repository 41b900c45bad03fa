#include "longtail/data/profile.h"

#include <algorithm>
#include <cmath>

namespace longtail::data {

std::vector<std::int64_t> exponential_profile(int classes, std::int64_t n_max, double rho) {
  // One class has no tail; Python's formula would divide by zero.
  const double mu = classes > 1 ? std::pow(rho, -1.0 / (classes - 1)) : 1.0;
  std::vector<std::int64_t> counts;
  for (int k = 0; k < classes; ++k) {
    const double exact = static_cast<double>(n_max) * std::pow(mu, static_cast<double>(k));
    counts.push_back(std::max<std::int64_t>(static_cast<std::int64_t>(exact), 1));
  }
  return counts;
}

std::vector<std::int64_t> step_profile(int classes, std::int64_t n_max, double rho) {
  const auto few = static_cast<std::int64_t>(static_cast<double>(n_max) / rho);
  std::vector<std::int64_t> counts(static_cast<std::size_t>(classes), std::max<std::int64_t>(few, 1));
  std::fill_n(counts.begin(), classes > 1 ? classes / 2 : 1, n_max);
  return counts;
}

}  // namespace longtail::data
