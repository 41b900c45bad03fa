// The exact bias and variance of a mini-batch gradient, from the moments of the per-image gradients of each
// class.
//
// A batch is b draws: a class by its weight w_k, then an image of it uniformly. With g_k the mean gradient of
// class k and sigma_k^2 its variance (mean squared distance to g_k), the mean of the batch's gradient is
// sum_k w_k g_k and
//   variance = 1/b [ sum_k w_k (sigma_k^2 + |g_k|^2) - |sum_k w_k g_k|^2 ],
// a within-class part linear in w_k and a between-class part. Without replacement (b of n images, each once)
// both parts shrink by (n - b) / (n - 1). Derivation and the comparison with Proposition 1: docs/theory.md.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace longtail::theory {

// What the formula needs to know about the gradients: no vectors, only inner products.
struct Moments {
  std::vector<std::int64_t> counts;  // images of each class
  std::vector<double> within;        // sigma_k^2: mean squared distance of a gradient of class k to g_k
  std::vector<double> gram;          // K x K, row by row: <g_j, g_k>

  int classes() const { return static_cast<int>(counts.size()); }
  std::int64_t images() const;
  double product(int j, int k) const { return gram[static_cast<std::size_t>(j) * counts.size() + k]; }
  std::vector<double> prior() const;  // pi_k = n_k / n
};

// Moments as the paper assumes them, for predictions before any network exists: the same sigma^2 in every
// class (A2), class gradients orthogonal and of equal length. Then |bias|^2 = norm2 * |w - pi|^2, the
// deviation of the weights.
Moments model_moments(std::span<const std::int64_t> counts, double sigma2 = 1, double norm2 = 1);

// How a batch is drawn.
struct Draw {
  std::vector<double> weights;  // of each class
  int batch = 128;
  bool without_replacement = false;  // then the weights must be the prior
  bool stratified = false;           // every batch has the shares as nearly as whole numbers allow
};

struct Decomposition {
  double mean2 = 0;        // |E g|^2
  double bias2 = 0;        // |E g - full gradient|^2
  double within = 0;       // variance from which image of a class was drawn
  double between = 0;      // variance from which classes were drawn
  double proposition = 0;  // Proposition 1: sum_k w_k^2 sigma_k^2 / (b n_k)

  double variance() const { return within + between; }
  double mse() const { return bias2 + variance(); }
  double proposition_mse() const { return bias2 + proposition; }
};

Decomposition decompose(const Moments& moments, const Draw& draw);

// The same for the part of the gradient that comes from some classes: images of other classes count as zero
// gradients. One class gives the exact counterpart of the proposition's contribution of class k.
Decomposition decompose_part(const Moments& moments, const Draw& draw, std::span<const int> classes);

// Cosine of each class gradient with the full gradient (NaN where one of them is zero).
std::vector<double> cosines_with_full(const Moments& moments);
double cosine(const Moments& moments, int j, int k);

}  // namespace longtail::theory
