// Which runs are alike for a while, from their configurations alone: beginning.h trains what they share once, and a report
// knows that chance moves them together. All configurations here are decided ones (`resolved`, or of a log).
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

// Whether the first epoch of two runs is the same in these.
bool same_beginning(const RunConfig& a, const RunConfig& b);

// Of each run a number that it has in common with those that share its training: rebalanced from the same network, or
// alike for an epoch or more. Seeds are not looked at.
std::vector<int> shared_trainings(std::span<const RunConfig> runs);

}  // namespace longtail::train
