// Single runs side by side: what differs in their configuration, their results, and the classes that moved
// most.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace longtail::report {

// Text for a terminal. A path is a log or a folder with log.json; the first run is what the others are
// compared with.
std::string compare_runs(const std::vector<std::filesystem::path>& paths);

}  // namespace longtail::report
