// Gradients of a network on the images of a subset, as the theory needs them: of every image with frozen
// batch-norm statistics (so that an image's gradient does not depend on other images), collected by class; of
// a batch, frozen or in training mode. Images are not augmented.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "longtail/base/threads.h"
#include "longtail/data/dataset.h"
#include "longtail/data/subset.h"
#include "longtail/nn/engine.h"
#include "longtail/theory/exact.h"
#include "longtail/train/checkpoint.h"

namespace longtail::theory {

using train::NetworkState;

// The moments of the images' gradients and the class means themselves (K x P floats: 189 MB for ResNet-32 and
// 100 classes).
struct ClassGradients {
  Moments moments;
  std::vector<float> means;         // g_0, g_1, ... one after the other
  std::vector<double> image_norm2;  // |g_i|^2 of each image of the subset

  std::size_t parameters() const { return means.size() / moments.counts.size(); }
  std::span<const float> mean(int k) const {
    return std::span(means).subspan(static_cast<std::size_t>(k) * parameters(), parameters());
  }
  // sum_k w_k g_k
  std::vector<float> expected(std::span<const double> weights) const;
};

// Collects gradients that come class after class.
class GradientCollector {
 public:
  GradientCollector(std::span<const std::int64_t> counts, std::size_t parameters);
  void add(int k, std::span<const float> gradient);
  // After the last image: computes the means and the Gram matrix. The collector cannot be used afterwards.
  ClassGradients finish(base::ThreadPool& pool);

 private:
  void close_class();

  ClassGradients result_;
  std::vector<double> sum_;  // of the current class
  double squares_ = 0;
  std::int64_t seen_ = 0;
  int class_ = 0;
};

class GradientMeter {
 public:
  using OnProgress = std::function<void(std::int64_t done, std::int64_t total)>;

  // The engine must take batches of `batch` images. Everything is borrowed and must outlive the meter.
  GradientMeter(nn::Engine& engine, const data::Dataset& dataset, const data::Subset& subset,
                const nn::Loss& loss, int batch, base::ThreadPool& pool);

  // Gradients of every image of the subset, with frozen statistics.
  ClassGradients collect(const NetworkState& network, const OnProgress& on_progress = {});
  // The gradient of a mini-batch (positions in the subset) of at most `batch` images, with frozen statistics.
  void frozen(const NetworkState& network, std::span<const std::int64_t> images, std::span<float> gradient);
  // The same in training mode: batch norm uses the batch's own statistics. The network's buffers do not
  // change.
  void training(const NetworkState& network, std::span<const std::int64_t> images, std::span<float> gradient);

  // A fresh network has statistics that never saw an image (mean 0, variance 1), so that freezing them would
  // switch batch norm off. This lets them settle: an epoch (at least 50 batches) of uniform batches in
  // training mode that changes no weight.
  void settle(NetworkState& network, std::uint64_t seed);

 private:
  nn::Batch load(std::span<const std::int64_t> images);

  nn::Engine& engine_;
  const data::Dataset& dataset_;
  const data::Subset& subset_;
  const nn::Loss& loss_;
  int batch_;
  base::ThreadPool& pool_;
  std::vector<std::byte> pixels_;
  std::vector<std::int32_t> rows_;
  std::vector<std::int32_t> labels_;
  std::vector<float> scratch_;
};

}  // namespace longtail::theory
