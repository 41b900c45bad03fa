// The classifier of a finished run made anew, its features as they are: a second run beside the first, with a
// log, predictions and a checkpoint like any other, which points to its parent.
//
//   RunConfig where;                      // what to do, and where: rebalance, data, threads
//   where.rebalance = "crt";
//   RunOptions options;
//   options.folder = "runs/crt-42";
//   RunLog log = rebalance("runs/uniform-42", where, options);
//
// The network after the parent's last epoch is taken: that at its best epoch may have been chosen on the test
// set. Training methods make one entry of the log an epoch and resume after the last whole one; the others
// make one entry.
#pragma once

#include <filesystem>
#include <optional>

#include "longtail/train/run.h"

namespace longtail::train {

// Throws as run_training does; an Error too if the parent is not finished, is itself rebalanced, or has no
// linear head.
RunLog rebalance(const std::filesystem::path& parent, const RunConfig& where, const RunOptions& options);

// The log of the run in a folder if it is that of this configuration, rebalanced and finished: its parent is
// then not needed.
std::optional<RunLog> finished_rebalance(const RunConfig& config, const std::filesystem::path& folder);

}  // namespace longtail::train
