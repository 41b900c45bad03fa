// exp and log from additions and multiplications in a fixed order. The C library's differ between CPUs in the
// last bit; these are the same everywhere, so that a training run can be repeated to the last bit on another
// machine. Relative error below 1e-15.
#pragma once

#include <cmath>
#include <limits>

namespace longtail::base {

namespace exp_log_detail {

// ln 2 in two parts; the first has so few bits that its multiples by an exponent are exact.
constexpr double kLn2High = 6.93147180369123816490e-01;
constexpr double kLn2Low = 1.90821492927058770002e-10;
constexpr double kLog2E = 1.44269504088896338700e+00;

// 1 / n! for n = 15 to 2.
constexpr double kTaylor[] = {
    1.0 / 1307674368000, 1.0 / 87178291200, 1.0 / 6227020800, 1.0 / 479001600, 1.0 / 39916800,
    1.0 / 3628800,       1.0 / 362880,      1.0 / 40320,      1.0 / 5040,      1.0 / 720,
    1.0 / 120,           1.0 / 24,          1.0 / 6,          1.0 / 2};

// exp(r) - 1 for |r| < 0.4.
inline double small_expm1(double r) {
  double sum = 0;
  for (const double coefficient : kTaylor) sum = sum * r + coefficient;
  return r + r * (r * sum);
}

}  // namespace exp_log_detail

inline double exp(double x) {
  namespace detail = exp_log_detail;
  if (std::isnan(x)) return x;
  if (x > 709.7)
    return x > 710 ? std::numeric_limits<double>::infinity() : base::exp(x / 2) * base::exp(x / 2);
  if (x < -746) return 0;
  const double k = std::floor(x * detail::kLog2E + 0.5);
  const double r = (x - k * detail::kLn2High) - k * detail::kLn2Low;
  return std::ldexp(1 + detail::small_expm1(r), static_cast<int>(k));
}

// exp(x) - 1, as accurate near 0 as elsewhere.
inline double expm1(double x) {
  return std::abs(x) < 0.34 ? exp_log_detail::small_expm1(x) : base::exp(x) - 1;
}

inline double log(double x) {
  namespace detail = exp_log_detail;
  if (std::isnan(x) || x == std::numeric_limits<double>::infinity()) return x;
  if (x < 0) return std::numeric_limits<double>::quiet_NaN();
  if (x == 0) return -std::numeric_limits<double>::infinity();
  int exponent = 0;
  double m = std::frexp(x, &exponent);
  if (m < 0.70710678118654752440) {
    m *= 2;
    --exponent;
  }
  // log m = 2 atanh(s), s = f / (2 + f) with f = m - 1; 2 s = f - s f, which keeps f's bits.
  const double f = m - 1, s = f / (2 + f), square = s * s;
  double sum = 0;
  for (int n = 25; n >= 3; n -= 2) sum = (sum + 1.0 / n) * square;
  return exponent * detail::kLn2High + (f - (s * (f - 2 * sum) - exponent * detail::kLn2Low));
}

// x to the power of y for x >= 0. Small integer powers are computed as products.
inline double power(double x, double y) {
  if (std::abs(y) <= 8 && y == std::floor(y)) {
    double result = 1;
    for (int i = 0; i < std::abs(y); ++i) result *= x;
    return y < 0 ? 1 / result : result;
  }
  if (x == 0) return y > 0 ? 0 : std::numeric_limits<double>::infinity();
  return base::exp(y * base::log(x));
}

}  // namespace longtail::base
