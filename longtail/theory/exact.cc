#include "longtail/theory/exact.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "longtail/base/error.h"
#include "longtail/theory/stratified.h"

namespace longtail::theory {
namespace {

// |sum_k a_k g_k|^2 over the given classes.
double norm2_of(const Moments& moments, std::span<const double> a, std::span<const int> classes) {
  double sum = 0;
  for (const int j : classes) {
    for (const int k : classes) sum += a[j] * a[k] * moments.product(j, k);
  }
  return std::max(sum, 0.0);
}

std::vector<int> all_classes(const Moments& moments) {
  std::vector<int> all(moments.counts.size());
  std::iota(all.begin(), all.end(), 0);
  return all;
}

void check(const Moments& moments, const Draw& draw) {
  const std::size_t k = moments.counts.size();
  if (moments.within.size() != k || moments.gram.size() != k * k || draw.weights.size() != k) {
    base::fail("moments of {} classes need as many variances and weights and a square Gram matrix", k);
  }
  if (draw.batch < 1) base::fail("a batch of {} images has no gradient; it needs at least 1", draw.batch);
  if (draw.without_replacement && draw.batch > moments.images()) {
    base::fail("a batch of {} cannot be drawn without replacement from {} images", draw.batch,
               moments.images());
  }
}

}  // namespace

std::int64_t Moments::images() const {
  return std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
}

std::vector<double> Moments::prior() const {
  const auto n = static_cast<double>(images());
  std::vector<double> pi;
  pi.reserve(counts.size());
  for (const std::int64_t count : counts) pi.push_back(static_cast<double>(count) / n);
  return pi;
}

Moments model_moments(std::span<const std::int64_t> counts, double sigma2, double norm2) {
  const std::size_t k = counts.size();
  Moments moments{
      {counts.begin(), counts.end()}, std::vector<double>(k, sigma2), std::vector<double>(k * k, 0.0)};
  for (std::size_t i = 0; i < k; ++i) moments.gram[i * k + i] = norm2;
  return moments;
}

Decomposition decompose_part(const Moments& moments, const Draw& draw, std::span<const int> classes) {
  check(moments, draw);
  const std::vector<double> pi = moments.prior();
  std::vector<double> deviation(pi.size());
  Decomposition result;
  double squares = 0;
  for (const int k : classes) {
    const double w = draw.weights[k];
    if (moments.counts[k] == 0) continue;
    deviation[k] = w - pi[k];
    result.within += w * moments.within[k];
    squares += w * moments.product(k, k);
    result.proposition += w * w * moments.within[k] / static_cast<double>(moments.counts[k]);
  }
  result.mean2 = norm2_of(moments, draw.weights, classes);
  result.bias2 = norm2_of(moments, deviation, classes);
  const auto n = static_cast<double>(moments.images());
  double scale = 1.0 / draw.batch;
  result.proposition *= scale;
  if (draw.without_replacement) scale *= n > 1 ? (n - draw.batch) / (n - 1) : 0.0;
  result.within *= scale;
  result.between = draw.stratified ? stratified_between(moments, draw, classes)
                                   : std::max(squares - result.mean2, 0.0) * scale;
  return result;
}

Decomposition decompose(const Moments& moments, const Draw& draw) {
  return decompose_part(moments, draw, all_classes(moments));
}

double cosine(const Moments& moments, int j, int k) {
  const double lengths = moments.product(j, j) * moments.product(k, k);
  return lengths > 0 ? moments.product(j, k) / std::sqrt(lengths) : std::numeric_limits<double>::quiet_NaN();
}

std::vector<double> cosines_with_full(const Moments& moments) {
  const std::vector<double> pi = moments.prior();
  const std::vector<int> all = all_classes(moments);
  const double full2 = norm2_of(moments, pi, all);
  std::vector<double> result;
  for (const int k : all) {
    double inner = 0;
    for (const int j : all) inner += pi[j] * moments.product(j, k);
    const double lengths = full2 * moments.product(k, k);
    result.push_back(lengths > 0 ? inner / std::sqrt(lengths) : std::numeric_limits<double>::quiet_NaN());
  }
  return result;
}

}  // namespace longtail::theory
