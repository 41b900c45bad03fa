// For tests: a softmax regression small enough to enumerate every batch, with gradients known in closed form.
// d(-log p_y)/dW = (p - e_y) x^T.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "longtail/base/philox.h"
#include "longtail/theory/exact.h"

namespace longtail::theory {

class SoftmaxFixture {
 public:
  SoftmaxFixture(std::vector<std::int64_t> counts, int features, std::uint64_t seed)
      : counts_(std::move(counts)), features_(features) {
    const base::Stream stream{seed, base::Purpose::kTest, 0};
    std::uint64_t position = 0;
    const auto next = [&] {
      const base::Block block = stream.block(position++);
      return 2 * base::unit(base::join(block[0], block[1])) - 1;
    };
    std::vector<double> weights(counts_.size() * static_cast<std::size_t>(features));
    for (double& weight : weights) weight = next();
    for (std::size_t k = 0; k < counts_.size(); ++k) {
      for (std::int64_t i = 0; i < counts_[k]; ++i) {
        std::vector<double> x;
        for (int f = 0; f < features; ++f) x.push_back(next() + 0.3 * static_cast<double>(k));
        labels_.push_back(static_cast<int>(k));
        gradients_.push_back(gradient_of(weights, x, k));
      }
    }
  }

  const std::vector<std::int64_t>& counts() const { return counts_; }
  std::size_t images() const { return gradients_.size(); }
  std::size_t parameters() const { return counts_.size() * static_cast<std::size_t>(features_); }
  int label(std::size_t image) const { return labels_[image]; }
  const std::vector<double>& gradient(std::size_t image) const { return gradients_[image]; }

  std::vector<double> class_mean(int k) const {
    std::vector<double> mean(parameters());
    for (std::size_t i = 0; i < images(); ++i) {
      if (labels_[i] != k) continue;
      for (std::size_t p = 0; p < mean.size(); ++p)
        mean[p] += gradients_[i][p] / static_cast<double>(counts_[k]);
    }
    return mean;
  }

  Moments moments() const {
    const std::size_t classes = counts_.size();
    Moments result{counts_, std::vector<double>(classes), std::vector<double>(classes * classes)};
    std::vector<std::vector<double>> means;
    for (std::size_t k = 0; k < classes; ++k) means.push_back(class_mean(static_cast<int>(k)));
    for (std::size_t i = 0; i < images(); ++i) {
      const auto k = static_cast<std::size_t>(labels_[i]);
      result.within[k] += distance2(gradients_[i], means[k]) / static_cast<double>(counts_[k]);
    }
    for (std::size_t j = 0; j < classes; ++j) {
      for (std::size_t k = 0; k < classes; ++k) {
        for (std::size_t p = 0; p < parameters(); ++p)
          result.gram[j * classes + k] += means[j][p] * means[k][p];
      }
    }
    return result;
  }

  static double distance2(std::span<const double> a, std::span<const double> b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
    return sum;
  }

 private:
  std::vector<double> gradient_of(std::span<const double> weights, std::span<const double> x,
                                  std::size_t label) const {
    std::vector<double> p(counts_.size());
    double sum = 0;
    for (std::size_t k = 0; k < p.size(); ++k) {
      double logit = 0;
      for (std::size_t f = 0; f < x.size(); ++f) logit += weights[k * x.size() + f] * x[f];
      sum += p[k] = std::exp(logit);
    }
    std::vector<double> gradient;
    for (std::size_t k = 0; k < p.size(); ++k) {
      for (const double value : x) gradient.push_back((p[k] / sum - (k == label ? 1.0 : 0.0)) * value);
    }
    return gradient;
  }

  std::vector<std::int64_t> counts_;
  int features_;
  std::vector<int> labels_;
  std::vector<std::vector<double>> gradients_;
};

}  // namespace longtail::theory
