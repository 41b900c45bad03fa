// What the files of the strategies share. Each strategy has a file that ends with a function that returns its
// variant; strategy.cc lists them.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "longtail/base/spec.h"
#include "longtail/sampling/strategy.h"

namespace longtail::sampling {

using StrategyKind = base::Variant<Strategy()>;

StrategyKind uniform();
StrategyKind class_balanced();
StrategyKind square_root();
StrategyKind progressive();
StrategyKind power();
StrategyKind effective_number();
StrategyKind repeat_factor();
StrategyKind deferred();
StrategyKind stratified();
StrategyKind adaptive();
StrategyKind focus();

template <class Made, class Config>
StrategyKind kind_of(const std::string& name, const std::string& help,
                     const base::ParamTable<Config>& table) {
  return base::variant<Strategy(), Made>(name, help, table);
}

// A strategy that keeps its parameters.
template <class Config>
class Named : public Strategy {
 public:
  explicit Named(Config config) : config_(std::move(config)) {}

 protected:
  Config config_;
};

using base::NoParameters;

// For strategies with feedback: an Error if the accuracies of a finished epoch are missing.
void check_history(const Strategy& strategy, std::span<const std::int64_t> counts,
                   const Situation& situation);

// The number of images.
std::int64_t images_of(std::span<const std::int64_t> counts);

// The probabilities proportional to weight(count); a class without images gets 0.
template <class Weight>
std::vector<double> proportional(std::span<const std::int64_t> counts, Weight weight) {
  std::vector<double> weights;
  long double sum = 0;  // a thousand classes must not cost the last digits
  for (const std::int64_t count : counts) {
    weights.push_back(count > 0 ? weight(static_cast<double>(count)) : 0.0);
    sum += weights.back();
  }
  if (sum > 0) {
    for (double& value : weights) value /= static_cast<double>(sum);
  }
  return weights;
}

}  // namespace longtail::sampling
