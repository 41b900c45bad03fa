// The loss of one image of a batch, with one label or, if it is mixed from two images, with two weighted
// labels. Every engine uses it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "longtail/nn/engine.h"
#include "longtail/nn/loss.h"

namespace longtail::nn {

// The label that counts for accuracy: of a mixed image the one with the larger weight, the first if equal.
inline std::int32_t main_label(const Batch& batch, int image) {
  const auto i = static_cast<std::size_t>(image);
  return batch.second.empty() || batch.weight[i] >= 0.5F ? batch.labels[i] : batch.second[i];
}

// Writes d(loss)/d(logits) and, if batch.hits is not empty, the hit there. `hit`: the first of the largest
// logits is at the main label.
inline double image_loss(const Loss& loss, const Batch& batch, int image, std::span<const float> logits,
                         std::span<float> gradient, bool& hit) {
  const auto i = static_cast<std::size_t>(image);
  hit = std::max_element(logits.begin(), logits.end()) - logits.begin() == main_label(batch, image);
  if (!batch.hits.empty()) batch.hits[i] = hit;
  const double value = loss.value(logits, batch.labels[i], gradient);
  if (batch.second.empty() || batch.weight[i] == 1.0F) return value;
  std::vector<float> other(gradient.size());
  const double second = loss.value(logits, batch.second[i], other);
  const double weight = batch.weight[i];
  for (std::size_t k = 0; k < other.size(); ++k) {
    gradient[k] = static_cast<float>(weight * gradient[k] + (1 - weight) * other[k]);
  }
  return weight * value + (1 - weight) * second;
}

}  // namespace longtail::nn
