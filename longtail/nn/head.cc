#include "longtail/nn/head.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "longtail/base/cpu.h"
#include "longtail/nn/head_loops.h"

namespace longtail::nn {
namespace {

HeadLoops loops_here() {
  switch (base::chosen_cpu()) {
#if defined(__x86_64__)
    case base::Cpu::kAvx512:
      return head_loops_avx512();
    case base::Cpu::kAvx2:
      return head_loops_avx2();
#endif
    default:
      return {logits_of<float>, combine<float>};
  }
}

// The loops of a classifier; for floats, those for the CPU at the time of construction.
template <class T>
struct Loops {
  void linear_forward(int features, int classes, const T* weight, const T* bias, const T* x,
                      T* logits) const {
    logits_of(features, classes, weight, bias, x, logits);
  }
  // The sum over rows of factors[row * stride] times a row of `values`.
  void weighted_sum(int features, int rows, const T* values, const T* factors, int stride, T* out) const {
    combine(features, rows, values, factors, stride, out);
  }
};
template <>
struct Loops<float> : HeadLoops {
  Loops() : HeadLoops(loops_here()) {}
};

template <class T>
class Linear final : public Classifier<T> {
 public:
  explicit Linear(const NetworkPlan& plan) : plan_(plan) {}

  void begin(std::span<const T> parameters) override { parameters_ = parameters; }

  void forward(const T* features, T* logits) const override {
    loops_.linear_forward(plan_.features, plan_.classes, weight(), parameters_.data() + plan_.linear_bias,
                          features, logits);
  }
  void backward(const T*, const T* logit_gradient, T* feature_gradient) const override {
    loops_.weighted_sum(plan_.features, plan_.classes, weight(), logit_gradient, 1, feature_gradient);
  }
  void parameter_gradient(int images, int first, int last, const T* d, const T* features,
                          std::span<T> gradient) const override {
    for (int c = first; c < last; ++c) {
      loops_.weighted_sum(plan_.features, images, features, d + c, plan_.classes,
                          gradient.data() + plan_.linear_weight + static_cast<long>(c) * plan_.features);
      T total = 0;
      for (int i = 0; i < images; ++i) total += d[static_cast<long>(i) * plan_.classes + c];
      gradient[static_cast<std::size_t>(plan_.linear_bias + c)] = total;
    }
  }

 private:
  const T* weight() const { return parameters_.data() + plan_.linear_weight; }

  NetworkPlan plan_;
  Loops<T> loops_;
  std::span<const T> parameters_;
};

// Logit of class c: w_c x / (|w_c| |x|). The gradient at a vector is its component at right angles to the
// vector, divided by the vector's length.
template <class T>
class Cosine final : public Classifier<T> {
 public:
  explicit Cosine(const NetworkPlan& plan)
      : plan_(plan),
        unit_(static_cast<std::size_t>(plan.classes) * static_cast<std::size_t>(plan.features)),
        inverse_(static_cast<std::size_t>(plan.classes)),
        zero_(static_cast<std::size_t>(plan.classes)) {}

  void begin(std::span<const T> parameters) override {
    for (int c = 0; c < plan_.classes; ++c) {
      const T* row = parameters.data() + plan_.linear_weight + offset(c);
      const T inverse = inverse_length(row);
      inverse_[static_cast<std::size_t>(c)] = inverse;
      for (int f = 0; f < plan_.features; ++f)
        unit_[offset(c) + static_cast<std::size_t>(f)] = row[f] * inverse;
    }
  }
  void forward(const T* features, T* logits) const override {
    loops_.linear_forward(plan_.features, plan_.classes, unit_.data(), zero_.data(), features, logits);
    const T inverse = inverse_length(features);
    for (int c = 0; c < plan_.classes; ++c) logits[c] *= inverse;
  }
  void backward(const T* features, const T* logit_gradient, T* feature_gradient) const override {
    loops_.weighted_sum(plan_.features, plan_.classes, unit_.data(), logit_gradient, 1, feature_gradient);
    const T inverse = inverse_length(features);
    const T along = dot(plan_.features, feature_gradient, features) * inverse * inverse;
    for (int f = 0; f < plan_.features; ++f) {
      feature_gradient[f] = (feature_gradient[f] - along * features[f]) * inverse;
    }
  }
  void parameter_gradient(int images, int first, int last, const T* d, const T* features,
                          std::span<T> gradient) const override {
    std::vector<T> units(static_cast<std::size_t>(images) * static_cast<std::size_t>(plan_.features));
    for (int i = 0; i < images; ++i) {
      const T* row = features + offset(i);
      const T inverse = inverse_length(row);
      for (int f = 0; f < plan_.features; ++f)
        units[offset(i) + static_cast<std::size_t>(f)] = row[f] * inverse;
    }
    for (int c = first; c < last; ++c) {
      T* out = gradient.data() + plan_.linear_weight + offset(c);
      const T* unit = unit_.data() + offset(c);
      loops_.weighted_sum(plan_.features, images, units.data(), d + c, plan_.classes, out);
      const T along = dot(plan_.features, out, unit);
      for (int f = 0; f < plan_.features; ++f) {
        out[f] = (out[f] - along * unit[f]) * inverse_[static_cast<std::size_t>(c)];
      }
    }
  }

 private:
  std::size_t offset(int row) const {
    return static_cast<std::size_t>(row) * static_cast<std::size_t>(plan_.features);
  }
  // As PyTorch's normalize: a zero vector has no direction and stays zero.
  T inverse_length(const T* row) const {
    return 1 / std::max(std::sqrt(dot(plan_.features, row, row)), static_cast<T>(1e-12));
  }

  NetworkPlan plan_;
  Loops<T> loops_;
  std::vector<T> unit_;     // the weights of each class at length 1
  std::vector<T> inverse_;  // 1 over their length
  std::vector<T> zero_;     // instead of a bias
};

}  // namespace

template <class T>
std::unique_ptr<Classifier<T>> make_classifier(const ResNetSpec& spec) {
  if (spec.head == Head::kCosine) return std::make_unique<Cosine<T>>(network_plan(spec));
  return std::make_unique<Linear<T>>(network_plan(spec));
}
template std::unique_ptr<Classifier<float>> make_classifier(const ResNetSpec& spec);
template std::unique_ptr<Classifier<double>> make_classifier(const ResNetSpec& spec);

}  // namespace longtail::nn
