// How many images the class of each rank keeps: rank 0 is the largest class.
#pragma once

#include <cstdint>
#include <vector>

namespace longtail::data {

// The paper's exponential profile: n_k = max(int(n_max * mu^k), 1), mu = rho^(-1 / (classes - 1)), in double
// precision and truncated, as Python computes it.
std::vector<std::int64_t> exponential_profile(int classes, std::int64_t n_max, double rho);

// The step profile of Cao et al. (2019): the first half of the classes keeps n_max, the others n_max / rho,
// truncated, at least 1. With an odd number of classes the middle one counts as small.
std::vector<std::int64_t> step_profile(int classes, std::int64_t n_max, double rho);

}  // namespace longtail::data
