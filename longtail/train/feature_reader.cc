#include "longtail/train/feature_reader.h"

#include <algorithm>

#include "longtail/train/batch_queue.h"

namespace longtail::train {

// Any engine returns the features if its classifier has the identity as weights: sums of zeros and one number
// are exact.
FeatureReader::FeatureReader(std::string_view engine, const nn::ResNetSpec& spec, const NetworkState& network,
                             int max_batch, base::ThreadPool& pool)
    : max_batch_(max_batch), width_(nn::network_plan(spec).features) {
  nn::ResNetSpec open = spec;
  open.classes = width_;
  const nn::NetworkPlan plan = nn::network_plan(open);
  network_.buffers = network.buffers;
  network_.parameters.assign(static_cast<std::size_t>(plan.parameter_count), 0.0F);
  std::copy_n(network.parameters.begin(), plan.linear_weight, network_.parameters.begin());
  for (std::int64_t f = 0; f < width_; ++f) {
    network_.parameters[static_cast<std::size_t>(plan.linear_weight + f * width_ + f)] = 1.0F;
  }
  engine_ = nn::make_engine(engine, open, max_batch, pool);
}

void FeatureReader::read(const nn::Batch& batch, std::span<float> features) const {
  engine_->predict(network_.parameters, network_.buffers, batch, features);
}

Features FeatureReader::read_all(const data::Dataset& data, const data::Split& split,
                                 std::span<const std::int32_t> rows,
                                 const std::function<void()>& pulse) const {
  Features all;
  all.width = width_;
  const auto queue = plain_batches(data, split, rows, input_layout(), max_batch_);
  while (const BatchQueue::Slot* slot = queue->next()) {
    const std::size_t before = all.values.size(),
                      size = slot->labels.size() * static_cast<std::size_t>(width_);
    all.values.resize(before + size);
    read(slot->batch(), std::span(all.values).subspan(before, size));
    all.labels.insert(all.labels.end(), slot->labels.begin(), slot->labels.end());
    pulse();
  }
  return all;
}

}  // namespace longtail::train
