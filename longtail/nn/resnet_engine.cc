#include "longtail/nn/resnet_engine.h"

#include <algorithm>
#include <type_traits>
#include <vector>

#include "longtail/nn/image_loss.h"
#include "longtail/nn/resnet_walk.h"

namespace longtail::nn {
namespace {

// Arrays of the engine's interface in the type of the walk: the same ones, or copies in double.
template <class T, class Value>
auto as(std::span<Value> values) {
  if constexpr (std::is_same_v<T, float>) {
    return values;
  } else {
    return std::vector<T>(values.begin(), values.end());
  }
}
template <class T, class Values>
void give_back(const Values& values, std::span<float> to) {
  if constexpr (!std::is_same_v<T, float>) std::copy(values.begin(), values.end(), to.begin());
}

template <class T>
class ResNetEngine final : public Engine {
 public:
  ResNetEngine(const ResNetSpec& spec, int max_batch, base::ThreadPool& pool,
               std::unique_ptr<Backend<T>> backend)
      : spec_(spec), walk_(spec, max_batch, pool, std::move(backend)) {}

  std::string_view name() const override { return walk_.backend().name(); }
  const ResNetSpec& spec() const override { return spec_; }
  data::PixelLayout input_layout() const override { return walk_.backend().input_layout(); }

  StepResult gradient(std::span<const float> parameters, std::span<float> buffers, const Batch& batch,
                      const Loss& loss, std::span<float> gradient) override {
    check_batch(spec_, batch, walk_.max_batch(), true);
    const auto p = as<T>(parameters);
    auto moved = as<T>(buffers), result = as<T>(gradient);
    const StepResult step = walk_.gradient(p, moved, batch.images, batch.size, score(batch, loss), result);
    give_back<T>(moved, buffers);
    give_back<T>(result, gradient);
    return step;
  }

  void predict(std::span<const float> parameters, std::span<const float> buffers, const Batch& batch,
               std::span<float> logits) override {
    check_batch(spec_, batch, walk_.max_batch(), false);
    const auto p = as<T>(parameters), running = as<T>(buffers);
    auto result = as<T>(logits);
    walk_.predict(p, running, batch.images, batch.size, result);
    give_back<T>(result, logits);
  }

  void image_gradients(std::span<const float> parameters, std::span<const float> buffers, const Batch& batch,
                       const Loss& loss, const ImageSink& sink) override {
    check_batch(spec_, batch, walk_.max_batch(), true);
    const auto p = as<T>(parameters), running = as<T>(buffers);
    const auto narrow_sink = [&sink](int image, std::span<const T> gradient) {
      if constexpr (std::is_same_v<T, float>) {
        sink(image, gradient);
      } else {
        sink(image, std::vector<float>(gradient.begin(), gradient.end()));
      }
    };
    walk_.image_gradients(p, running, batch.images, batch.size, score(batch, loss), narrow_sink);
  }

  void frozen_gradient(std::span<const float> parameters, std::span<const float> buffers, const Batch& batch,
                       const Loss& loss, std::span<float> gradient) override {
    check_batch(spec_, batch, walk_.max_batch(), true);
    const auto p = as<T>(parameters), running = as<T>(buffers);
    auto result = as<T>(gradient);
    walk_.frozen_gradient(p, running, batch.images, batch.size, score(batch, loss), result);
    give_back<T>(result, gradient);
  }

 private:
  static typename ResNetWalk<T>::ImageLoss score(const Batch& batch, const Loss& loss) {
    return [&batch, &loss](int image, std::span<const T> logits, std::span<T> gradient, bool& hit) {
      if constexpr (std::is_same_v<T, float>) {
        return image_loss(loss, batch, image, logits, gradient, hit);
      } else {
        const std::vector<float> narrow(logits.begin(), logits.end());
        std::vector<float> slope(logits.size());
        const double value = image_loss(loss, batch, image, narrow, slope, hit);
        std::copy(slope.begin(), slope.end(), gradient.begin());
        return value;
      }
    };
  }

  ResNetSpec spec_;
  ResNetWalk<T> walk_;
};

}  // namespace

template <class T>
std::unique_ptr<Engine> make_resnet_engine(const ResNetSpec& spec, int max_batch, base::ThreadPool& pool,
                                           std::unique_ptr<Backend<T>> backend) {
  return std::make_unique<ResNetEngine<T>>(spec, max_batch, pool, std::move(backend));
}
template std::unique_ptr<Engine> make_resnet_engine(const ResNetSpec&, int, base::ThreadPool&,
                                                    std::unique_ptr<Backend<float>>);
template std::unique_ptr<Engine> make_resnet_engine(const ResNetSpec&, int, base::ThreadPool&,
                                                    std::unique_ptr<Backend<double>>);

}  // namespace longtail::nn
