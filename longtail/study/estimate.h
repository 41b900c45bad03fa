// Whether the runs of a study can be, and how long they will take, from a short measurement of the real
// engine on made-up pixels.
#pragma once

#include <string>
#include <vector>

#include "longtail/study/grid.h"

namespace longtail::study {

// What a run works on.
struct RunSize {
  std::int64_t images = 0;  // in the subset
  std::int64_t steps = 0;   // an epoch
  std::int64_t test_images = 0;
  int channels = 3;
  int classes = 0;
};

// One a run, without training. An Error says what would stop a run: data that is not there, a class with too
// few images, a batch larger than the subset. Published data need not be there: its sizes are known.
std::vector<RunSize> run_sizes(const std::vector<PlannedRun>& runs, const std::string& data);

struct Estimate {
  std::vector<double> seconds;   // of each run
  double step_seconds = 0;       // of the first run, for people
  double images_per_second = 0;  // prediction
};

// Takes a few seconds for each kind of network. An Error if the engine cannot run here. Without `jobs` the
// fastest of several rounds counts: what an idle machine would need. With it the mean while so many runs work
// at the same time, beside whatever else the machine has to do.
Estimate estimate(const std::vector<PlannedRun>& runs, const std::vector<RunSize>& sizes, int threads,
                  int jobs = 0);

}  // namespace longtail::study
