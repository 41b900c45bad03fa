// The focal loss (Lin et al., 2017): (1 - p)^gamma times -log p.
#include "longtail/nn/loss/kind.h"

namespace longtail::nn {
namespace {

struct FocalConfig {
  double gamma = 2;
};

class Focal final : public Loss {
 public:
  Focal(const FocalConfig& config, ClassCounts) : gamma_(config.gamma) {}
  double value(std::span<const float> logits, std::int32_t label, std::span<float> gradient) const override {
    const double log_p = log_softmax(logits, label, gradient);
    const double p = base::exp(log_p), rest = -base::expm1(log_p);  // 1 - p
    const double weight = base::power(rest, gamma_);
    // d/dz_k of -(1-p)^g log p is (softmax_k - onehot_k) ((1-p)^g - g p (1-p)^(g-1) log p). As p goes to 1,
    // the second term vanishes like the first.
    const double slope = rest > 0 && gamma_ > 0 ? gamma_ * p * weight / rest * log_p : 0;
    scale(gradient, weight - slope);
    return -weight * log_p;
  }

 private:
  double gamma_;
};

}  // namespace

LossKind focal() {
  base::ParamTable<FocalConfig> table;
  table.add("gamma", &FocalConfig::gamma, "How much less an image counts that is already right.")
      .between(0, 20);
  return loss_kind<Focal>("focal", "(1 - p)^gamma times -log p.", table);
}

}  // namespace longtail::nn
