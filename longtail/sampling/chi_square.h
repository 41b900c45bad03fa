// Pearson's chi-square test of counts against declared probabilities.
#pragma once

#include <cstdint>
#include <span>

namespace longtail::sampling {

struct ChiSquare {
  double statistic = 0;
  int freedom = 0;  // degrees of freedom: classes of probability above 0, less one
  double p = 1;     // chance of a statistic at least this large if the probabilities are true
};

// `observed` may hold a count at a class of probability 0: then p is 0.
ChiSquare chi_square(std::span<const std::int64_t> observed, std::span<const double> probabilities);

// The chance that a chi-square variable with `freedom` degrees of freedom is at least x.
double chi_square_tail(double x, int freedom);

}  // namespace longtail::sampling
