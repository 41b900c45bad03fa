// The features of images under a trained network in evaluation mode: the input of its classifier.
#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "longtail/nn/engine.h"
#include "longtail/train/checkpoint.h"
#include "longtail/train/classifier_stage.h"

namespace longtail::train {

class FeatureReader {
 public:
  // Batches have at most `max_batch` images. The pool must outlive the reader.
  FeatureReader(std::string_view engine, const nn::ResNetSpec& spec, const NetworkState& network,
                int max_batch, base::ThreadPool& pool);

  int width() const { return width_; }
  data::PixelLayout input_layout() const { return engine_->input_layout(); }
  // Writes width() numbers per image.
  void read(const nn::Batch& batch, std::span<float> features) const;
  // Images `rows` of a split in order, without augmentation. `pulse` may throw to stop.
  Features read_all(const data::Dataset& data, const data::Split& split, std::span<const std::int32_t> rows,
                    const std::function<void()>& pulse) const;

 private:
  int max_batch_;
  int width_;
  NetworkState network_;  // with a classifier that repeats its input
  std::unique_ptr<nn::Engine> engine_;
};

}  // namespace longtail::train
