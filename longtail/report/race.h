// The folder of a race (`longtail recommend`) as a report sees it: the goal of the race and the baseline that
// the others were compared with. Everything that reports on such a folder (the command, Python, the page over
// a running study, `recommend` itself) takes its options from here, so that all of them agree with the race.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "longtail/report/report.h"

namespace longtail::report {

// `longtail recommend` keeps its plan in this file of its folder.
inline constexpr std::string_view kRaceFile = "recommend.json";

struct RaceRules {
  std::optional<Goal> goal{};  // none: an earlier version wrote the file, without the goal
  std::string baseline{};      // the text of a series; empty likewise
};

// None if the folder is not that of a race. An Error if its file is damaged.
std::optional<RaceRules> read_race(const std::filesystem::path& folder);

// If the only input is the folder of a race, or of its collected logs: takes looks, last epoch, goal and
// baseline from the race. `goal` is what the user asked for; if it is not the goal of the race it is used all
// the same, and the recommendation says so. A baseline that is already set stays that of the tables; the
// looks always use the baseline of the race.
void report_as_raced(ReportOptions& options, std::optional<Goal> goal = std::nullopt);

// A warning for each race among several inputs: its looks are not applied.
std::vector<std::string> races_not_applied(std::span<const std::filesystem::path> inputs);

}  // namespace longtail::report
