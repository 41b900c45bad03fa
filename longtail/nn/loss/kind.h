// What the files of the losses share. The file of each loss ends with one function that returns its variant;
// loss.cc lists them.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "longtail/base/exp_log.h"
#include "longtail/base/spec.h"
#include "longtail/nn/loss.h"

namespace longtail::nn {

using ClassCounts = std::span<const std::int64_t>;
using LossKind = base::Variant<Loss(ClassCounts)>;

LossKind cross_entropy();
LossKind class_weighted();
LossKind logit_adjusted();
LossKind focal();
LossKind deferred_loss();
LossKind ldam();
LossKind vector_scaling();
LossKind label_smoothing();
LossKind label_aware_smoothing();

template <class Made, class Config = base::NoParameters>
LossKind loss_kind(const std::string& name, const std::string& help,
                   const base::ParamTable<Config>& table = base::ParamTable<Config>()) {
  return base::variant<Loss(ClassCounts), Made>(name, help, table);
}

// log softmax of the logits at the label; `gradient` becomes softmax(logits) - onehot(label).
template <class Logit>
double log_softmax(std::size_t classes, const Logit& logit, std::size_t label, std::span<float> gradient) {
  double top = -std::numeric_limits<double>::infinity();
  for (std::size_t k = 0; k < classes; ++k) top = std::max<double>(top, logit(k));
  double total = 0;
  for (std::size_t k = 0; k < classes; ++k) total += base::exp(logit(k) - top);
  const double log_total = base::log(total) + top;
  for (std::size_t k = 0; k < classes; ++k) gradient[k] = static_cast<float>(base::exp(logit(k) - log_total));
  gradient[label] -= 1.0f;
  return logit(label) - log_total;
}

inline double log_softmax(std::span<const float> logits, std::int32_t label, std::span<float> gradient) {
  return log_softmax(
      logits.size(), [&](std::size_t k) { return logits[k]; }, static_cast<std::size_t>(label), gradient);
}

inline void scale(std::span<float> values, double factor) {
  for (float& value : values) value = static_cast<float>(value * factor);
}

// Weights proportional to weight(n_k), with mean 1 over all images.
template <class Weight>
std::vector<double> image_weights(ClassCounts counts, const Weight& weight) {
  std::vector<double> weights(counts.size());
  double images = 0, weighted = 0;
  for (std::size_t k = 0; k < counts.size(); ++k) {
    if (counts[k] == 0) continue;
    const auto n = static_cast<double>(counts[k]);
    weights[k] = weight(n);
    images += n;
    weighted += n * weights[k];
  }
  for (double& one : weights) one *= images / weighted;
  return weights;
}

// E(n) = (1 - beta^n) / (1 - beta) (Cui et al., 2019), beta above 0.
inline double effective_images(double n, double beta) {
  return base::expm1(n * base::log(beta)) / (beta - 1);
}

template <class Config>
void add_beta(base::ParamTable<Config>& table, double Config::*beta, const std::string& help) {
  table.add("beta", beta, help).check("from 0 to below 1", [](const std::string& text) {
    const double value = base::parse_real(text).value_or(-1);
    if (value < 0 || value >= 1) base::fail("`beta` is `{}`; it must be from 0 to below 1", text);
  });
}

// Cross-entropy against 1 - epsilon + epsilon / K at the label and epsilon / K elsewhere.
inline double smoothed_cross_entropy(std::span<const float> logits, std::int32_t label, double epsilon,
                                     std::span<float> gradient) {
  const double log_p = log_softmax(logits, label, gradient);
  const auto classes = static_cast<double>(logits.size());
  const double log_total = logits[static_cast<std::size_t>(label)] - log_p;
  double mean = 0;  // of log p_k
  for (std::size_t k = 0; k < logits.size(); ++k) {
    mean += (logits[k] - log_total) / classes;
    gradient[k] = static_cast<float>(gradient[k] - epsilon / classes);
  }
  gradient[static_cast<std::size_t>(label)] += static_cast<float>(epsilon);
  return -(1 - epsilon) * log_p - epsilon * mean;
}

}  // namespace longtail::nn
