// The learning rate of an epoch, as in the paper's equation: a linear warm-up, then steps down at the
// milestones (or a cosine, or constant).
#pragma once

#include "longtail/train/config.h"

namespace longtail::train {

// `epoch` counts from 0. Empty milestones mean no step down: resolve the configuration first.
double learning_rate(const RunConfig& config, int epoch);

}  // namespace longtail::train
