// For tests: a small data set of made-up images, a subset of it, and a meter over softmax regression.
#pragma once

#include <memory>
#include <vector>

#include "longtail/base/philox.h"
#include "longtail/data/augment.h"
#include "longtail/data/dataset.h"
#include "longtail/data/subset.h"
#include "longtail/theory/linear_engine.h"
#include "longtail/theory/measure.h"

namespace longtail::theory {

// Images of class k are noise around a shade of its own.
inline data::Dataset made_up_dataset(const std::vector<std::int64_t>& counts) {
  data::Dataset dataset;
  dataset.channels = 3;
  dataset.class_names.resize(counts.size());
  dataset.mean = {0.5F, 0.5F, 0.5F};
  dataset.deviation = {0.25F, 0.25F, 0.25F};
  const base::Stream stream{5, base::Purpose::kTest, 1};
  std::uint64_t position = 0;
  for (std::size_t k = 0; k < counts.size(); ++k) {
    for (std::int64_t i = 0; i < counts[k]; ++i) {
      dataset.train.labels.push_back(static_cast<std::int32_t>(k));
      for (int p = 0; p < 3 * data::kPixels; ++p) {
        const std::uint32_t noise = stream.block(position++)[0] % 100;
        dataset.train.pixels.push_back(static_cast<std::uint8_t>(60 + 20 * (k % 5) + noise));
      }
    }
  }
  return dataset;
}

inline data::Subset whole_subset(const std::vector<std::int64_t>& counts) {
  data::Subset subset;
  subset.counts = counts;
  for (const std::int64_t count : counts) {
    subset.first.push_back(subset.size());
    for (std::int64_t i = 0; i < count; ++i)
      subset.indices.push_back(static_cast<std::int32_t>(subset.indices.size()));
  }
  return subset;
}

struct ProbeFixture {
  static constexpr int kBatch = 32;

  explicit ProbeFixture(const std::vector<std::int64_t>& counts, int threads = 1)
      : pool(threads),
        dataset(made_up_dataset(counts)),
        subset(whole_subset(counts)),
        engine(static_cast<int>(counts.size())),
        loss(nn::make_loss("cross_entropy", counts)),
        meter(engine, dataset, subset, *loss, kBatch, pool) {
    const base::Stream stream{6, base::Purpose::kTest, 2};
    for (std::size_t i = 0; i < engine.parameters(); ++i) {
      const base::Block block = stream.block(i);
      network.parameters.push_back(
          static_cast<float>(0.02 * (base::unit(base::join(block[0], block[1])) - 0.5)));
    }
    network.buffers = {7};
  }

  base::ThreadPool pool;
  data::Dataset dataset;
  data::Subset subset;
  LinearEngine engine;
  std::unique_ptr<nn::Loss> loss;
  GradientMeter meter;
  NetworkState network;
};

}  // namespace longtail::theory
