// Cross-entropy against a label softened towards all K classes: 1 - epsilon + epsilon / K at the label,
// epsilon / K elsewhere, as PyTorch's label_smoothing.
#include "longtail/nn/loss/kind.h"

namespace longtail::nn {
namespace {

struct LabelSmoothingConfig {
  double epsilon = 0.1;
};

class LabelSmoothing final : public Loss {
 public:
  LabelSmoothing(const LabelSmoothingConfig& config, ClassCounts) : epsilon_(config.epsilon) {}
  double value(std::span<const float> logits, std::int32_t label, std::span<float> gradient) const override {
    return smoothed_cross_entropy(logits, label, epsilon_, gradient);
  }

 private:
  double epsilon_;
};

}  // namespace

LossKind label_smoothing() {
  base::ParamTable<LabelSmoothingConfig> table;
  table.add("epsilon", &LabelSmoothingConfig::epsilon, "What the label gives to all classes.").between(0, 1);
  return loss_kind<LabelSmoothing>("label_smoothing",
                                   "(1 - epsilon) (-log p) + epsilon times the mean of -log p_k.", table);
}

}  // namespace longtail::nn
