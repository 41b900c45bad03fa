// A training run from beginning to end: the paper's protocol, a checkpoint after every epoch, the log at the
// end.
//
//   RunOptions options;
//   options.folder = "runs/uniform-42";
//   RunLog log = run_training(config, options);
//
// The folder then holds
//   log.json      the results; the same bytes on any number of threads, interrupted or not
//   log.predictions  the predictions for every test image at the best and the last epoch
//   timings.json  how long it took
//   state.ckpt    the network after the last epoch done and at the best epoch, momentum, the log so far
//   kept/N.ckpt   the network after N epochs, for every N of keep_epochs; 0 is the initial network
//   branch/N.ckpt the whole state after N epochs, for runs that begin like this one (beginning.h)
// Starting again with the same configuration resumes where it stopped; a finished run returns its log at
// once.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "longtail/data/dataset.h"
#include "longtail/data/pictures.h"
#include "longtail/train/config.h"
#include "longtail/train/run_log.h"

namespace longtail::train {

// How far a run is. Given after every step; after an epoch's evaluation with `epoch_done` and the result.
struct Progress {
  int epoch = 0;  // counted from 0
  int epochs = 0;
  int step = 0;  // steps done in this epoch
  int steps = 0;
  double lr = 0;
  double train_loss = 0;  // mean over the epoch so far
  double train_acc = 0;   // percent
  bool epoch_done = false;
  EpochResult result;            // of the epoch, if it is done; else of the previous one
  bool best = false;             // the epoch is the best so far
  double images_per_second = 0;  // training, of this epoch
  double seconds_left = 0;       // of the whole run, as far as can be told
};

struct RunOptions {
  std::filesystem::path folder;
  // For a run that is rebalanced after training: the folder of the run that is trained; empty: `parent` in
  // its own folder. Both are kept.
  std::filesystem::path parent;
  // The numbers of epochs after which the state is left for runs that begin like this one (beginning.h).
  std::vector<int> branch_epochs;
  // Such a state for this run to begin from; if empty or missing, it is trained from its first epoch on.
  std::filesystem::path begin_from;
  // A data set already in memory, shared between runs of one process; null: run_training loads it.
  std::shared_ptr<const data::Dataset> dataset;
  // Loads it in that case; empty: read_run_dataset.
  std::function<data::Dataset(const RunConfig&)> load;
  std::function<void(const Progress&)> on_progress;  // called on the thread that called run_training
  // Asked after every step; true ends the run with base::Interrupted. The last checkpoint stays.
  std::function<bool()> should_stop;
  // Remarks, one sentence each: the engine chosen, resuming after an interruption, a run that was already
  // finished.
  std::function<void(const std::string&)> on_note;
};

// A configuration with `rebalance` trains its parent first, unless that is finished, and then rebuilds its
// classifier (rebalance.h). Throws base::Interrupted if stopped, base::Error if the loss is not finite
// (epoch, step and last good checkpoint named), if the folder holds another configuration (the parameter
// named) or is in use, base::DamagedFile if a checkpoint or a finished log is damaged.
RunLog run_training(const RunConfig& config, const RunOptions& options);

// Whether a folder holds the whole of this run, finished, with its network and its log. A DamagedFile if the
// checkpoint is damaged. Only reads: several runs may be rebalanced from it at a time.
bool is_whole(const RunConfig& config, const std::filesystem::path& folder);

// How the pictures of a configuration are read.
data::PictureOptions picture_options(const RunConfig& config);
// The data set of a configuration, from its folder `data`.
data::Dataset read_run_dataset(const RunConfig& config);
std::shared_ptr<const data::Dataset> load_run_dataset(const RunConfig& config);

}  // namespace longtail::train
