#include "longtail/sampling/chi_square.h"

#include <cmath>
#include <limits>
#include <numeric>

namespace longtail::sampling {
namespace {

constexpr double kPrecision = 1e-15;

// The regularised incomplete gamma functions: below by its series, above by its continued fraction (Lentz).
double gamma_below(double a, double x) {
  double term = 1 / a, sum = term;
  for (double n = a + 1; term > sum * kPrecision; ++n) {
    term *= x / n;
    sum += term;
  }
  return sum * std::exp(a * std::log(x) - x - std::lgamma(a));
}

double gamma_above(double a, double x) {
  double b = x + 1 - a, c = 1 / std::numeric_limits<double>::min(), d = 1 / b, fraction = d;
  for (int i = 1; i < 100000; ++i) {
    const double step = -i * (i - a);
    b += 2;
    d = 1 / (step * d + b);
    c = b + step / c;
    fraction *= c * d;
    if (std::abs(c * d - 1) < kPrecision) break;
  }
  return fraction * std::exp(a * std::log(x) - x - std::lgamma(a));
}

}  // namespace

double chi_square_tail(double x, int freedom) {
  if (freedom < 1 || x <= 0) return 1;
  if (!std::isfinite(x)) return 0;
  const double a = freedom / 2.0, half = x / 2;
  return half < a + 1 ? 1 - gamma_below(a, half) : gamma_above(a, half);
}

ChiSquare chi_square(std::span<const std::int64_t> observed, std::span<const double> probabilities) {
  const auto draws = static_cast<double>(std::accumulate(observed.begin(), observed.end(), std::int64_t{0}));
  ChiSquare result{0, -1, 1};
  for (std::size_t k = 0; k < observed.size(); ++k) {
    const double expected = draws * probabilities[k];
    const double gap = static_cast<double>(observed[k]) - expected;
    if (expected > 0) {
      result.statistic += gap * gap / expected;
      ++result.freedom;
    } else if (observed[k] > 0) {
      result.statistic = std::numeric_limits<double>::infinity();
    }
  }
  result.p = std::isfinite(result.statistic) ? chi_square_tail(result.statistic, result.freedom) : 0;
  return result;
}

}  // namespace longtail::sampling
