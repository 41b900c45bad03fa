#include "longtail/report/stats.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>

#include "longtail/base/philox.h"

namespace longtail::report {
namespace {

constexpr std::size_t kExactUpTo = 20;
constexpr int kDrawnFlips = 100000;
constexpr std::uint64_t kSeed = 20190615;  // any fixed number: the draws belong to the report, not to a run

// Counts the sign patterns whose sum is at least as far from 0 as `bound`.
std::uint64_t count_extreme(std::span<const double> d, double sum, double bound) {
  if (d.empty()) return std::abs(sum) >= bound ? 1 : 0;
  return count_extreme(d.subspan(1), sum + d[0], bound) + count_extreme(d.subspan(1), sum - d[0], bound);
}

double drawn_p(std::span<const double> d, double bound) {
  const base::Stream stream{.seed = kSeed, .purpose = base::Purpose::kBootstrap, .epoch = 0};
  const std::uint64_t blocks = (d.size() + 127) / 128;
  std::uint64_t extreme = 1;
  for (int draw = 0; draw < kDrawnFlips; ++draw) {
    double sum = 0;
    base::Block block{};
    for (std::size_t i = 0; i < d.size(); ++i) {
      if (i % 128 == 0) block = stream.block(static_cast<std::uint64_t>(draw) * blocks + i / 128);
      const bool flip = (block[i % 128 / 32] >> (i % 32)) & 1;
      sum += flip ? -d[i] : d[i];
    }
    if (std::abs(sum) >= bound) ++extreme;
  }
  return static_cast<double>(extreme) / (kDrawnFlips + 1);
}

// Linear interpolation between order statistics, as NumPy's default.
double quantile(const std::vector<double>& sorted, double q) {
  const double position = q * static_cast<double>(sorted.size() - 1);
  const std::size_t below = static_cast<std::size_t>(position);
  if (below + 1 >= sorted.size()) return sorted.back();
  return std::lerp(sorted[below], sorted[below + 1], position - static_cast<double>(below));
}

}  // namespace

double mean(std::span<const double> values) {
  if (values.empty()) return kNaN;
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double deviation(std::span<const double> values, Deviation kind) {
  const std::size_t divisor =
      kind == Deviation::kSample ? values.size() - (values.empty() ? 0 : 1) : values.size();
  if (divisor == 0) return kNaN;
  const double centre = mean(values);
  double sum = 0;
  for (double value : values) sum += (value - centre) * (value - centre);
  return std::sqrt(sum / static_cast<double>(divisor));
}

double sign_flip_p(std::span<const double> differences) {
  if (differences.empty()) return kNaN;
  double sum = 0, scale = 0;
  for (double d : differences) {
    sum += d;
    scale += std::abs(d);
  }
  // Sums of the same numbers in another order may differ in the last bits; these count as ties.
  const double bound = std::abs(sum) - 1e-12 * scale;
  if (differences.size() > kExactUpTo) return drawn_p(differences, bound);
  return static_cast<double>(count_extreme(differences, 0, bound)) /
         static_cast<double>(std::uint64_t{1} << differences.size());
}

Interval bootstrap_interval(std::span<const double> values, double level, int resamples) {
  if (values.empty()) return {kNaN, kNaN};
  const std::uint64_t n = values.size();
  const base::Stream stream{
      .seed = kSeed, .purpose = base::Purpose::kBootstrap, .epoch = static_cast<std::uint32_t>(n)};
  std::vector<double> means(static_cast<std::size_t>(resamples));
  for (std::size_t r = 0; r < means.size(); ++r) {
    double sum = 0;
    for (std::uint64_t i = 0; i < n; ++i) {
      const base::Block block = stream.block(r * n + i);
      sum += values[base::scale(base::join(block[0], block[1]), n)];
    }
    means[r] = sum / static_cast<double>(n);
  }
  std::sort(means.begin(), means.end());
  const double outside = (1 - level) / 2;
  return {quantile(means, outside), quantile(means, 1 - outside)};
}

std::vector<double> holm(std::span<const double> p_values) {
  std::vector<std::size_t> order(p_values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return p_values[a] < p_values[b]; });
  std::vector<double> adjusted(p_values.size());
  double largest = 0;
  for (std::size_t rank = 0; rank < order.size(); ++rank) {
    const double scaled = p_values[order[rank]] * static_cast<double>(order.size() - rank);
    largest = std::max(largest, std::min(scaled, 1.0));
    adjusted[order[rank]] = largest;
  }
  return adjusted;
}

int sign_agreement(std::span<const double> differences) {
  const auto above = std::count_if(differences.begin(), differences.end(), [](double d) { return d > 0; });
  const auto below = std::count_if(differences.begin(), differences.end(), [](double d) { return d < 0; });
  return static_cast<int>(std::max(above, below));
}

}  // namespace longtail::report
