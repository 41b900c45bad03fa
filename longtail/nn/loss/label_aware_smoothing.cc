// Label-aware smoothing (Zhong et al., 2021, MiSLAS). The more images a class has, the more its label is
// softened: epsilon_k = tail + (head - tail) sin(pi (n_k - n_min) / (2 (n_max - n_min))).
#include <numbers>

#include "longtail/nn/loss/kind.h"

namespace longtail::nn {
namespace {

struct LabelAwareSmoothingConfig {
  double head = 0.4;
  double tail = 0.1;
};

class LabelAwareSmoothing final : public Loss {
 public:
  LabelAwareSmoothing(const LabelAwareSmoothingConfig& config, ClassCounts counts)
      : epsilons_(counts.size(), config.head) {
    double most = 0, least = std::numeric_limits<double>::infinity();
    for (const std::int64_t count : counts) {
      if (count == 0) continue;
      most = std::max(most, static_cast<double>(count));
      least = std::min(least, static_cast<double>(count));
    }
    if (!(most > least)) return;
    for (std::size_t k = 0; k < counts.size(); ++k) {
      const double part = std::max(0.0, (static_cast<double>(counts[k]) - least) / (most - least));
      epsilons_[k] = config.tail + (config.head - config.tail) * std::sin(part * std::numbers::pi / 2);
    }
  }
  double value(std::span<const float> logits, std::int32_t label, std::span<float> gradient) const override {
    return smoothed_cross_entropy(logits, label, epsilons_[static_cast<std::size_t>(label)], gradient);
  }

 private:
  std::vector<double> epsilons_;
};

}  // namespace

LossKind label_aware_smoothing() {
  base::ParamTable<LabelAwareSmoothingConfig> table;
  table.add("head", &LabelAwareSmoothingConfig::head, "Smoothing of the most common class.").between(0, 1);
  table.add("tail", &LabelAwareSmoothingConfig::tail, "Smoothing of the rarest class.").between(0, 1);
  return loss_kind<LabelAwareSmoothing>(
      "label_aware_smoothing", "label_smoothing with an epsilon that grows with the images of the class.",
      table);
}

}  // namespace longtail::nn
