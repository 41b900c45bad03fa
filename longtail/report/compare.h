// Single runs side by side: what differs in their configuration, their results, and the classes that moved
// most.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "longtail/report/results.h"
#include "longtail/train/predictions.h"

namespace longtail::report {

// What a run predicted for the test images: the file next to its log. None if it is missing or belongs to
// another log.
std::optional<train::Predictions> predictions_of(const std::filesystem::path& log_file,
                                                 const train::RunLog& log);

// Networks b against networks a on the same test images, seed by seed: the difference in balanced accuracy
// (points) with the 95% interval that the choice of test images alone gives it. With several seeds each image
// counts with its mean over them.
struct ImagePairs {
  std::size_t images = 0, seeds = 0;
  double gained = 0,
         lost = 0;  // images that only b has right, and that only a has right; mean over seeds
  double balanced = 0, low = 0, high = 0;
};
struct PredictionPair {
  const train::Predictions* a;
  const train::Predictions* b;
};
// None if the test images are not the same ones, or there is no pair.
std::optional<ImagePairs> pair_images(std::span<const PredictionPair> seeds, At at);

// Text for a terminal. A path is a log or a folder with log.json; the other runs are compared with the first.
std::string compare_runs(const std::vector<std::filesystem::path>& paths);

}  // namespace longtail::report
