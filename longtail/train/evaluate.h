// The whole of a labelled set through a network in evaluation mode.
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
};

// Batches have at most `batch_size` images; the result does not depend on it. `pulse` is called after each
// batch and may throw to stop.
Meter evaluate(nn::Engine& engine, const Network& network, const EvaluationSet& set, int batch_size,
               const std::function<void()>& pulse = {});

}  // namespace longtail::train
