// Runs that are alike until an epoch. A run whose loss or strategy changes at an epoch (`deferred`) is, until then, the
// run that has the first of the two throughout: what that one has trained need not be trained twice.
//
//   uniform, cross_entropy    |--------------------------*----------|
//   deferred:at=160                                      |----------|   begins from its state after 160 epochs
#pragma once

#include <filesystem>
#include <optional>

#include "longtail/train/checkpoint.h"
#include "longtail/train/config.h"

namespace longtail::train {

struct Beginning {
  RunConfig config;  // resolved: the run that this one begins as
  int epochs = 0;    // for so many epochs
};
// Of a run that is trained from its first epoch on in its own way: none.
std::optional<Beginning> beginning_of(const RunConfig& config);

// Where a run leaves its state after an epoch for others to begin from.
std::filesystem::path branch_path(const std::filesystem::path& run, int epochs_done);

// The state of `config` after its beginning, from the state that another run left: the same bytes as if it had been
// trained. `print` is what the log of `config` has. An Error if the state is not that of the beginning.
Checkpoint continued(Checkpoint beginning, const std::filesystem::path& source, const RunConfig& config,
                     const Fingerprint& print);

}  // namespace longtail::train
