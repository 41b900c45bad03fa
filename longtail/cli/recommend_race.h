// The running part of `longtail recommend`: trains seed by seed, looks after 3, 5, 8 and 12 seeds, drops what
// is ruled out, until one strategy is left or the time is up. Who is dropped is a pure function of the
// finished runs in the folder, so it may be killed at any moment. The pace is measured as epochs finish: runs
// that would not be finished in time are not begun, and if the first look would not be reached the epochs are
// cut, before anything has been looked at.
#pragma once

#include <filesystem>
#include <string>

#include "longtail/cli/recommend_pace.h"
#include "longtail/cli/recommend_plan.h"
#include "longtail/report/recommendation.h"
#include "longtail/train/run_log.h"

namespace longtail::cli {

struct RaceOutcome {
  report::Recommendation recommendation{};
  std::string stopped{};  // a sentence: why it ended before one strategy was left; empty: it did not
  int finished = 0;       // runs
  std::filesystem::path network{};  // a run of what is recommended; empty without a finished run
  std::string network_words{};
};

// The accuracy that the goal is about, at the last epoch, in percent; NaN if it cannot be told.
double goal_value(report::Goal goal, const train::RunLog& log);

// `plan` is that of the folder, with its goal; with its epochs cut it is written again. Interrupted if a signal asks
// to stop.
RaceOutcome run_race(RecommendPlan& plan, const std::filesystem::path& out, TimeBudget& budget);

}  // namespace longtail::cli
