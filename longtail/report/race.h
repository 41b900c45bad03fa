// The folder of a race (`longtail recommend`) as a report sees it: what best meant there and whom the others were
// compared with. Whoever reports on such a folder, the command, Python, the page over a running study or `recommend`
// itself, takes its options from here, so that all of them say what the race says.
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
  std::optional<Goal> goal{};  // none: an earlier version wrote the file and did not say
  std::string baseline{};      // the text of a series; empty likewise
};

// None if the folder is not that of a race. An Error if its file is damaged.
std::optional<RaceRules> read_race(const std::filesystem::path& folder);

// If the one input is the folder of a race, or of its collected logs: looks, last epoch, goal and baseline as the race
// has them. `goal` is what was asked for; another one than the race's is obeyed, and the recommendation says so. A
// baseline that is there already is that of the tables and stays; the looks are made with the race's whatever it is.
void report_as_raced(ReportOptions& options, std::optional<Goal> goal = std::nullopt);

// A warning for each race among several inputs: its looks are not applied.
std::vector<std::string> races_not_applied(std::span<const std::filesystem::path> inputs);

}  // namespace longtail::report
