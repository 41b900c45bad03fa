// The running part of `longtail recommend`: trains seed by seed, looks after 3, 5, 8 and 12 seeds, drops what
// is ruled out, until one strategy is left or the time is up. What to do next is a pure function of the
// finished runs in the folder, so it may be killed at any moment.
#pragma once

#include <filesystem>
#include <string>

#include "longtail/cli/recommend_plan.h"
#include "longtail/report/recommendation.h"
#include "longtail/train/run_log.h"

namespace longtail::cli {

struct RaceOutcome {
  report::Recommendation recommendation{};
  bool time_up = false;
  int finished = 0;                 // runs
  std::filesystem::path network{};  // a run of the recommended strategy; empty without a finished run
  std::string network_strategy{};
};

// The accuracy that the goal is about, at the last epoch, in percent; NaN if it cannot be told.
double goal_value(report::Goal goal, const train::RunLog& log);

// `seconds` of training in all, those of earlier commands included. Interrupted if a signal asks to stop.
RaceOutcome run_race(const RecommendPlan& plan, report::Goal goal, const std::filesystem::path& out,
                     double seconds, double share);

}  // namespace longtail::cli
