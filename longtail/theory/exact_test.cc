#include "longtail/theory/exact.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numeric>

#include "longtail/base/error.h"
#include "longtail/theory/softmax_fixture.h"

namespace longtail::theory {
namespace {

// Calls visit(batch, probability) for every ordered batch of b images.
using Visit = std::function<void(const std::vector<std::size_t>& batch, double probability)>;
void every_batch(const SoftmaxFixture& data, const Draw& draw, const Visit& visit) {
  std::vector<std::size_t> batch;
  const std::function<void(double)> grow = [&](double probability) {
    if (static_cast<int>(batch.size()) == draw.batch) {
      visit(batch, probability);
      return;
    }
    for (std::size_t i = 0; i < data.images(); ++i) {
      const bool taken = std::find(batch.begin(), batch.end(), i) != batch.end();
      if (draw.without_replacement && taken) continue;
      const int k = data.label(i);
      const double chance = draw.without_replacement
                                ? 1.0 / static_cast<double>(data.images() - batch.size())
                                : draw.weights[k] / static_cast<double>(data.counts()[k]);
      batch.push_back(i);
      grow(probability * chance);
      batch.pop_back();
    }
  };
  grow(1.0);
}

// Mean, bias and variance of the batch gradient, restricted to some classes, by enumeration.
struct BruteForce {
  double mass = 0, mean2 = 0, bias2 = 0, variance = 0;
};
BruteForce brute_force(const SoftmaxFixture& data, const Draw& draw, const std::vector<int>& classes) {
  const auto part = [&](const std::vector<std::size_t>& batch) {
    std::vector<double> gradient(data.parameters());
    for (const std::size_t i : batch) {
      if (std::find(classes.begin(), classes.end(), data.label(i)) == classes.end()) continue;
      for (std::size_t p = 0; p < gradient.size(); ++p) {
        gradient[p] += data.gradient(i)[p] / static_cast<double>(batch.size());
      }
    }
    return gradient;
  };
  BruteForce result;
  std::vector<double> mean(data.parameters()), zero(data.parameters());
  every_batch(data, draw, [&](const auto& batch, double probability) {
    const std::vector<double> gradient = part(batch);
    result.mass += probability;
    for (std::size_t p = 0; p < mean.size(); ++p) mean[p] += probability * gradient[p];
  });
  every_batch(data, draw, [&](const auto& batch, double probability) {
    result.variance += probability * SoftmaxFixture::distance2(part(batch), mean);
  });
  std::vector<std::size_t> everything(data.images());
  std::iota(everything.begin(), everything.end(), std::size_t{0});
  result.mean2 = SoftmaxFixture::distance2(mean, zero);
  result.bias2 = SoftmaxFixture::distance2(mean, part(everything));
  return result;
}

void expect_exact(const SoftmaxFixture& data, const Draw& draw, const std::vector<int>& classes) {
  const BruteForce truth = brute_force(data, draw, classes);
  const Decomposition formula = decompose_part(data.moments(), draw, classes);
  ASSERT_NEAR(truth.mass, 1.0, 1e-12);
  ASSERT_GT(truth.variance, 1e-3);
  EXPECT_NEAR(formula.mean2, truth.mean2, 1e-10);
  EXPECT_NEAR(formula.bias2, truth.bias2, 1e-10);
  EXPECT_NEAR(formula.variance(), truth.variance, 1e-10);
  EXPECT_NEAR(formula.mse(), truth.bias2 + truth.variance, 1e-10);
}

TEST(ExactTest, TheFormulaEqualsTheEnumerationOfAllBatchesForEveryKindOfWeights) {
  const SoftmaxFixture data({4, 2, 1}, 3, 1);
  const std::vector<int> all = {0, 1, 2};
  const double root = 2 + std::sqrt(2.0) + 1;
  const std::vector<std::vector<double>> weightings = {
      {4.0 / 7, 2.0 / 7, 1.0 / 7},                  // uniform, with replacement
      {1.0 / 3, 1.0 / 3, 1.0 / 3},                  // class-balanced
      {2 / root, std::sqrt(2.0) / root, 1 / root},  // square root
      {0.1, 0.2, 0.7},
      {0.0, 0.0, 1.0},
  };
  for (const auto& weights : weightings) {
    for (const int batch : {1, 2, 3, 4}) {
      if (weights[2] == 1.0) {  // one image only: no variance at all
        EXPECT_NEAR(decompose(data.moments(), {weights, batch, false}).variance(), 0, 1e-12);
        continue;
      }
      SCOPED_TRACE(testing::Message() << "batch " << batch << ", first weight " << weights[0]);
      expect_exact(data, {weights, batch, false}, all);
    }
  }
}

TEST(ExactTest, WithoutReplacementTheFinitePopulationFactorIsExact) {
  const SoftmaxFixture data({4, 2, 1}, 3, 2);
  const std::vector<double> prior = data.moments().prior();
  for (const int batch : {1, 2, 3, 4}) expect_exact(data, {prior, batch, true}, {0, 1, 2});
  // The whole set at once has no variance.
  EXPECT_NEAR(decompose(data.moments(), {prior, 7, true}).variance(), 0, 1e-15);
}

TEST(ExactTest, ThePartOfSomeClassesIsExactToo) {
  const SoftmaxFixture data({3, 2, 2}, 4, 3);
  for (const std::vector<int>& part : {std::vector<int>{0}, {2}, {0, 2}, {1, 2}}) {
    expect_exact(data, {{0.2, 0.5, 0.3}, 3, false}, part);
    expect_exact(data, {data.moments().prior(), 3, true}, part);
  }
}

TEST(ExactTest, AClassWithoutImagesChangesNothing) {
  const SoftmaxFixture with({4, 0, 2}, 3, 4);
  expect_exact(with, {{0.4, 0.0, 0.6}, 3, false}, {0, 1, 2});
  EXPECT_TRUE(std::isfinite(decompose(with.moments(), {{0.4, 0.0, 0.6}, 3, false}).proposition));
}

TEST(ExactTest, UnderEqualVariancesTheWithinPartDoesNotDependOnTheWeights) {
  const std::vector<std::int64_t> counts = {500, 50, 5};
  const Moments moments = model_moments(counts, 2.0, 1.0);
  for (const auto& weights :
       {moments.prior(), std::vector<double>(3, 1.0 / 3), std::vector<double>{0.1, 0.1, 0.8}}) {
    EXPECT_NEAR(decompose(moments, {weights, 128, false}).within, 2.0 / 128, 1e-15);
  }
}

TEST(ExactTest, UnderTheModelTheBiasIsTheDeviationOfTheWeights) {
  const std::vector<std::int64_t> counts = {6, 3, 1};
  const Moments moments = model_moments(counts, 1.0, 4.0);
  EXPECT_NEAR(decompose(moments, {{1.0 / 3, 1.0 / 3, 1.0 / 3}, 8, false}).bias2,
              4.0 * (std::pow(1.0 / 3 - 0.6, 2) + std::pow(1.0 / 3 - 0.3, 2) + std::pow(1.0 / 3 - 0.1, 2)),
              1e-14);
  EXPECT_EQ(decompose(moments, {moments.prior(), 8, false}).bias2, 0);
}

TEST(ExactTest, CosinesComeFromTheInnerProducts) {
  const SoftmaxFixture data({4, 2, 1}, 3, 5);
  const Moments moments = data.moments();
  const std::vector<double> prior = moments.prior();
  std::vector<double> full(data.parameters());
  for (int k = 0; k < 3; ++k) {
    for (std::size_t p = 0; p < full.size(); ++p) full[p] += prior[k] * data.class_mean(k)[p];
  }
  const auto inner = [](const std::vector<double>& a, const std::vector<double>& b) {
    return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
  };
  const std::vector<double> cosines = cosines_with_full(moments);
  for (int k = 0; k < 3; ++k) {
    const std::vector<double> g = data.class_mean(k);
    EXPECT_NEAR(cosines[k], inner(g, full) / std::sqrt(inner(g, g) * inner(full, full)), 1e-12);
    EXPECT_NEAR(cosine(moments, k, k), 1.0, 1e-12);
  }
}

TEST(ExactTest, NonsenseIsRefused) {
  const Moments moments = model_moments(std::vector<std::int64_t>{3, 2});
  EXPECT_THROW(decompose(moments, {{0.5, 0.3, 0.2}, 2, false}), base::Error);
  EXPECT_THROW(decompose(moments, {{0.5, 0.5}, 0, false}), base::Error);
  EXPECT_THROW(decompose(moments, {moments.prior(), 6, true}), base::Error);
}

}  // namespace
}  // namespace longtail::theory
