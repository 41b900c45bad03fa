// What makes a comparison fair: within a seed all strategies must have the same subset, the same initial
// weights and the same augmentation. The logs of the finished runs carry fingerprints of all three; this
// checks them. A trainer of one's own may leave out any of them: what is not told is not known.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "longtail/study/folder.h"

namespace longtail::study {

struct Sharing {
  int runs = 0;                       // finished runs looked at
  std::vector<std::string> checked;   // the things that all of them told
  std::vector<std::string> untold;    // and the others: only in the logs of some, or of none
  std::vector<std::string> problems;  // a sentence for each thing that differs and should not
  std::string sentence() const;
};

// states[i] is of runs[i].
Sharing check_sharing(std::span<const PlannedRun> runs, std::span<const RunState> states);

}  // namespace longtail::study
