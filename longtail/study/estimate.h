// How long a study will take, from a short measurement of the real engine on made-up pixels.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "longtail/study/grid.h"

namespace longtail::study {

struct RunEstimate {
  std::int64_t images = 0;  // in the subset
  std::int64_t steps = 0;   // an epoch
  double seconds = 0;       // the whole run
};

struct Estimate {
  std::vector<RunEstimate> runs;  // one a run
  double step_seconds = 0;        // of the first run, for people
  double images_per_second = 0;   // prediction
};

// Nothing if the data set is neither published nor to be found. Takes a few seconds for each kind of network.
std::optional<Estimate> estimate(const std::vector<Run>& runs, const std::string& data, int threads);

}  // namespace longtail::study
