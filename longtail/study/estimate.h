// Whether the runs of a study are possible, and how long they will take, estimated from a short measurement
// of the real engine on made-up pixels.
#pragma once

#include <string>
#include <vector>

#include "longtail/study/grid.h"

namespace longtail::study {

// The size of a run's data.
struct RunSize {
  std::int64_t images = 0;  // in the subset
  std::int64_t steps = 0;   // per epoch
  std::int64_t test_images = 0;
  int channels = 3;
  int classes = 0;
};

// One size per run, without training. An Error says what would stop a run: missing data, a class with too few
// images, a batch larger than the subset. Published data may be missing: its sizes are known.
std::vector<RunSize> run_sizes(const std::vector<PlannedRun>& runs, const std::string& data);

struct Estimate {
  std::vector<double> seconds;   // of each run
  double step_seconds = 0;       // of the first run, for display only
  double images_per_second = 0;  // prediction
};

// Takes a few seconds for each kind of network. An Error if the engine cannot run here. Without `jobs` the
// fastest of several rounds counts: what an idle machine would need. With `jobs` it is the mean while that
// many runs work at the same time, next to whatever else the machine is doing.
Estimate estimate(const std::vector<PlannedRun>& runs, const std::vector<RunSize>& sizes, int threads,
                  int jobs = 0);

}  // namespace longtail::study
