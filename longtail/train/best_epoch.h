// What makes an epoch the best: one rule for the built-in training (recorder.h) and for the log of a training
// elsewhere (log_writer.h).
#pragma once

#include <string>

#include "longtail/train/run_log.h"

namespace longtail::train {

// Whether the last epoch in the log is the best so far by `select`: overall, balanced, tail (the highest; of
// equals, the first) or last. `chosen_on` is its result on the images that decide: held out, or the test set.
// Stores the value that it compared in `log.selection`, unless another list has it.
bool is_best_epoch(RunLog& log, const std::string& select, const EpochResult& chosen_on);

}  // namespace longtail::train
