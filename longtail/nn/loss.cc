#include "longtail/nn/loss.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "longtail/base/error.h"
#include "longtail/base/text.h"

namespace longtail::nn {
namespace {

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

double log_softmax(std::span<const float> logits, std::int32_t label, std::span<float> gradient) {
  return log_softmax(
      logits.size(), [&](std::size_t k) { return logits[k]; }, static_cast<std::size_t>(label), gradient);
}

void scale(std::span<float> values, double factor) {
  for (float& value : values) value = static_cast<float>(value * factor);
}

class CrossEntropy : public Loss {
 public:
  using Loss::Loss;
  double value(std::span<const float> logits, std::int32_t label, std::span<float> gradient) const override {
    return -log_softmax(logits, label, gradient);
  }
};

class ClassWeighted : public Loss {
 public:
  ClassWeighted(std::string name, double power, std::span<const std::int64_t> counts)
      : Loss(std::move(name)), weights_(counts.size()) {
    double images = 0, weighted = 0;
    for (std::size_t k = 0; k < counts.size(); ++k) {
      if (counts[k] == 0) continue;
      const auto n = static_cast<double>(counts[k]);
      weights_[k] = std::pow(n, -power);
      images += n;
      weighted += n * weights_[k];
    }
    for (double& weight : weights_) weight *= images / weighted;
  }
  double value(std::span<const float> logits, std::int32_t label, std::span<float> gradient) const override {
    const double weight = weights_[static_cast<std::size_t>(label)];
    const double log_p = log_softmax(logits, label, gradient);
    scale(gradient, weight);
    return -weight * log_p;
  }

 private:
  std::vector<double> weights_;
};

class LogitAdjusted : public Loss {
 public:
  LogitAdjusted(std::string name, double tau, std::span<const std::int64_t> counts)
      : Loss(std::move(name)), shifts_(counts.size()) {
    const auto images = static_cast<double>(std::accumulate(counts.begin(), counts.end(), std::int64_t{0}));
    for (std::size_t k = 0; k < counts.size(); ++k) {
      // A class without images is never right and, infinitely far down, never in the way.
      shifts_[k] = tau == 0 ? 0 : tau * std::log(static_cast<double>(counts[k]) / images);
    }
  }
  double value(std::span<const float> logits, std::int32_t label, std::span<float> gradient) const override {
    return -log_softmax(
        logits.size(), [&](std::size_t k) { return logits[k] + shifts_[k]; }, static_cast<std::size_t>(label),
        gradient);
  }

 private:
  std::vector<double> shifts_;
};

class Focal : public Loss {
 public:
  Focal(std::string name, double gamma) : Loss(std::move(name)), gamma_(gamma) {}
  double value(std::span<const float> logits, std::int32_t label, std::span<float> gradient) const override {
    const double log_p = log_softmax(logits, label, gradient);
    const double p = std::exp(log_p), rest = -std::expm1(log_p);  // 1 - p
    const double weight = std::pow(rest, gamma_);
    // d/dz_k of -(1-p)^g log p is (softmax_k - onehot_k) ((1-p)^g - g p (1-p)^(g-1) log p). As p goes to 1
    // the second term goes the way of the first.
    const double slope = rest > 0 && gamma_ > 0 ? gamma_ * p * weight / rest * log_p : 0;
    scale(gradient, weight - slope);
    return -weight * log_p;
  }

 private:
  double gamma_;
};

// What there is: the name, and the parameter with its default.
struct Kind {
  std::string name;
  std::string parameter;
  double initial = 0;
  std::function<std::unique_ptr<Loss>(std::string, double, std::span<const std::int64_t>)> make;
};

const std::vector<Kind>& kinds() {
  using Counts = std::span<const std::int64_t>;
  static const std::vector<Kind> all = {
      {"cross_entropy", "", 0,
       [](std::string name, double, Counts) { return std::make_unique<CrossEntropy>(std::move(name)); }},
      {"class_weighted", "power", 1,
       [](std::string name, double power, Counts counts) {
         return std::make_unique<ClassWeighted>(std::move(name), power, counts);
       }},
      {"logit_adjusted", "tau", 1,
       [](std::string name, double tau, Counts counts) {
         return std::make_unique<LogitAdjusted>(std::move(name), tau, counts);
       }},
      {"focal", "gamma", 2,
       [](std::string name, double gamma, Counts) {
         return std::make_unique<Focal>(std::move(name), gamma);
       }},
  };
  return all;
}

const Kind& find_kind(const std::string& name) {
  std::vector<std::string> names;
  for (const Kind& kind : kinds()) {
    if (kind.name == name) return kind;
    names.push_back(kind.name);
  }
  base::fail("unknown loss `{}`; there are {}{}", name, base::join(names, ", "),
             base::did_you_mean(name, names));
}

double parameter_of(const Kind& kind, std::string_view text) {
  const auto equals = text.find('=');
  const auto value =
      equals == std::string_view::npos ? std::nullopt : base::parse_real(text.substr(equals + 1));
  if (kind.parameter.empty()) base::fail("the loss `{}` has no parameter, but got `{}`", kind.name, text);
  if (!value || text.substr(0, equals) != kind.parameter || *value < 0 || *value > 20) {
    base::fail("the loss `{}` takes `{}` from 0 to 20, as in `{}:{}={:g}`, not `{}`", kind.name,
               kind.parameter, kind.name, kind.parameter, kind.initial, text);
  }
  return *value;
}

}  // namespace

std::unique_ptr<Loss> make_loss(std::string_view text, std::span<const std::int64_t> class_counts) {
  const std::string_view whole = base::trim(text);
  const auto colon = whole.find(':');
  const Kind& kind = find_kind(std::string(base::trim(whole.substr(0, colon))));
  const double value = colon == std::string_view::npos
                           ? kind.initial
                           : parameter_of(kind, base::trim(whole.substr(colon + 1)));
  const std::string name =
      value == kind.initial ? kind.name : fmt::format("{}:{}={}", kind.name, kind.parameter, value);
  return kind.make(name, value, class_counts);
}

std::string loss_choices() {
  std::vector<std::string> choices;
  for (const Kind& kind : kinds()) {
    choices.push_back(kind.parameter.empty()
                          ? kind.name
                          : fmt::format("{}:{}={:g}", kind.name, kind.parameter, kind.initial));
  }
  return base::join(choices, " | ");
}

std::string canonical_loss(std::string_view text) { return make_loss(text, {})->name(); }

}  // namespace longtail::nn
