// Label-distribution-aware margins (Cao et al., 2019): the cosine at the label is first reduced by a margin
// proportional to n_k^(-1/4), the largest being max_margin; then cross-entropy of scale times the cosines.
// With `beta`, weighted by the effective number of images, as in the second stage of that paper.
#include "longtail/nn/loss/kind.h"

namespace longtail::nn {
namespace {

struct LdamConfig {
  double max_margin = 0.5;
  double scale = 30;
  double beta = 0;
};

class Ldam final : public Loss {
 public:
  Ldam(const LdamConfig& config, ClassCounts counts) : scale_(config.scale), margins_(counts.size()) {
    double largest = 0;
    for (std::size_t k = 0; k < counts.size(); ++k) {
      if (counts[k] == 0) continue;
      margins_[k] = 1 / std::sqrt(std::sqrt(static_cast<double>(counts[k])));
      largest = std::max(largest, margins_[k]);
    }
    for (double& margin : margins_) margin *= config.max_margin / largest;
    weights_ = image_weights(
        counts, [&](double n) { return config.beta > 0 ? 1 / effective_images(n, config.beta) : 1.0; });
  }
  double value(std::span<const float> logits, std::int32_t label, std::span<float> gradient) const override {
    const auto at = static_cast<std::size_t>(label);
    const double log_p = log_softmax(
        logits.size(),
        [&](std::size_t k) { return scale_ * (k == at ? logits[k] - margins_[k] : logits[k]); }, at,
        gradient);
    scale(gradient, weights_[at] * scale_);
    return -weights_[at] * log_p;
  }
  double logit_scale() const override { return scale_; }

 private:
  double scale_;
  std::vector<double> margins_;
  std::vector<double> weights_;
};

}  // namespace

LossKind ldam() {
  base::ParamTable<LdamConfig> table;
  table.add("max_margin", &LdamConfig::max_margin, "The margin of the rarest class.").between(0, 2);
  table.add("scale", &LdamConfig::scale, "What the cosines are multiplied by.").above(0);
  add_beta(table, &LdamConfig::beta, "Above 0: weighted by 1 / E(n_k), the effective number of images.");
  return loss_kind<Ldam>(
      "ldam", "-log p of scale (logit - margin of the class at the label), made for logits that are cosines.",
      table);
}

}  // namespace longtail::nn
