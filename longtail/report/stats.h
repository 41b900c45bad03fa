// Statistics over seeds: few values, honestly treated. Everything is deterministic; the random parts are pure
// functions of the number of values (base/philox.h), so a report gives the same digits every time.
#pragma once

#include <limits>
#include <span>
#include <vector>

namespace longtail::report {

inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();  // no value

enum class Deviation { kPopulation, kSample };

// Fewer paired differences than this and neither p-values nor intervals are shown: the smallest two-sided
// p-value that n sign flips can give is 2 / 2^n, which is above 0.05 up to five.
inline constexpr int kSeedsForTests = 6;

double mean(std::span<const double> values);
// NaN where it is not defined: no value, or one value and kSample.
double deviation(std::span<const double> values, Deviation kind);

// Two-sided p-value of the mean under random flips of the signs: all 2^n flips up to n = 20, otherwise
// 100,000 random ones; the observed signs count as one of them.
double sign_flip_p(std::span<const double> differences);

struct Interval {
  double low = 0;
  double high = 0;
};
// Percentile bootstrap of the mean over `resamples` draws.
Interval bootstrap_interval(std::span<const double> values, double level = 0.95, int resamples = 10000);

// Holm's step-down correction over all p-values given; the result is in the same order.
std::vector<double> holm(std::span<const double> p_values);

// How many differences have the most common sign; zeros count for neither.
int sign_agreement(std::span<const double> differences);

}  // namespace longtail::report
