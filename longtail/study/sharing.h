// What makes a comparison fair: within a seed all strategies must have the same subset, the same initial
// weights and the same augmentation. The logs of the finished runs carry fingerprints of all three; this
// compares them. A user's own trainer may leave out any of them; those cannot be checked.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "longtail/study/folder.h"

namespace longtail::study {

struct Sharing {
  int runs = 0;                       // finished runs compared
  std::vector<std::string> checked;   // what all of their logs have
  std::vector<std::string> untold;    // what only some of the logs have, or none
  std::vector<std::string> problems;  // one sentence for each difference that should not be
  std::string sentence() const;
};

// states[i] belongs to runs[i].
Sharing check_sharing(std::span<const PlannedRun> runs, std::span<const RunState> states);

}  // namespace longtail::study
