// For tests: softmax regression on pixels behind the Engine interface, fast enough for thousands of batches
// and with gradients in closed form. It has one buffer, which counts training-mode calls.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "longtail/nn/engine.h"

namespace longtail::theory {

class LinearEngine : public nn::Engine {
 public:
  explicit LinearEngine(int classes) { spec_.classes = classes; }

  std::size_t inputs() const { return static_cast<std::size_t>(spec_.channels) * data::kPixels; }
  std::size_t parameters() const { return inputs() * static_cast<std::size_t>(spec_.classes); }

  std::string_view name() const override { return "linear"; }
  const nn::ResNetSpec& spec() const override { return spec_; }
  data::PixelLayout input_layout() const override { return data::PixelLayout::kNchwF32; }

  nn::StepResult gradient(std::span<const float> parameters, std::span<float> buffers, const nn::Batch& batch,
                          const nn::Loss& loss, std::span<float> gradient) override {
    buffers[0] += 1;
    frozen_gradient(parameters, buffers, batch, loss, gradient);
    return {};
  }

  void predict(std::span<const float> parameters, std::span<const float>, const nn::Batch& batch,
               std::span<float> logits) override {
    const auto classes = static_cast<std::size_t>(spec_.classes);
    for (int i = 0; i < batch.size; ++i) {
      const float* x = static_cast<const float*>(batch.images) + static_cast<std::size_t>(i) * inputs();
      for (std::size_t k = 0; k < classes; ++k) {
        double sum = 0;
        for (std::size_t p = 0; p < inputs(); ++p)
          sum += static_cast<double>(parameters[k * inputs() + p]) * x[p];
        logits[static_cast<std::size_t>(i) * classes + k] = static_cast<float>(sum);
      }
    }
  }

  void image_gradients(std::span<const float> parameters, std::span<const float> buffers,
                       const nn::Batch& batch, const nn::Loss& loss, const ImageSink& sink) override {
    const auto classes = static_cast<std::size_t>(spec_.classes);
    std::vector<float> logits(static_cast<std::size_t>(batch.size) * classes), slope(classes),
        out(this->parameters());
    predict(parameters, buffers, batch, logits);
    for (int i = 0; i < batch.size; ++i) {
      const float* x = static_cast<const float*>(batch.images) + static_cast<std::size_t>(i) * inputs();
      loss.value(std::span(logits).subspan(static_cast<std::size_t>(i) * classes, classes),
                 batch.labels[static_cast<std::size_t>(i)], slope);
      for (std::size_t k = 0; k < classes; ++k) {
        for (std::size_t p = 0; p < inputs(); ++p) out[k * inputs() + p] = slope[k] * x[p];
      }
      sink(i, out);
    }
  }

 private:
  nn::ResNetSpec spec_;
};

}  // namespace longtail::theory
