// One loss until an epoch, another from it on (deferred re-weighting, Cao et al., 2019):
// deferred:first=ldam,then=ldam(beta=0.9999),at=160.
#include "longtail/nn/loss/kind.h"

namespace longtail::nn {
namespace {

struct DeferredConfig {
  std::string first = "cross_entropy";
  std::string then = "class_weighted";
  double at = 0.8;
};

class Deferred final : public Loss {
 public:
  Deferred(DeferredConfig& config, ClassCounts counts)
      : first_(make_loss(config.first, counts)), then_(make_loss(config.then, counts)), at_(config.at) {
    config.first = base::in_brackets(first_->name());
    config.then = base::in_brackets(then_->name());
    if (first_->logit_scale() != then_->logit_scale()) {
      base::fail(
          "loss `deferred`: `{}` multiplies the logits by {}, `{}` by {}; a network cannot follow both",
          first_->name(), first_->logit_scale(), then_->name(), then_->logit_scale());
    }
  }

  // The loss at the beginning; training calls at().
  double value(std::span<const float> logits, std::int32_t label, std::span<float> gradient) const override {
    return first_->value(logits, label, gradient);
  }
  const Loss& at(const sampling::Situation& situation) const override {
    const bool before = situation.epoch < sampling::epoch_of_change(at_, situation.epochs);
    return (before ? *first_ : *then_).at(situation);
  }
  std::optional<sampling::Deferral> deferral(int epochs) const override {
    return sampling::deferral_between(first_->name(), sampling::epoch_of_change(at_, epochs),
                                      first_->deferral(epochs), then_->deferral(epochs));
  }
  double logit_scale() const override { return first_->logit_scale(); }

 private:
  std::unique_ptr<Loss> first_;
  std::unique_ptr<Loss> then_;
  double at_;
};

}  // namespace

LossKind deferred_loss() {
  // Checked when they are made.
  const auto later = [](const std::string&) {};
  base::ParamTable<DeferredConfig> table;
  table.add("first", &DeferredConfig::first, "The loss at the beginning.").check("a loss", later);
  table.add("then", &DeferredConfig::then, "The loss from `at` on.").check("a loss", later);
  table
      .add("at", &DeferredConfig::at,
           "The first epoch of the second loss, counted from 0; below 1 a part of the training.")
      .at_least(0);
  return loss_kind<Deferred>(
      "deferred", "One loss before `at`, another from it on; parameters in brackets: then=ldam(beta=0.9999).",
      table);
}

}  // namespace longtail::nn
