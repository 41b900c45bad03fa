// What follows every epoch of a run, whatever was trained in it: the test set and what is held out are
// measured, the best epoch so far is kept, and the files of the run are written.
#pragma once

#include <filesystem>
#include <functional>
#include <vector>

#include "longtail/nn/engine.h"
#include "longtail/train/checkpoint.h"
#include "longtail/train/config.h"
#include "longtail/train/predictions.h"
#include "longtail/train/run_data.h"

namespace longtail::train {

// Images in an evaluation batch: as in training, so that it needs no more memory, but at least 128, because
// evaluation is not the place to save memory by small batches.
int evaluation_batch(const RunConfig& config);

class Recorder {
 public:
  // `config`, `data` and `engine` must outlive it.
  Recorder(std::filesystem::path folder, const RunConfig& config, const RunData& data, nn::Engine& engine);

  struct Measured {
    EpochResult test;
    bool best = false;  // better than all previous epochs by what the run selects by
  };
  // Adds the epoch to the log and the state, except for the training part. `pulse` may throw to stop.
  Measured measure(Checkpoint& state, const std::function<void()>& pulse);
  // After resuming: the predictions for the test images at the best epoch, from the file or, if that is lost
  // or the run is older than such files, computed again by the network.
  void recall_best(const Checkpoint& state);
  // Writes the predictions, then the state: the log can be rebuilt from it.
  void save(Checkpoint& state);

 private:
  std::filesystem::path folder_;
  const RunConfig& config_;
  const RunData& data_;
  nn::Engine& engine_;
  double scale_;                       // of the logits
  bool held_out_feedback_;             // the strategy is told the held-out accuracy of each class
  std::vector<Prediction> best_said_;  // predictions for the test images at the best epoch
  std::vector<Prediction> said_now_;   // those after the last epoch done
};

}  // namespace longtail::train
