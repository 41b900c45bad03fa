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

// What a run said of the test images: the file beside its log. None if it is not there or not the one of the
// log.
std::optional<train::Predictions> predictions_of(const std::filesystem::path& log_file,
                                                 const train::RunLog& log);

// Networks b beside networks a on the same test images, seed by seed: the difference in balanced accuracy
// (points) with the 95% interval that the choice of test images alone gives it. With several seeds an image
// counts by their mean.
struct ImagePairs {
  std::size_t images = 0, seeds = 0;
  double gained = 0,
         lost = 0;  // images that b has right and a wrong, and the other way round; mean over seeds
  double balanced = 0, low = 0, high = 0;
};
struct PredictionPair {
  const train::Predictions* a;
  const train::Predictions* b;
};
// None if the test images are not the same ones, or there is no pair.
std::optional<ImagePairs> pair_images(std::span<const PredictionPair> seeds, At at);

// Text for a terminal. A path is a log or a folder with log.json; the first run is what the others are
// compared with.
std::string compare_runs(const std::vector<std::filesystem::path>& paths);

}  // namespace longtail::report
