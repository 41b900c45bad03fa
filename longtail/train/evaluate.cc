#include "longtail/train/evaluate.h"

#include "longtail/base/error.h"
#include "longtail/nn/loss.h"
#include "longtail/train/batch_queue.h"
#include "longtail/train/rebalance_method.h"

namespace longtail::train {

std::vector<std::int32_t> learnable_rows(const data::Split& test,
                                         std::span<const std::int64_t> training_counts) {
  std::vector<std::int32_t> rows;
  for (std::size_t i = 0; i < test.labels.size(); ++i) {
    if (training_counts[static_cast<std::size_t>(test.labels[i])] > 0) {
      rows.push_back(static_cast<std::int32_t>(i));
    }
  }
  if (rows.empty()) base::fail("no test image belongs to a class that has training images");
  if (rows.size() == test.labels.size()) rows.clear();
  return rows;
}

double logit_scale(const RunConfig& config) {
  // A rebalanced classifier is made for cross-entropy, whatever the features were trained with.
  if (config.rebalance != kNoRebalance) return 1;
  return nn::make_loss(config.loss, {})->logit_scale();
}

Meter evaluate(nn::Engine& engine, const NetworkState& network, const EvaluationSet& set, int batch_size,
               const std::function<void()>& pulse) {
  const auto classes = static_cast<std::size_t>(set.data.classes());
  Meter meter(set.data.classes(), set.groups);
  std::vector<float> logits(static_cast<std::size_t>(batch_size) * classes);
  const auto queue = plain_batches(set.data, set.split, set.rows, engine.input_layout(), batch_size);
  while (const BatchQueue::Slot* slot = queue->next()) {
    const std::size_t size = slot->labels.size();
    const std::span<float> out = std::span(logits).first(size * classes);
    engine.predict(network.parameters, network.buffers, slot->batch(), out);
    if (set.logit_scale != 1) {
      for (float& logit : out) logit = static_cast<float>(logit * set.logit_scale);
    }
    for (std::size_t i = 0; i < size; ++i) meter.add(out.subspan(i * classes, classes), slot->labels[i]);
    if (pulse) pulse();
  }
  return meter;
}

}  // namespace longtail::train
