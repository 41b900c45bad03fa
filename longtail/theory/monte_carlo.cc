#include "longtail/theory/monte_carlo.h"

#include <cmath>

#include "longtail/base/error.h"
#include "longtail/base/philox.h"
#include "longtail/sampling/stream.h"

namespace longtail::theory {
namespace {

double squared_distance(std::span<const float> a, std::span<const float> b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double d = static_cast<double>(a[i]) - b[i];
    sum += d * d;
  }
  return sum;
}

double inner_in_order(std::span<const float> a, std::span<const float> b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += static_cast<double>(a[i]) * b[i];
  return sum;
}

void add(std::vector<double>& sum, std::span<const float> gradient) {
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += gradient[i];
}

void check(const MonteCarloPlan& plan, int fewest) {
  if (plan.batches < fewest) {
    base::fail("a standard error needs at least {} mini-batches, not {}", fewest, plan.batches);
  }
}

}  // namespace

std::vector<std::int64_t> draw_batch(const sampling::Strategy& strategy, std::span<const std::int64_t> counts,
                                     const MonteCarloPlan& plan, int index) {
  const base::Stream seeds{plan.seed, base::Purpose::kProbe,
                           static_cast<std::uint32_t>(plan.situation.epoch)};
  const base::Block block = seeds.block(static_cast<std::uint64_t>(index));
  sampling::Situation situation = plan.situation;
  situation.batch_size = plan.batch;
  const sampling::IndexStream stream(strategy, counts, situation, base::join(block[0], block[1]));
  if (plan.batch > stream.size()) {
    base::fail("a mini-batch of {} is larger than the subset of {} images", plan.batch, stream.size());
  }
  std::vector<std::int64_t> images(static_cast<std::size_t>(plan.batch));
  stream.fill(0, images);
  return images;
}

Estimate estimate(std::span<const double> values) {
  const auto count = static_cast<double>(values.size());
  Estimate result;
  for (const double value : values) result.value += value / count;
  double square = 0;
  for (const double value : values) square += (value - result.value) * (value - result.value);
  result.error = std::sqrt(square / (count - 1) / count);
  return result;
}

MonteCarlo monte_carlo(const sampling::Strategy& strategy, std::span<const std::int64_t> counts,
                       const MonteCarloPlan& plan, std::span<const float> expected,
                       const BatchGradient& gradient) {
  check(plan, kFewestBatches);
  MonteCarlo result{.batches = plan.batches, .variance = {}, .along = {}, .mean_miss = 0, .mean = {}};
  result.mean.resize(expected.size());
  std::vector<float> current(expected.size());
  std::vector<double> distances, components;
  const double length2 = inner_in_order(expected, expected);
  for (int index = 0; index < plan.batches; ++index) {
    gradient(draw_batch(strategy, counts, plan, index), current);
    distances.push_back(squared_distance(current, expected));
    components.push_back(inner_in_order(current, expected) / length2);
    add(result.mean, current);
  }
  double miss = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    result.mean[i] /= plan.batches;
    miss += (result.mean[i] - expected[i]) * (result.mean[i] - expected[i]);
  }
  result.variance = estimate(distances);
  result.along = estimate(components);
  result.mean_miss = plan.batches * miss / result.variance.value;
  return result;
}

MonteCarlo monte_carlo_pairs(const sampling::Strategy& strategy, std::span<const std::int64_t> counts,
                             const MonteCarloPlan& plan, std::size_t parameters,
                             const BatchGradient& gradient) {
  check(plan, kFewestPaired);
  const int pairs = plan.batches / 2;
  MonteCarlo result{.batches = 2 * pairs, .variance = {}, .along = {}, .mean_miss = 0, .mean = {}};
  result.mean.resize(parameters);
  std::vector<float> first(parameters), second(parameters);
  std::vector<double> halves;
  for (int pair = 0; pair < pairs; ++pair) {
    gradient(draw_batch(strategy, counts, plan, 2 * pair), first);
    gradient(draw_batch(strategy, counts, plan, 2 * pair + 1), second);
    halves.push_back(squared_distance(first, second) / 2);
    add(result.mean, first);
    add(result.mean, second);
  }
  for (double& value : result.mean) value /= result.batches;
  result.variance = estimate(halves);
  return result;
}

}  // namespace longtail::theory
