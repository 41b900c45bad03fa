// One strategy until an epoch, another from it on (deferred re-balancing, Cao et al., 2019). Both see the
// epoch of the whole training. A strategy with parameters is written in brackets:
// deferred:then=progressive(gamma=2),at=100.
#include <algorithm>
#include <cmath>

#include "longtail/sampling/kind.h"

namespace longtail::sampling {
namespace {

struct DeferredConfig {
  std::string first = "uniform";
  std::string then = "class_balanced";
  double at = 160;
};

class Deferred final : public Strategy {
 public:
  explicit Deferred(DeferredConfig& config)
      : first_(make_strategy(config.first)), then_(make_strategy(config.then)), at_(config.at) {
    // Equal strategies have equal names however they were written.
    config.first = base::in_brackets(first_->name());
    config.then = base::in_brackets(then_->name());
    if (first_->feedback() != Feedback::kNone && then_->feedback() != Feedback::kNone &&
        first_->feedback() != then_->feedback()) {
      base::fail(
          "strategy `deferred`: `{}` and `{}` look at different accuracies, and a training measures one kind",
          first_->name(), then_->name());
    }
  }

  std::vector<double> probabilities(std::span<const std::int64_t> counts,
                                    const Situation& situation) const override {
    return now(situation).probabilities(counts, situation);
  }
  bool without_replacement(const Situation& situation) const override {
    return now(situation).without_replacement(situation);
  }
  bool stratified(const Situation& situation) const override { return now(situation).stratified(situation); }
  Feedback feedback() const override { return std::max(first_->feedback(), then_->feedback()); }
  std::optional<Deferral> deferral(int epochs) const override {
    return deferral_between(first_->name(), epoch_of_change(at_, epochs), first_->deferral(epochs),
                            then_->deferral(epochs));
  }

 private:
  const Strategy& now(const Situation& situation) const {
    return situation.epoch < epoch_of_change(at_, situation.epochs) ? *first_ : *then_;
  }

  std::unique_ptr<Strategy> first_;
  std::unique_ptr<Strategy> then_;
  double at_;
};

}  // namespace

int epoch_of_change(double at, int epochs) {
  if (at == 0) return 0;
  // A fraction leaves each of the two at least one epoch.
  const double last = epochs - 1.0;
  if (at < 1) return static_cast<int>(std::clamp(std::round(at * epochs), std::min(1.0, last), last));
  return static_cast<int>(std::min(std::ceil(at), 1e9));
}

StrategyKind deferred() {
  // The inner strategies are checked when they are built; a check here would build them twice at each level.
  const auto later = [](const std::string&) {};
  base::ParamTable<DeferredConfig> table;
  table.add("first", &DeferredConfig::first, "The strategy at the beginning.").check("a strategy", later);
  table.add("then", &DeferredConfig::then, "The strategy from epoch `at` on.").check("a strategy", later);
  table
      .add("at", &DeferredConfig::at,
           "The first epoch of the second strategy, counted from 0; below 1 a part of the training.")
      .at_least(0);
  return kind_of<Deferred>(
      "deferred",
      "One strategy before epoch `at`, another from it on; parameters in brackets: then=power(q=0.25).",
      table);
}

}  // namespace longtail::sampling
