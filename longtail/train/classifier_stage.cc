#include "longtail/train/classifier_stage.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "longtail/base/error.h"
#include "longtail/base/exp_log.h"

namespace longtail::train {
namespace {

using Kind = RebalanceMethod::Kind;

constexpr int kTauSteps = 20;  // steps of a tenth

double square_norm(std::span<const float> row) {
  double sum = 0;
  for (const float value : row) sum += static_cast<double>(value) * value;
  return sum;
}

double power(double value, double exponent) {
  return exponent == 0 ? 1 : base::exp(exponent * base::log(value));
}

}  // namespace

LinearHead head_of(const nn::ResNetSpec& spec, std::span<float> parameters) {
  if (spec.head != nn::Head::kLinear) base::fail("the classifier is not linear, so it cannot be rebalanced");
  const nn::NetworkPlan plan = nn::network_plan(spec);
  const auto classes = static_cast<std::size_t>(plan.classes),
             width = static_cast<std::size_t>(plan.features);
  return {plan.classes, plan.features,
          parameters.subspan(static_cast<std::size_t>(plan.linear_weight), classes * width),
          parameters.subspan(static_cast<std::size_t>(plan.linear_bias), classes)};
}

void take_scale(double scale, const LinearHead& head) {
  for (float& weight : head.weight) weight = static_cast<float>(weight * scale);
  for (float& bias : head.bias) bias = static_cast<float>(bias * scale);
}

void normalise(double tau, const LinearHead& head) {
  for (int k = 0; k < head.classes; ++k) {
    const double norm = std::sqrt(square_norm(head.row(k)));
    if (norm == 0) continue;
    const double divisor = power(norm, tau);
    for (float& weight : head.row(k)) weight = static_cast<float>(weight / divisor);
  }
  std::fill(head.bias.begin(), head.bias.end(), 0.0F);
}

void adjust(double tau, std::span<const std::int64_t> counts, const LinearHead& head) {
  double all = 0;
  for (const std::int64_t count : counts) all += static_cast<double>(count);
  for (std::size_t k = 0; k < counts.size(); ++k) {
    if (counts[k] == 0) continue;
    const double prior = static_cast<double>(counts[k]) / all;
    head.bias[k] = static_cast<float>(head.bias[k] - tau * base::log(prior));
  }
}

void take_means(bool cosine, const Features& training, const LinearHead& head) {
  const auto width = static_cast<std::size_t>(head.width), classes = static_cast<std::size_t>(head.classes);
  std::vector<double> sums(classes * width);
  std::vector<std::int64_t> images(classes);
  for (std::size_t i = 0; i < training.labels.size(); ++i) {
    const auto k = static_cast<std::size_t>(training.labels[i]);
    ++images[k];
    for (std::size_t f = 0; f < width; ++f) sums[k * width + f] += training.of(i)[f];
  }
  double longest = 0;
  for (std::size_t k = 0; k < classes; ++k) {
    double square = 0;
    for (std::size_t f = 0; f < width && images[k] > 0; ++f) {
      double& mean = sums[k * width + f];
      mean /= static_cast<double>(images[k]);
      square += mean * mean;
    }
    longest = std::max(longest, square);
    const double factor = !cosine ? 2 : square > 0 ? 1 / std::sqrt(square) : 0;
    for (std::size_t f = 0; f < width; ++f)
      head.weight[k * width + f] = static_cast<float>(sums[k * width + f] * factor);
    head.bias[k] = static_cast<float>(cosine ? 0 : -square);
  }
  // Features are not negative, so the logit of the shortest mean is at least its bias; anything lower is
  // never the highest.
  for (std::size_t k = 0; k < classes; ++k) {
    if (images[k] == 0) head.bias[k] = static_cast<float>(-longest - 1);
  }
}

HeadResult measure_head(const nn::ResNetSpec& spec, std::span<const float> parameters,
                        const Features& features) {
  const auto classifier = nn::make_classifier<float>(spec);
  classifier->begin(parameters);
  const auto classes = static_cast<std::size_t>(spec.classes);
  std::vector<float> logits(classes);
  std::vector<std::int64_t> right(classes), images(classes);
  HeadResult result;
  for (std::size_t i = 0; i < features.labels.size(); ++i) {
    classifier->forward(features.of(i), logits.data());
    const auto label = static_cast<std::size_t>(features.labels[i]);
    const auto top = std::max_element(logits.begin(), logits.end());
    ++images[label];
    right[label] += std::cmp_equal(top - logits.begin(), label);
    double total = 0;
    for (const float logit : logits) total += base::exp(static_cast<double>(logit) - *top);
    result.loss += base::log(total) + *top - logits[label];
  }
  std::int64_t all = 0, hits = 0;
  int counted = 0;
  for (std::size_t k = 0; k < classes; ++k) {
    all += images[k];
    hits += right[k];
    if (images[k] == 0) continue;
    ++counted;
    result.balanced += 100 * static_cast<double>(right[k]) / static_cast<double>(images[k]);
  }
  result.balanced /= counted;
  result.loss /= static_cast<double>(all);
  result.accuracy = 100 * static_cast<double>(hits) / static_cast<double>(all);
  return result;
}

double choose_tau(const RebalanceMethod& method, const nn::ResNetSpec& spec,
                  std::span<const std::int64_t> counts, std::span<const float> parameters,
                  const Features& features) {
  double best = -1, chosen = 0;
  for (int step = 0; step <= kTauSteps; ++step) {
    const double tau = step / 10.0;
    std::vector<float> tried(parameters.begin(), parameters.end());
    const LinearHead head = head_of(spec, tried);
    if (method.kind == Kind::kNormalise) {
      normalise(tau, head);
    } else {
      adjust(tau, counts, head);
    }
    const double balanced = measure_head(spec, tried, features).balanced;
    if (balanced > best) {
      best = balanced;
      chosen = tau;
    }
  }
  return chosen;
}

HeadTrainer::HeadTrainer(const RebalanceMethod& method, const nn::ResNetSpec& spec,
                         std::span<const float> trained, const nn::SgdConfig& sgd)
    : kind_(method.kind),
      plan_(nn::network_plan(spec)),
      trained_(trained),
      sgd_(sgd),
      classifier_(nn::make_classifier<float>(spec)),
      loss_(nn::make_loss("cross_entropy", {})) {}

void HeadTrainer::begin(std::span<const float> initial, std::span<float> parameters,
                        std::span<float> memory) const {
  std::copy(trained_.begin(), trained_.end(), parameters.begin());
  std::fill(memory.begin(), memory.end(), 0.0F);
  if (kind_ == Kind::kRetrain) {
    std::copy(initial.begin() + plan_.linear_weight, initial.end(), parameters.begin() + plan_.linear_weight);
  } else {
    std::fill_n(memory.begin() + plan_.classes, plan_.classes, 1.0F);
  }
}

// Fills logits_ (before the factors) and slopes_, the gradient of the mean loss at the logits after them.
nn::StepResult HeadTrainer::logits_and_slopes(std::span<const float> features,
                                              std::span<const std::int32_t> labels,
                                              std::span<const float> factors) {
  const auto classes = static_cast<std::size_t>(plan_.classes),
             width = static_cast<std::size_t>(plan_.features);
  logits_.resize(labels.size() * classes);
  slopes_.resize(labels.size() * classes);
  std::vector<float> scaled(classes);
  nn::StepResult result;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const std::span<float> logits = std::span(logits_).subspan(i * classes, classes);
    const std::span<float> slopes = std::span(slopes_).subspan(i * classes, classes);
    classifier_->forward(features.data() + i * width, logits.data());
    std::copy(logits.begin(), logits.end(), scaled.begin());
    for (std::size_t k = 0; k < factors.size(); ++k) scaled[k] *= factors[k];
    result.loss += loss_->value(scaled, labels[i], slopes);
    result.correct += std::max_element(scaled.begin(), scaled.end()) - scaled.begin() == labels[i];
    for (float& slope : slopes) slope /= static_cast<float>(labels.size());
  }
  result.loss /= static_cast<double>(labels.size());
  return result;
}

void HeadTrainer::scale(std::span<const float> factors, std::span<float> parameters) const {
  for (std::int64_t k = 0; k < plan_.classes; ++k) {
    const float factor = factors[static_cast<std::size_t>(k)];
    for (std::int64_t f = 0; f < plan_.features; ++f) {
      const auto at = static_cast<std::size_t>(plan_.linear_weight + k * plan_.features + f);
      parameters[at] = trained_[at] * factor;
    }
    const auto at = static_cast<std::size_t>(plan_.linear_bias + k);
    parameters[at] = trained_[at] * factor;
  }
}

nn::StepResult HeadTrainer::step(double lr, std::span<const float> features,
                                 std::span<const std::int32_t> labels, std::span<float> parameters,
                                 std::span<float> memory) {
  sgd_.lr = lr;
  const auto classes = static_cast<std::size_t>(plan_.classes);
  if (kind_ == Kind::kRetrain) {
    classifier_->begin(parameters);
    const nn::StepResult result = logits_and_slopes(features, labels, {});
    gradient_.resize(parameters.size());
    classifier_->parameter_gradient(static_cast<int>(labels.size()), 0, plan_.classes, slopes_.data(),
                                    features.data(), gradient_);
    const auto from = static_cast<std::size_t>(plan_.linear_weight);
    nn::sgd_step(sgd_, std::span(gradient_).subspan(from), memory.subspan(from), parameters.subspan(from));
    return result;
  }
  classifier_->begin(trained_);
  const std::span<float> factors = memory.subspan(classes, classes);
  const nn::StepResult result = logits_and_slopes(features, labels, factors);
  gradient_.assign(classes, 0.0F);
  for (std::size_t i = 0; i < logits_.size(); ++i) gradient_[i % classes] += slopes_[i] * logits_[i];
  nn::sgd_step(sgd_, gradient_, memory.first(classes), factors);
  scale(factors, parameters);
  return result;
}

}  // namespace longtail::train
