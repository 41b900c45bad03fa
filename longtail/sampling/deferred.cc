// One strategy until an epoch, another from it on (deferred re-balancing, Cao et al., 2019). Both see the
// epoch of the whole training. A strategy with parameters is written in brackets:
// deferred:then=progressive(gamma=2),at=100.
#include "longtail/sampling/kind.h"

namespace longtail::sampling {
namespace {

struct Config {
  std::string first = "uniform";
  std::string then = "class_balanced";
  int at = 160;
};

class Deferred final : public Strategy {
 public:
  Deferred(std::string, const Config& config)
      : first_(make_strategy(config.first)), then_(make_strategy(config.then)), at_(config.at) {}

  std::string name() const override;
  std::vector<double> probabilities(std::span<const std::int64_t> counts, Moment moment) const override {
    return now(moment).probabilities(counts, moment);
  }
  bool without_replacement(Moment moment) const override { return now(moment).without_replacement(moment); }

 private:
  const Strategy& now(Moment moment) const { return moment.epoch < at_ ? *first_ : *then_; }

  std::unique_ptr<Strategy> first_;
  std::unique_ptr<Strategy> then_;
  int at_;
};

// "power:q=0.25" as it is written inside another strategy: "power(q=0.25)".
std::string in_brackets(std::string name) {
  const auto colon = name.find(':');
  if (colon == std::string::npos) return name;
  name[colon] = '(';
  return name + ")";
}

base::ParamTable<Config> parameters() {
  // Checked when they are made; a check here as well would make the inner ones twice at each level.
  const auto later = [](const std::string&) {};
  base::ParamTable<Config> table;
  table.add("first", &Config::first, "The strategy at the beginning.").check("a strategy", later);
  table.add("then", &Config::then, "The strategy from epoch `at` on.").check("a strategy", later);
  table.add("at", &Config::at, "The first epoch of the second strategy, counted from 0.").at_least(0);
  return table;
}

// Made from the canonical names of the two, so that equal strategies have equal names however they were
// written.
std::string Deferred::name() const {
  return written("deferred", parameters(),
                 Config{in_brackets(first_->name()), in_brackets(then_->name()), at_});
}

}  // namespace

Kind deferred() {
  return kind_of<Deferred>(
      "deferred",
      "One strategy before epoch `at`, another from it on; parameters in brackets: then=power(q=0.25).",
      parameters());
}

}  // namespace longtail::sampling
