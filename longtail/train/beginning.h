// Runs that are alike up to an epoch: one whose loss or strategy changes there (`deferred`) and the run that
// keeps the first of the two, or runs with different milestones of the learning rate. What one of them has
// trained up to there need not be trained again.
//
//   milestones 160, 180   |------------*---*------------|
//   milestones 140, 160                |----------------|   begins from its state after 140 epochs
//   deferred:at=160                        |------------|   begins from its state after 160 epochs
#pragma once

#include <filesystem>
#include <string>

#include "longtail/train/checkpoint.h"
#include "longtail/train/config.h"

namespace longtail::train {

// For how many epochs, from the first, two runs are identical: weights and log to the last byte. 0 if they
// differ in more than loss, strategy and learning rate.
int alike_epochs(const RunConfig& a, const RunConfig& b);

// What runs alike for an epoch must have in common, as text: all but loss, strategy and learning rate.
std::string common_part(const RunConfig& config);

// Whether the run keeps a network from before the end of that many epochs (`keep_epochs`). Such a run cannot
// begin from the state that another one left after them.
bool keeps_before(const RunConfig& config, int epochs);

// Where a run leaves its state after an epoch for others to begin from.
std::filesystem::path branch_path(const std::filesystem::path& run, int epochs_done);

// Turns the state that another run left into the one that `config` would have reached: the same bytes as if
// it had been trained. `print` is the fingerprint for the log of `config`. An Error if the two runs were not
// alike for that long.
Checkpoint continued(Checkpoint beginning, const std::filesystem::path& source, const RunConfig& config,
                     const Fingerprint& print);

}  // namespace longtail::train
