// The variance of mini-batch gradients, measured: batches come from the real samplers, gradients from a
// function of the caller. Batches are independent: each is the first batch of an epoch with its own seed.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "longtail/sampling/strategy.h"

namespace longtail::theory {

struct MonteCarloPlan {
  int batches = 400;
  int batch = 128;
  std::uint64_t seed = 42;
  sampling::Situation situation;
};

// Gradient of the mean loss over the images (positions in the subset, repetitions included).
using BatchGradient = std::function<void(std::span<const std::int64_t> images, std::span<float> gradient)>;

// The images of batch `index` of a plan.
std::vector<std::int64_t> draw_batch(const sampling::Strategy& strategy, std::span<const std::int64_t> counts,
                                     const MonteCarloPlan& plan, int index);

// A mean of independent numbers and its standard error.
struct Estimate {
  double value = 0;
  double error = 0;

  // Standard errors between the estimate and a prediction.
  double distance(double prediction) const { return (value - prediction) / error; }
};
Estimate estimate(std::span<const double> values);

struct MonteCarlo {
  int batches = 0;
  Estimate variance;
  Estimate
      along;  // component of the gradient along the expected one, over its length: 1 if the mean is right
  double mean_miss = 0;  // B |mean of B gradients - expected|^2 / variance: near 1 if the mean is right
  std::vector<double> mean;
};

// Fewer batches have no standard error.
inline constexpr int kFewestBatches = 2;
inline constexpr int kFewestPaired = 4;

// With a known expectation: the squared distance of each batch's gradient to it is one unbiased, independent
// measurement of the variance.
MonteCarlo monte_carlo(const sampling::Strategy& strategy, std::span<const std::int64_t> counts,
                       const MonteCarloPlan& plan, std::span<const float> expected,
                       const BatchGradient& gradient);

// Without a known expectation: half the squared distance between the gradients of two batches is unbiased
// too. `along` and `mean_miss` stay empty. An odd last batch is left out.
MonteCarlo monte_carlo_pairs(const sampling::Strategy& strategy, std::span<const std::int64_t> counts,
                             const MonteCarloPlan& plan, std::size_t parameters,
                             const BatchGradient& gradient);

}  // namespace longtail::theory
