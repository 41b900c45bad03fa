// Runs the race of `longtail recommend`: trains seed by seed, looks after 3, 5, 8 and 12 seeds, and drops the
// candidates that are ruled out, until one is left or the time is up. Who is dropped is a pure function of
// the finished runs in the folder, so the command may be killed at any moment. The pace is measured as epochs
// finish. Runs that would not finish in time are not started. If the first look would not be reached, the
// epochs are cut, before anything has been looked at.
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
  std::string stopped{};  // why it ended before one strategy was left, as a sentence; empty: it did not
  int finished = 0;       // number of finished runs
  std::filesystem::path network{};  // a run of the recommended candidate or the baseline; may be empty
  std::string network_words{};
};

// The accuracy that the goal is about, at the last epoch, in percent; NaN if there is none.
double goal_value(report::Goal goal, const train::RunLog& log);

// `plan` is the plan of the folder, with its goal; it is written again if its epochs are cut. Throws
// Interrupted if a signal asks to stop.
RaceOutcome run_race(RecommendPlan& plan, const std::filesystem::path& out, TimeBudget& budget);

}  // namespace longtail::cli
