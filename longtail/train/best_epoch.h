// What makes an epoch the best: one rule for the built-in training (recorder.h) and for the log of a training elsewhere
// (log_writer.h).
#pragma once

#include <string>

#include "longtail/train/run_log.h"

namespace longtail::train {

// Whether the epoch that the log has last is the best so far by `select`: overall, balanced, tail (the highest, and the
// first of equals) or last. `chosen_on` is its result on the images that decide, held out or of the test set. Keeps in
// `log.selection` the value that was looked at, where no other list has it.
bool is_best_epoch(RunLog& log, const std::string& select, const EpochResult& chosen_on);

}  // namespace longtail::train
