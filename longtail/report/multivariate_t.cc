#include "longtail/report/multivariate_t.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <mutex>
#include <numbers>

namespace longtail::report {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Node {
  double x = 0;
  double weight = 0;
};

constexpr int kOrder = 16;
// Gauss-Legendre on [-1, 1]: roots of the Legendre polynomial by Newton's method.
std::array<Node, kOrder> legendre() {
  std::array<Node, kOrder> nodes;
  for (int i = 0; i < kOrder; ++i) {
    double x = std::cos(std::numbers::pi * (i + 0.75) / (kOrder + 0.5));
    double slope = 1;
    for (int step = 0; step < 50; ++step) {
      double before = 1, now = x;
      for (int n = 2; n <= kOrder; ++n) {
        const double next = ((2 * n - 1) * x * now - (n - 1) * before) / n;
        before = now;
        now = next;
      }
      slope = kOrder * (x * now - before) / (x * x - 1);
      const double move = now / slope;
      x -= move;
      if (std::abs(move) < 1e-15) break;
    }
    nodes[static_cast<std::size_t>(i)] = {x, 2 / ((1 - x * x) * slope * slope)};
  }
  return nodes;
}

// Composite Gauss-Legendre nodes over [low, high].
std::vector<Node> panels(double low, double high, int count) {
  static const std::array<Node, kOrder> rule = legendre();
  std::vector<Node> nodes;
  const double half = (high - low) / (2 * count);
  for (int panel = 0; panel < count; ++panel) {
    const double centre = low + half * (2 * panel + 1);
    for (const Node& node : rule) nodes.push_back({centre + half * node.x, half * node.weight});
  }
  return nodes;
}

// Nodes over s = sqrt(chi^2 / dof), its density in the weights.
std::vector<Node> scale_nodes(double dof, int count) {
  const double reach = 9 / std::sqrt(2 * dof), low = std::max(0.0, 1 - reach), high = 1 + reach;
  std::vector<Node> nodes = panels(low, high, count);
  if (dof < 2) {
    // One degree of freedom: the density is highest at 0, where the integrand changes within a fraction of a
    // limit that may be in the hundreds. So the first panel is cut into smaller and smaller ones.
    constexpr double kCut = 16;
    double edge = high / count;
    nodes.erase(nodes.begin(), nodes.begin() + kOrder);
    for (int cut = 0; cut < 3; ++cut, edge /= kCut) {
      const std::vector<Node> part = panels(edge / kCut, edge, 1);
      nodes.insert(nodes.end(), part.begin(), part.end());
    }
    const std::vector<Node> rest = panels(0, edge, 1);
    nodes.insert(nodes.end(), rest.begin(), rest.end());
  }
  const double log_constant = std::numbers::ln2 + 0.5 * dof * std::log(0.5 * dof) - std::lgamma(0.5 * dof);
  for (Node& node : nodes) {
    node.weight *= std::exp(log_constant + (dof - 1) * std::log(node.x) - 0.5 * dof * node.x * node.x);
  }
  return nodes;
}

double continued_fraction(double x, double a, double b) {
  constexpr double kTiny = 1e-300;
  double c = 1, d = 1 / std::max(1 - (a + b) * x / (a + 1), kTiny), value = d;
  for (int m = 1; m < 500; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    double factor = 1;
    for (const double term : {even, odd}) {
      d = 1 + term * d;
      c = 1 + term / c;
      if (std::abs(d) < kTiny) d = kTiny;
      if (std::abs(c) < kTiny) c = kTiny;
      d = 1 / d;
      factor = c * d;
      value *= factor;
    }
    if (std::abs(factor - 1) < 1e-15) break;
  }
  return value;
}

Matrix cholesky(const Matrix& correlation) {
  const std::size_t m = correlation.size();
  Matrix lower(m, std::vector<double>(m, 0));
  for (std::size_t i = 0; i < m; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = correlation[i][j];
      for (std::size_t l = 0; l < j; ++l) sum -= lower[i][l] * lower[j][l];
      lower[i][j] = i == j ? std::sqrt(std::max(sum, 1e-14)) : sum / lower[j][j];
    }
  }
  return lower;
}

// Points of Richtmyer's lattice, folded (the baker's transformation) so that the integrand is periodic.
std::vector<double> lattice(std::size_t points, std::size_t dimensions) {
  constexpr std::array<int, 16> kPrimes = {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53};
  std::vector<double> all(points * dimensions);
  for (std::size_t n = 0; n < points; ++n) {
    for (std::size_t d = 0; d < dimensions; ++d) {
      // Beyond sixteen dimensions, other multiples of the same roots are used.
      const double root =
          std::sqrt(static_cast<double>(kPrimes[d % 16])) * (1 + static_cast<double>(d / 16) / 3);
      const double x = std::fmod((static_cast<double>(n) + 0.5) * root, 1.0);
      all[n * dimensions + d] = std::abs(2 * x - 1);
    }
  }
  return all;
}

double solve_increasing(const auto& probability, double confidence) {
  double low = 0, high = 2;
  while (probability(high) < confidence && high < 1e9) {
    low = high;
    high *= 2;
  }
  // The secant method inside a bracket that shrinks by half at least every third step (Illinois).
  double at_low = probability(low) - confidence, at_high = probability(high) - confidence;
  int side = 0;
  for (int step = 0; step < 100 && high - low > 1e-9 * high; ++step) {
    double next = (low * at_high - high * at_low) / (at_high - at_low);
    if (!(next > low && next < high)) next = 0.5 * (low + high);
    const double value = probability(next) - confidence;
    if (std::abs(value) < 1e-12) return next;
    if (value < 0) {
      low = next;
      at_low = value;
      if (side == -1) at_high *= 0.5;
      side = -1;
    } else {
      high = next;
      at_high = value;
      if (side == 1) at_low *= 0.5;
      side = 1;
    }
  }
  return 0.5 * (low + high);
}

// Every metric of a condition has the same design, so results are cached.
double remembered(std::vector<double> key, const auto& work_out) {
  static std::mutex mutex;
  static std::map<std::vector<double>, double> known;
  {
    const std::lock_guard lock(mutex);
    if (const auto found = known.find(key); found != known.end()) return found->second;
  }
  const double value = work_out();
  const std::lock_guard lock(mutex);
  return known.emplace(std::move(key), value).first->second;
}

// P(largest - smallest of `count` standard normals < width * s).
double range_probability(int count, double dof, double width) {
  static const std::vector<Node> largest = panels(-8.5, 8.5, 6);
  double total = 0;
  for (const Node& s : scale_nodes(dof, 6)) {
    if (s.weight < 1e-18) continue;
    double sum = 0;
    for (const Node& z : largest) {
      const double density = std::exp(-0.5 * z.x * z.x) / std::sqrt(2 * std::numbers::pi);
      sum += z.weight * density * std::pow(normal_cdf(z.x) - normal_cdf(z.x - width * s.x), count - 1);
    }
    total += s.weight * count * sum;
  }
  return total;
}

double calculate(const Matrix& correlation, double dof, double confidence, Sides sides) {
  const std::size_t m = correlation.size();
  const std::vector<double> loadings = product_loadings(correlation);
  const auto probability = [&](double c) {
    const Box box{std::vector<double>(m, sides == Sides::kTwo ? -c : -kInfinity), std::vector<double>(m, c)};
    return loadings.empty() ? general_probability(correlation, dof, box)
                            : product_probability(loadings, dof, box);
  };
  return solve_increasing(probability, confidence);
}

}  // namespace

double normal_cdf(double x) { return 0.5 * std::erfc(-x * std::numbers::sqrt2 / 2); }

// Acklam's rational approximation (relative error 1.2e-9) and one step of Halley's method.
double normal_quantile(double p) {
  if (p <= 0) return -kInfinity;
  if (p >= 1) return kInfinity;
  constexpr std::array a = {-3.969683028665376e+01, 2.209460984245205e+02,  -2.759285104469687e+02,
                            1.383577518672690e+02,  -3.066479806614716e+01, 2.506628277459239e+00};
  constexpr std::array b = {-5.447609879822406e+01, 1.615858368580409e+02, -1.556989798598866e+02,
                            6.680131188771972e+01, -1.328068155288572e+01};
  constexpr std::array c = {-7.784894002430293e-03, -3.223964580411365e-01, -2.400758277161838e+00,
                            -2.549732539343734e+00, 4.374664141464968e+00,  2.938163982698783e+00};
  constexpr std::array d = {7.784695709041462e-03, 3.224671290700398e-01, 2.445134137142996e+00,
                            3.754408661907416e+00};
  const auto tail = [&](double q) {
    return (((((c[0] * q + c[1]) * q + c[2]) * q + c[3]) * q + c[4]) * q + c[5]) /
           ((((d[0] * q + d[1]) * q + d[2]) * q + d[3]) * q + 1);
  };
  constexpr double kEdge = 0.02425;
  double x = 0;
  if (p < kEdge) {
    x = tail(std::sqrt(-2 * std::log(p)));
  } else if (p > 1 - kEdge) {
    x = -tail(std::sqrt(-2 * std::log1p(-p)));
  } else {
    const double q = p - 0.5, r = q * q;
    x = (((((a[0] * r + a[1]) * r + a[2]) * r + a[3]) * r + a[4]) * r + a[5]) * q /
        (((((b[0] * r + b[1]) * r + b[2]) * r + b[3]) * r + b[4]) * r + 1);
  }
  const double error = normal_cdf(x) - p;
  const double step = error * std::sqrt(2 * std::numbers::pi) * std::exp(0.5 * x * x);
  return x - step / (1 + 0.5 * x * step);
}

double beta_cdf(double x, double a, double b) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  const double front =
      std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) + a * std::log(x) + b * std::log1p(-x));
  if (x < (a + 1) / (a + b + 2)) return front * continued_fraction(x, a, b) / a;
  return 1 - front * continued_fraction(1 - x, b, a) / b;
}

double product_probability(std::span<const double> loadings, double dof, const Box& box) {
  const std::vector<Node> scales = scale_nodes(dof, 6);
  static const std::vector<Node> common = [] {
    std::vector<Node> nodes = panels(-8.5, 8.5, 6);
    for (Node& node : nodes)
      node.weight *= std::exp(-0.5 * node.x * node.x) / std::sqrt(2 * std::numbers::pi);
    return nodes;
  }();
  const std::size_t m = loadings.size();
  std::vector<double> own(m);
  for (std::size_t i = 0; i < m; ++i) own[i] = 1 / std::sqrt(1 - loadings[i] * loadings[i]);
  const auto same_as_before = [&](std::size_t i) {
    return i > 0 && loadings[i] == loadings[i - 1] && box.low[i] == box.low[i - 1] &&
           box.high[i] == box.high[i - 1] && (box.shift.empty() || box.shift[i] == box.shift[i - 1]);
  };
  double total = 0;
  for (const Node& s : scales) {
    if (s.weight < 1e-18) continue;
    for (const Node& z : common) {
      if (z.weight < 1e-18) continue;
      double inside = s.weight * z.weight, one = 1;
      for (std::size_t i = 0; i < m; ++i) {
        if (!same_as_before(i)) {
          const double centre = loadings[i] * z.x + (box.shift.empty() ? 0 : box.shift[i]);
          const double high = normal_cdf((box.high[i] * s.x - centre) * own[i]);
          const double low = std::isinf(box.low[i]) ? 0 : normal_cdf((box.low[i] * s.x - centre) * own[i]);
          one = high - low;
        }
        inside *= one;
      }
      total += inside;
    }
  }
  return total;
}

double general_probability(const Matrix& correlation, double dof, const Box& box) {
  constexpr std::size_t kPoints = 2039;
  const std::size_t m = correlation.size();
  const Matrix lower = cholesky(correlation);
  const std::vector<double> points = lattice(kPoints, std::max<std::size_t>(m - 1, 1));
  double total = 0;
  std::vector<double> y(m);
  for (const Node& s : scale_nodes(dof, 2)) {
    if (s.weight < 1e-18) continue;
    double sum = 0;
    for (std::size_t n = 0; n < kPoints; ++n) {
      double inside = 1;
      for (std::size_t i = 0; i < m && inside > 0; ++i) {
        double known = 0;
        for (std::size_t j = 0; j < i; ++j) known += lower[i][j] * y[j];
        const double high = normal_cdf((box.high[i] * s.x - known) / lower[i][i]);
        const double low = std::isinf(box.low[i]) ? 0 : normal_cdf((box.low[i] * s.x - known) / lower[i][i]);
        inside *= high - low;
        if (i + 1 < m) y[i] = normal_quantile(low + points[n * (m - 1) + i] * (high - low));
      }
      sum += inside;
    }
    total += s.weight * sum / static_cast<double>(kPoints);
  }
  return total;
}

std::vector<double> product_loadings(const Matrix& correlation) {
  const std::size_t m = correlation.size();
  if (m == 1) return {0};
  std::vector<double> loadings(m, 0);
  if (m == 2) {
    const double r = correlation[0][1];
    loadings = {std::sqrt(std::abs(r)), std::copysign(std::sqrt(std::abs(r)), r)};
  } else {
    for (std::size_t i = 0; i < m; ++i) {
      const std::size_t j = (i + 1) % m, l = (i + 2) % m;
      const double square = correlation[i][j] * correlation[i][l] / correlation[j][l];
      if (!(square > 0)) return {};
      loadings[i] = std::sqrt(square);
    }
  }
  for (std::size_t i = 0; i < m; ++i) {
    if (!(std::abs(loadings[i]) < 1 - 1e-9)) return {};
    for (std::size_t j = 0; j < i; ++j) {
      if (!(std::abs(loadings[i] * loadings[j] - correlation[i][j]) < 1e-9)) return {};
    }
  }
  return loadings;
}

double critical_value(const Matrix& correlation, double dof, double confidence, Sides sides) {
  std::vector<double> key = {dof, confidence, sides == Sides::kTwo ? 2.0 : 1.0};
  for (const auto& row : correlation) {
    for (const double r : row) key.push_back(std::round(r * 1e10) / 1e10);
  }
  return remembered(std::move(key), [&] { return calculate(correlation, dof, confidence, sides); });
}

double all_pairs_critical(int count, double dof, double confidence) {
  return remembered({dof, confidence, 0, static_cast<double>(count)}, [&] {
    const auto probability = [&](double c) { return range_probability(count, dof, c * std::numbers::sqrt2); };
    return solve_increasing(probability, confidence);
  });
}

double dunnett_critical(int comparisons, double dof, double confidence, Sides sides) {
  const auto m = static_cast<std::size_t>(comparisons);
  Matrix correlation(m, std::vector<double>(m, 0.5));
  for (std::size_t i = 0; i < m; ++i) correlation[i][i] = 1;
  return critical_value(correlation, dof, confidence, sides);
}

double student_critical(double dof, double confidence, Sides sides) {
  const double outside = sides == Sides::kTwo ? 1 - confidence : 2 * (1 - confidence);
  return remembered({dof, outside, 3}, [&] {
    // In closed form, and by the tail: near 1 a probability has few significant digits left.
    const auto inside = [&](double t) { return -beta_cdf(dof / (dof + t * t), dof / 2, 0.5); };
    return solve_increasing(inside, -outside);
  });
}

}  // namespace longtail::report
