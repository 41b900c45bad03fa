// For tests: the pictures that testdata/make_golden.py trained PyTorch on, and the results.
#pragma once

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <vector>

#include "longtail/base/file.h"
#include "longtail/base/test_paths.h"
#include "longtail/data/layout.h"
#include "longtail/nn/gradient_sketch.h"

namespace longtail::nn {

inline constexpr int kGoldenBatch = 128, kGoldenSteps = 10, kGoldenClasses = 100;

// A blob in a colour of the class, on a slope, with noise; channels first.
inline std::vector<float> golden_pictures() {
  std::vector<float> pixels;
  std::uint32_t state = 1;
  const auto number = [&state] { return next(state) / 2147483648.0 - 1; };
  for (int image = 0; image < kGoldenSteps * kGoldenBatch; ++image) {
    for (int channel = 0; channel < 3; ++channel) {
      const double own = (image % kGoldenClasses * (channel + 3) % 7 - 3) / 2.0, slope = number();
      for (int p = 0; p < data::kPixels; ++p) {
        const double x = p % 32 / 16.0 - 1, y = p / 32 / 16.0 - 1;
        const double blob = std::max(0.0, 1 - 2 * x * x - 2 * y * y);
        pixels.push_back(static_cast<float>(slope * x + own * blob + 0.5 * number()));
      }
    }
  }
  return pixels;
}

inline std::vector<std::int32_t> golden_labels() {
  std::vector<std::int32_t> labels;
  for (int i = 0; i < kGoldenSteps * kGoldenBatch; ++i) labels.push_back(i % kGoldenClasses);
  return labels;
}

inline nlohmann::json golden_values() {
  return nlohmann::json::parse(base::read_text(base::source_dir() + "/longtail/nn/testdata/golden.json"));
}

}  // namespace longtail::nn
