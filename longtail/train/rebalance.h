// Rebuilds the classifier of a finished run; its features stay as they are. The result is a second run next
// to the first, with a log, predictions and a checkpoint like any other, which points to its parent.
//
//   RunConfig where;                      // what to do, and where: rebalance, data, threads
//   where.rebalance = "crt";
//   RunOptions options;
//   options.folder = "runs/crt-42";
//   RunLog log = rebalance("runs/uniform-42", where, options);
//
// The network after the parent's last epoch is taken: the one at its best epoch may have been chosen on the
// test set. Training methods write one entry of the log per epoch and resume after the last complete one; the
// others write one entry.
#pragma once

#include <filesystem>
#include <optional>

#include "longtail/train/run.h"

namespace longtail::train {

// Throws as run_training does; also an Error if the parent is not finished, is itself rebalanced, or has no
// linear head.
RunLog rebalance(const std::filesystem::path& parent, const RunConfig& where, const RunOptions& options);

// The log of the run in a folder if it is a finished, rebalanced run of this configuration: its parent is
// then not needed.
std::optional<RunLog> finished_rebalance(const RunConfig& config, const std::filesystem::path& folder);

}  // namespace longtail::train
