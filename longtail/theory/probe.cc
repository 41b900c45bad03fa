#include "longtail/theory/probe.h"

#include <cmath>

#include "longtail/base/error.h"
#include "longtail/theory/forecast.h"

namespace longtail::theory {
namespace {

// Checked before the gradients of all images are computed, not after.
void check(const ProbePlan& plan) {
  const auto enough = [](int batches, int fewest) { return batches == 0 || batches >= fewest; };
  if (!enough(plan.batches, kFewestBatches) || !enough(plan.training_batches, kFewestPaired)) {
    base::fail<base::UsageError>(
        "a standard error needs at least {} mini-batches, in training mode {}; 0 leaves them out",
        kFewestBatches, kFewestPaired);
  }
}

std::vector<int> classes_of(data::Group group, std::span<const data::Group> groups,
                            std::span<const std::int64_t> counts) {
  std::vector<int> classes;
  for (std::size_t k = 0; k < counts.size(); ++k) {
    if (counts[k] > 0 && groups[k] == group) classes.push_back(static_cast<int>(k));
  }
  return classes;
}

StrategyProbe by_formula(const sampling::Strategy& strategy, const Moments& moments,
                         std::span<const data::Group> groups, const ProbePlan& plan) {
  StrategyProbe result;
  result.strategy = strategy.name();
  result.draw = draw_of(strategy, moments.counts, plan.situation, plan.batch);
  result.total = decompose(moments, result.draw);
  for (int g = 0; g < 3; ++g) {
    const auto classes = classes_of(static_cast<data::Group>(g), groups, moments.counts);
    result.groups[g] = decompose_part(moments, result.draw, classes);
  }
  for (int k = 0; k < moments.classes(); ++k) {
    const std::array<int, 1> only = {k};
    result.classes.push_back(decompose_part(moments, result.draw, only));
  }
  return result;
}

double cosine_of(std::span<const double> a, std::span<const float> b) {
  double ab = 0, aa = 0, bb = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    ab += a[i] * b[i];
    aa += a[i] * a[i];
    bb += static_cast<double>(b[i]) * b[i];
  }
  return ab / std::sqrt(aa * bb);
}

// The squared distance of two sample means is too large by the noise of each, which is subtracted.
double distance2_without_noise(const MonteCarlo& a, const MonteCarlo& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.mean.size(); ++i) sum += (a.mean[i] - b.mean[i]) * (a.mean[i] - b.mean[i]);
  return sum - a.variance.value / a.batches - b.variance.value / b.batches;
}

// Counts calls for the progress display.
BatchGradient counted(const OnStage& on_stage, std::string stage, int total, BatchGradient gradient) {
  return [&on_stage, stage = std::move(stage), total, gradient = std::move(gradient), done = 0](
             std::span<const std::int64_t> images, std::span<float> out) mutable {
    gradient(images, out);
    if (on_stage) on_stage(stage, ++done, total);
  };
}

void add_training_bias(ProbeResult& result) {
  const TrainingMode* uniform = nullptr;
  for (const StrategyProbe& one : result.strategies) {
    if (one.strategy == "uniform" && one.training) uniform = &*one.training;
  }
  if (uniform == nullptr) return;
  for (StrategyProbe& one : result.strategies) {
    if (!one.training) continue;
    one.training->bias2 =
        &*one.training == uniform ? 0.0 : distance2_without_noise(one.training->sample, uniform->sample);
  }
}

}  // namespace

ProbeResult probe(GradientMeter& meter, const NetworkState& network, const data::Subset& subset,
                  std::span<const data::Group> groups, const ProbePlan& plan, const OnStage& on_stage) {
  check(plan);
  const ClassGradients gradients = meter.collect(network, [&](std::int64_t done, std::int64_t total) {
    if (on_stage) on_stage("gradients of images", done, total);
  });
  ProbeResult result;
  result.epoch = plan.situation.epoch;
  result.situation = plan.situation;
  result.moments = gradients.moments;
  result.image_norm2 = gradients.image_norm2;
  result.cosines = cosines_with_full(gradients.moments);
  for (const std::string& text : plan.strategies) {
    const auto strategy = sampling::make_strategy(text);
    StrategyProbe one = by_formula(*strategy, gradients.moments, groups, plan);
    const std::vector<float> expected = gradients.expected(one.draw.weights);
    MonteCarloPlan batches{plan.batches, plan.batch, plan.seed, plan.situation};
    if (plan.batches > 0) {
      one.frozen = monte_carlo(*strategy, subset.counts, batches, expected,
                               counted(on_stage, "mini-batches of " + one.strategy, plan.batches,
                                       [&](auto images, auto out) { meter.frozen(network, images, out); }));
    }
    if (plan.training_batches > 0) {
      batches.batches = plan.training_batches;
      TrainingMode training;
      training.sample =
          monte_carlo_pairs(*strategy, subset.counts, batches, expected.size(),
                            counted(on_stage, "training mode of " + one.strategy, plan.training_batches,
                                    [&](auto images, auto out) { meter.training(network, images, out); }));
      training.cosine = cosine_of(training.sample.mean, expected);
      one.training = std::move(training);
    }
    result.strategies.push_back(std::move(one));
  }
  add_training_bias(result);
  return result;
}

}  // namespace longtail::theory
