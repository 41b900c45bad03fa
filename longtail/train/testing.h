// For tests: a small data set whose classes a network can tell apart within a few steps.
#pragma once

#include <string>

#include "longtail/base/hash.h"
#include "longtail/base/philox.h"
#include "longtail/data/dataset.h"

namespace longtail::train {

// `per_class` training images and `tests` test images of each class: noise around a brightness that each
// class has for itself.
inline data::Dataset toy_dataset(int classes, int per_class, int tests, int channels = 3) {
  data::Dataset data;
  data.name = "toy";
  data.channels = channels;
  data.mean = {0.5F, 0.5F, 0.5F};
  data.deviation = {0.25F, 0.25F, 0.25F};
  for (int k = 0; k < classes; ++k) data.class_names.push_back("class " + std::to_string(k));
  std::uint64_t position = 0;
  const auto fill = [&](data::Split& split, int count) {
    const base::Stream noise{.seed = 1, .purpose = base::Purpose::kTest};
    for (int i = 0; i < count * classes; ++i) {
      split.labels.push_back(i % classes);
      for (std::size_t pixel = 0; pixel < data.image_bytes(); ++pixel) {
        const auto draw = static_cast<int>(noise.block(position++)[0] % 64);
        split.pixels.push_back(static_cast<std::uint8_t>(draw + (i % classes) * 191 / classes));
      }
    }
  };
  fill(data.train, per_class);
  fill(data.test, tests);
  data.hash = base::sha256(std::as_bytes(std::span(data.train.pixels)));
  return data;
}

}  // namespace longtail::train
