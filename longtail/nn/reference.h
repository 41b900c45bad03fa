// The network in plain loops, one scalar at a time: the twin that the engines are compared with, in double
// for finite differences. Slow, obvious, and sharing no arithmetic with any engine. Tensors are NCHW.
//
//   reference::Network<double> net(spec);
//   auto step = net.train(parameters, buffers, images, labels, reference::cross_entropy<double>);
//   // step.loss, step.logits, step.gradient; buffers now hold the new running statistics
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "longtail/nn/reference_layers.h"
#include "longtail/nn/resnet.h"

namespace longtail::nn::reference {

// Loss of one image and its gradient with respect to the logits.
template <class T>
using LossFunction = std::function<T(std::span<const T> logits, std::int32_t label, std::span<T> gradient)>;

template <class T>
T cross_entropy(std::span<const T> logits, std::int32_t label, std::span<T> gradient) {
  const T top = *std::max_element(logits.begin(), logits.end());
  T total = 0;
  for (const T logit : logits) total += std::exp(logit - top);
  for (std::size_t k = 0; k < logits.size(); ++k) gradient[k] = std::exp(logits[k] - top) / total;
  gradient[static_cast<std::size_t>(label)] -= 1;
  return std::log(total) + top - logits[static_cast<std::size_t>(label)];
}

template <class T>
struct Step {
  T loss = 0;  // mean over the batch
  int correct = 0;
  std::vector<T> logits;    // batch x classes
  std::vector<T> gradient;  // of the mean loss, like the parameters
};

template <class T>
class Network {
 public:
  explicit Network(const ResNetSpec& spec) : spec_(spec), plan_(network_plan(spec)) {}

  // Batch statistics; `buffers` move by momentum 0.1 towards them.
  Step<T> train(std::span<const T> parameters, std::span<T> buffers, std::span<const T> images,
                std::span<const std::int32_t> labels, const LossFunction<T>& loss) {
    training_ = true;
    parameters_ = parameters;
    buffers_ = buffers;
    moved_ = buffers;
    return step(images, labels, loss);
  }

  // Running statistics, held fixed: with one image, the gradient that Engine::image_gradients gives.
  Step<T> evaluate(std::span<const T> parameters, std::span<const T> buffers, std::span<const T> images,
                   std::span<const std::int32_t> labels, const LossFunction<T>& loss) {
    training_ = false;
    parameters_ = parameters;
    buffers_ = buffers;
    return step(images, labels, loss);
  }

 private:
  // What a unit leaves behind for its way back.
  struct UnitTrace {
    Tensor<T> input;
    Tensor<T> raw;  // what the convolution gave
    Statistics<T> statistics;
  };
  struct BlockTrace {
    UnitTrace first, second, projection;
    Tensor<T> hidden;  // after the first ReLU
    Tensor<T> output;
  };

  std::span<const T> part(std::int64_t offset, std::int64_t size) const {
    return parameters_.subspan(static_cast<std::size_t>(offset), static_cast<std::size_t>(size));
  }
  std::span<T> gradient_part(Step<T>& result, std::int64_t offset, std::int64_t size) const {
    return std::span(result.gradient)
        .subspan(static_cast<std::size_t>(offset), static_cast<std::size_t>(size));
  }

  Tensor<T> unit_forward(const ConvUnit& u, const Tensor<T>& input, UnitTrace& trace) {
    trace.input = input;
    trace.raw = convolve(input, part(u.weight, u.weight_size()), u.out, u.kernel, u.stride);
    const auto mean = static_cast<std::size_t>(u.mean);
    const auto variance = static_cast<std::size_t>(u.variance);
    const auto channels = static_cast<std::size_t>(u.out);
    if (training_) {
      trace.statistics = batch_statistics(trace.raw);
      const T count = static_cast<T>(trace.raw.batch) * trace.raw.side * trace.raw.side;
      for (std::size_t c = 0; c < channels; ++c) {
        const T unbiased = trace.statistics.variance[c] * count / std::max(count - 1, T(1));
        moved_[mean + c] += T(0.1) * (trace.statistics.mean[c] - moved_[mean + c]);
        moved_[variance + c] += T(0.1) * (unbiased - moved_[variance + c]);
      }
    } else {
      const auto running = [&](std::size_t at) {
        const auto values = buffers_.subspan(at, channels);
        return std::vector<T>(values.begin(), values.end());
      };
      trace.statistics = {running(mean), running(variance)};
    }
    return normalise(trace.raw, trace.statistics, part(u.gamma, u.out), part(u.beta, u.out));
  }

  // From the gradient of the unit's output to that of its input; the parameters' gradients go into the
  // result.
  Tensor<T> unit_backward(const ConvUnit& u, const UnitTrace& trace, const Tensor<T>& upstream,
                          Step<T>& result) {
    const Tensor<T> raw =
        normalise_backward(trace.raw, trace.statistics, part(u.gamma, u.out), upstream, training_,
                           gradient_part(result, u.gamma, u.out), gradient_part(result, u.beta, u.out));
    convolve_weights(trace.input, raw, u.kernel, u.stride, gradient_part(result, u.weight, u.weight_size()));
    return convolve_data(raw, part(u.weight, u.weight_size()), u.in, u.kernel, u.stride, u.side);
  }

  Tensor<T> block_forward(const BlockPlan& b, const Tensor<T>& input, BlockTrace& trace) {
    trace.hidden = relu(unit_forward(b.first, input, trace.first));
    Tensor<T> sum = unit_forward(b.second, trace.hidden, trace.second);
    switch (b.skip) {
      case Skip::kIdentity:
        add(sum, input);
        break;
      case Skip::kPad:
        add(sum, pad_shortcut(input, b.first.out, b.first.stride));
        break;
      case Skip::kProjection:
        add(sum, unit_forward(b.projection, input, trace.projection));
        break;
    }
    trace.output = relu(sum);
    return trace.output;
  }

  Tensor<T> block_backward(const BlockPlan& b, const BlockTrace& trace, Tensor<T> upstream, Step<T>& result) {
    relu_backward(trace.output, upstream);
    Tensor<T> hidden = unit_backward(b.second, trace.second, upstream, result);
    relu_backward(trace.hidden, hidden);
    Tensor<T> input = unit_backward(b.first, trace.first, hidden, result);
    switch (b.skip) {
      case Skip::kIdentity:
        add(input, upstream);
        break;
      case Skip::kPad:
        add(input, pad_shortcut_backward(upstream, b.first.in, b.first.stride));
        break;
      case Skip::kProjection:
        add(input, unit_backward(b.projection, trace.projection, upstream, result));
        break;
    }
    return input;
  }

  Step<T> step(std::span<const T> images, std::span<const std::int32_t> labels, const LossFunction<T>& loss) {
    const int batch = static_cast<int>(labels.size());
    Tensor<T> x(batch, spec_.channels, plan_.stem.side);
    std::copy(images.begin(), images.end(), x.values.begin());
    UnitTrace stem;
    const Tensor<T> stem_output = relu(unit_forward(plan_.stem, x, stem));
    x = stem_output;
    std::vector<BlockTrace> traces(plan_.blocks.size());
    for (std::size_t b = 0; b < traces.size(); ++b) x = block_forward(plan_.blocks[b], x, traces[b]);
    const std::vector<T> features = mean_pixels(x);

    Step<T> result;
    result.gradient.assign(parameters_.size(), T(0));
    const auto weight = part(plan_.linear_weight, std::int64_t{spec_.classes} * x.channels);
    result.logits = linear(features, weight, part(plan_.linear_bias, spec_.classes), batch);
    const std::vector<T> slope = score(result, labels, loss);
    const std::vector<T> feature_slope =
        linear_backward(features, weight, slope, batch,
                        gradient_part(result, plan_.linear_weight, static_cast<std::int64_t>(weight.size())),
                        gradient_part(result, plan_.linear_bias, spec_.classes));

    Tensor<T> upstream = mean_pixels_backward(feature_slope, x);
    for (std::size_t b = traces.size(); b-- > 0;) {
      upstream = block_backward(plan_.blocks[b], traces[b], std::move(upstream), result);
    }
    relu_backward(stem_output, upstream);
    unit_backward(plan_.stem, stem, upstream, result);
    return result;
  }

  // Loss and counts; returns the gradient of the mean loss with respect to the logits.
  std::vector<T> score(Step<T>& result, std::span<const std::int32_t> labels,
                       const LossFunction<T>& loss) const {
    const auto classes = static_cast<std::size_t>(spec_.classes);
    std::vector<T> slope(result.logits.size());
    for (std::size_t i = 0; i < labels.size(); ++i) {
      const auto logits = std::span<const T>(result.logits).subspan(i * classes, classes);
      const auto out = std::span(slope).subspan(i * classes, classes);
      result.loss += loss(logits, labels[i], out) / static_cast<T>(labels.size());
      for (T& value : out) value /= static_cast<T>(labels.size());
      const auto first_largest = std::max_element(logits.begin(), logits.end()) - logits.begin();
      result.correct += first_largest == labels[i];
    }
    return slope;
  }

  ResNetSpec spec_;
  NetworkPlan plan_;
  bool training_ = true;
  std::span<const T> parameters_;
  std::span<const T> buffers_;
  std::span<T> moved_;
};

}  // namespace longtail::nn::reference
