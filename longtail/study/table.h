// The table of results so far: one row per combination of what varies, one column per rho. Each cell is the
// mean over the finished seeds at the best epoch: overall, then head/medium/tail.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "longtail/study/folder.h"

namespace longtail::study {

inline constexpr int kPrintWidth = 100;  // of printed tables

// The lines of the table, no wider than `width` if that is possible. Empty if no run is done.
std::vector<std::string> result_table(std::span<const PlannedRun> runs, std::span<const RunState> states,
                                      int width);

// A short description of each run: "progressive", "uniform, lr 0.05"; without rho and seed.
std::vector<std::string> row_labels(std::span<const PlannedRun> runs);

// "67.1/36.2/7.0", "--" for a group without classes.
std::string groups_text(const train::EpochResult& result, int width = 0);

}  // namespace longtail::study
