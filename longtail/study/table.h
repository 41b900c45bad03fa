// Results so far: what varies down the rows, rho across, each cell the mean over the seeds finished, at the
// best epoch: overall, then head/medium/tail.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "longtail/study/folder.h"

namespace longtail::study {

inline constexpr int kPrintWidth = 100;  // of a table that is printed

// Lines no wider than `width` if that can be done at all. Empty if no run is done.
std::vector<std::string> result_table(std::span<const PlannedRun> runs, std::span<const RunState> states,
                                      int width);

// What a run is in a few words: "progressive", "uniform, lr 0.05"; rho and seed left out.
std::vector<std::string> row_labels(std::span<const PlannedRun> runs);

// "67.1/36.2/7.0", "--" for a group without classes.
std::string groups_text(const train::EpochResult& result, int width = 0);

}  // namespace longtail::study
