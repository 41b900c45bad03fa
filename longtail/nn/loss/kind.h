// What the files of the losses share. One file per loss ends with one function that returns its variant;
// loss.cc lists them.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "longtail/base/spec.h"
#include "longtail/nn/loss.h"

namespace longtail::nn {

using ClassCounts = std::span<const std::int64_t>;
using LossKind = base::Variant<Loss(ClassCounts)>;

LossKind cross_entropy();
LossKind class_weighted();
LossKind logit_adjusted();
LossKind focal();

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
  for (std::size_t k = 0; k < classes; ++k) total += std::exp(logit(k) - top);
  const double log_total = std::log(total) + top;
  for (std::size_t k = 0; k < classes; ++k) gradient[k] = static_cast<float>(std::exp(logit(k) - log_total));
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

}  // namespace longtail::nn
