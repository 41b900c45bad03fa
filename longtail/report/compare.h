// Single runs side by side: what differs in their configuration, their results, and the classes that moved
// most.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "longtail/train/predictions.h"

namespace longtail::report {

// Two networks on the same test images, at their best epochs: the difference in balanced accuracy (points)
// with the 95% interval that the choice of test images alone gives it.
struct ImagePairs {
  std::size_t images = 0, gained = 0, lost = 0;
  double balanced = 0, low = 0, high = 0;
};
// None if the test images are not the same ones.
std::optional<ImagePairs> pair_images(const train::Predictions& a, const train::Predictions& b);

// Text for a terminal. A path is a log or a folder with log.json; the first run is what the others are
// compared with.
std::string compare_runs(const std::vector<std::filesystem::path>& paths);

}  // namespace longtail::report
