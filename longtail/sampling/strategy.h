// A sampling strategy is a distribution over the classes at an epoch: class counts and epoch in,
// probabilities out.
//
//   auto strategy = make_strategy("progressive:gamma=2");
//   std::vector<double> p = strategy->probabilities(counts, {.epoch = 160, .epochs = 200});
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace longtail::sampling {

struct Moment {
  int epoch = 0;   // counted from 0
  int epochs = 1;  // of the whole training
};

class Strategy {
 public:
  virtual ~Strategy() = default;

  // As it is written in a study file, parameters at their default left out: "progressive", "power:q=0.25".
  virtual std::string name() const = 0;

  // Probability of each class, summing to 1; 0 for a class without images.
  virtual std::vector<double> probabilities(std::span<const std::int64_t> counts, Moment moment) const = 0;

  // True if an epoch is a permutation of the images (every image once) instead of draws with replacement.
  virtual bool without_replacement(Moment) const { return false; }
};

// Parses "name", "name:key=value,key=value" or "name(key=value,key=value)", the form inside another strategy:
// "deferred:first=uniform,then=progressive(gamma=2),at=100". An Error names what is wrong and what exists.
std::unique_ptr<Strategy> make_strategy(std::string_view text);

// Canonical text of a strategy: make_strategy(text)->name().
std::string canonical_strategy(std::string_view text);

// Every strategy with its parameters and a sentence, for --help and the documentation.
struct StrategyInfo {
  std::string name;
  std::string parameters;  // "gamma > 0 (default 1)"
  std::string help;
};
const std::vector<StrategyInfo>& strategies();

}  // namespace longtail::sampling
