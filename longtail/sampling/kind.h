// How a kind of strategy makes itself known: its name, a sentence, its parameters described once, and how it
// is made from them. One file a strategy ends with one function that returns its Kind; strategy.cc lists
// them.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "longtail/base/params.h"
#include "longtail/sampling/strategy.h"

namespace longtail::sampling {

using Arguments = std::vector<std::pair<std::string, std::string>>;  // key, value as written

struct Kind {
  StrategyInfo info;
  std::function<std::unique_ptr<Strategy>(const Arguments&)> make;
};

Kind uniform();
Kind class_balanced();
Kind square_root();
Kind progressive();
Kind power();
Kind effective_number();
Kind repeat_factor();
Kind deferred();

// name:key=value,... with the parameters at their default left out.
template <class Config>
std::string written(const std::string& name, const base::ParamTable<Config>& table, const Config& config) {
  std::string text = name;
  for (const auto& entry : table.entries()) {
    if (entry.get(config) == entry.info.initial) continue;
    text += (text.size() == name.size() ? ":" : ",") + entry.info.name + "=" + entry.get(config);
  }
  return text;
}

// A kind whose parameters are a Config described by a table; Made is constructed from (canonical name,
// Config).
template <class Made, class Config>
Kind kind_of(const std::string& name, const std::string& help, const base::ParamTable<Config>& table) {
  std::vector<std::string> words;
  for (const auto& entry : table.entries()) {
    const base::ParamInfo& info = entry.info;
    words.push_back(info.name + ": " + info.range + " (default " + info.initial + ")");
  }
  Kind kind;
  kind.info = {name, base::join(words, "; "), help};
  kind.make = [name, table](const Arguments& arguments) -> std::unique_ptr<Strategy> {
    Config config;
    for (const auto& [key, value] : arguments) {
      try {
        table.set(config, key, value);
      } catch (const base::Error& error) {
        if (table.entries().empty())
          base::fail("strategy `{}`: it has no parameters, but got `{}`", name, key);
        base::fail("strategy `{}`: {}", name, error.what());
      }
    }
    return std::make_unique<Made>(written(name, table, config), config);
  };
  return kind;
}

// A strategy that knows its canonical name and its parameters.
template <class Config>
class Named : public Strategy {
 public:
  Named(std::string name, Config config) : config_(std::move(config)), name_(std::move(name)) {}
  std::string name() const final { return name_; }

 protected:
  Config config_;

 private:
  std::string name_;
};

struct NoParameters {};

// The number of images, and of classes that have any.
std::int64_t images_of(std::span<const std::int64_t> counts);
std::int64_t classes_with_images(std::span<const std::int64_t> counts);

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
