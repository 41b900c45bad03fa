// The measured side of the theory: bias and variance of the gradient of every strategy at one point of a
// training, by the exact formula from measured moments, checked with real mini-batches, next to the
// prediction of Proposition 1.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "longtail/data/groups.h"
#include "longtail/sampling/shown.h"
#include "longtail/sampling/strategy.h"
#include "longtail/theory/measure.h"
#include "longtail/theory/monte_carlo.h"

namespace longtail::theory {

struct ProbePlan {
  std::vector<std::string> strategies = sampling::paper_strategies();
  sampling::Situation situation;  // the epoch whose weights a strategy uses
  int batch = 128;
  int batches = 400;           // real mini-batches with frozen statistics, per strategy; 0: none
  int training_batches = 100;  // the same with batch norm in training mode; 0: none
  std::uint64_t seed = 42;
};

// With batch norm in training mode no formula holds, so this is only measured.
struct TrainingMode {
  MonteCarlo sample;
  double cosine = 0;  // of the mean gradient with the frozen one that the formula expects
  std::optional<double>
      bias2;  // |mean - mean under uniform|^2 without the noise of both means; needs uniform
};

struct StrategyProbe {
  std::string strategy;
  Draw draw;
  Decomposition total;
  std::array<Decomposition, 3> groups;  // head, medium, tail: the group's part of the gradient
  std::vector<Decomposition> classes;   // the same of each class
  std::optional<MonteCarlo> frozen;
  std::optional<TrainingMode> training;
};

struct ProbeResult {
  int epoch = 0;  // epochs done when the network was saved
  sampling::Situation situation;
  Moments moments;
  std::vector<double> image_norm2;
  std::vector<double> cosines;  // of each class gradient with the full gradient
  std::vector<StrategyProbe> strategies;
};

// Stages: "gradients of images", "mini-batches of uniform", "training mode of uniform", ...
using OnStage = std::function<void(const std::string& stage, std::int64_t done, std::int64_t total)>;

// `groups`: the group of each class. An Error at once if the plan has batches, but too few for a standard
// error.
ProbeResult probe(GradientMeter& meter, const NetworkState& network, const data::Subset& subset,
                  std::span<const data::Group> groups, const ProbePlan& plan, const OnStage& on_stage = {});

}  // namespace longtail::theory
