#include "longtail/nn/reference_engine.h"

#include <algorithm>
#include <vector>

#include "longtail/nn/reference.h"

namespace longtail::nn {
namespace {

std::vector<double> widen(std::span<const float> values) { return {values.begin(), values.end()}; }

class ReferenceEngine : public Engine {
 public:
  ReferenceEngine(const ResNetSpec& spec, int max_batch)
      : spec_(spec), max_batch_(max_batch), network_(spec) {}

  std::string_view name() const override { return "reference"; }
  const ResNetSpec& spec() const override { return spec_; }
  data::PixelLayout input_layout() const override { return data::PixelLayout::kNchwF32; }

  StepResult gradient(std::span<const float> parameters, std::span<float> buffers, const Batch& batch,
                      const Loss& loss, std::span<float> gradient) override {
    check_batch(spec_, batch, max_batch_, true);
    std::vector<double> moved = widen(buffers);
    const auto step =
        network_.train(widen(parameters), moved, pixels(batch, 0, batch.size), batch.labels, wrap(loss));
    std::copy(moved.begin(), moved.end(), buffers.begin());
    std::copy(step.gradient.begin(), step.gradient.end(), gradient.begin());
    return {step.loss, step.correct};
  }

  void predict(std::span<const float> parameters, std::span<const float> buffers, const Batch& batch,
               std::span<float> logits) override {
    check_batch(spec_, batch, max_batch_, false);
    const std::vector<std::int32_t> labels(static_cast<std::size_t>(batch.size), 0);
    const auto step = network_.evaluate(widen(parameters), widen(buffers), pixels(batch, 0, batch.size),
                                        labels, reference::cross_entropy<double>);
    std::copy(step.logits.begin(), step.logits.end(), logits.begin());
  }

  void image_gradients(std::span<const float> parameters, std::span<const float> buffers, const Batch& batch,
                       const Loss& loss, const ImageSink& sink) override {
    check_batch(spec_, batch, max_batch_, true);
    const std::vector<double> wide = widen(parameters);
    const std::vector<double> statistics = widen(buffers);
    for (int i = 0; i < batch.size; ++i) {
      const auto step = network_.evaluate(wide, statistics, pixels(batch, i, 1),
                                          batch.labels.subspan(static_cast<std::size_t>(i), 1), wrap(loss));
      sink(i, std::vector<float>(step.gradient.begin(), step.gradient.end()));
    }
  }

 private:
  std::vector<double> pixels(const Batch& batch, int first, int count) const {
    const std::size_t image = static_cast<std::size_t>(spec_.channels) * data::kPixels;
    const float* begin = static_cast<const float*>(batch.images) + static_cast<std::size_t>(first) * image;
    return {begin, begin + static_cast<std::size_t>(count) * image};
  }

  static reference::LossFunction<double> wrap(const Loss& loss) {
    return [&loss](std::span<const double> logits, std::int32_t label, std::span<double> gradient) {
      const std::vector<float> narrow(logits.begin(), logits.end());
      std::vector<float> slope(logits.size());
      const double value = loss.value(narrow, label, slope);
      std::copy(slope.begin(), slope.end(), gradient.begin());
      return value;
    };
  }

  ResNetSpec spec_;
  int max_batch_;
  reference::Network<double> network_;
};

}  // namespace

std::unique_ptr<Engine> make_reference_engine(const ResNetSpec& spec, int max_batch) {
  return std::make_unique<ReferenceEngine>(spec, max_batch);
}

}  // namespace longtail::nn
