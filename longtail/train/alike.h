// Which runs begin alike, judged by their configurations alone: beginning.h trains their common part once,
// and a report knows that chance moves them together. All configurations here are `resolved`, or of a log.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "longtail/train/config.h"

namespace longtail::train {

// Whether a parameter belongs to what may change at an epoch: loss, strategy and learning rate.
bool is_course(std::string_view param);

// For how many epochs from the first one two runs have the same loss, strategy and learning rate.
int same_course(const RunConfig& a, const RunConfig& b);

// Whether two runs have the same loss, strategy and learning rate in their first epoch.
bool same_beginning(const RunConfig& a, const RunConfig& b);

// One number per run, the same for runs that share training: rebalanced from the same network, or alike for
// an epoch or more. Seeds are ignored.
std::vector<int> shared_trainings(std::span<const RunConfig> runs);

}  // namespace longtail::train
