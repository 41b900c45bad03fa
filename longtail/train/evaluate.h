// Runs a network in evaluation mode over the whole of a labelled set.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "longtail/data/groups.h"
#include "longtail/nn/engine.h"
#include "longtail/train/checkpoint.h"
#include "longtail/train/metrics.h"

namespace longtail::train {

// A set of images to measure on: rows of a split, or all of it if `rows` is empty.
struct EvaluationSet {
  const data::Dataset& data;
  const data::Split& split;
  std::span<const std::int32_t> rows;
  std::vector<data::Group> groups;  // of each class, by its number of training images
  double logit_scale = 1;           // of the run's loss (logit_scale())
};

// The rows of the test split that belong to classes with training images, or nothing if that is all of them:
// accuracy on a class that could not be learnt says nothing about a strategy. An Error if no row is left.
std::vector<std::int32_t> learnable_rows(const data::Split& test,
                                         std::span<const std::int64_t> training_counts);

// The factor on the logits of a run before they become probabilities: that of its loss, or 1 for a rebalanced
// run, whose classifier is made for cross-entropy.
double logit_scale(const RunConfig& config);

// Batches have at most `batch_size` images; the result does not depend on it. `pulse` is called after each
// batch and may throw to stop.
Meter evaluate(nn::Engine& engine, const NetworkState& network, const EvaluationSet& set, int batch_size,
               const std::function<void()>& pulse = {});

}  // namespace longtail::train
