// Vector scaling (Kini et al., 2021): cross-entropy of Delta_k z_k + tau log(n_k / n), Delta_k = (n_k /
// n_max)^gamma. gamma = 0 is logit_adjusted. Predictions use the logits as they are.
#include <numeric>

#include "longtail/nn/loss/kind.h"

namespace longtail::nn {
namespace {

struct VectorScalingConfig {
  double tau = 0.75;
  double gamma = 0.05;
};

class VectorScaling final : public Loss {
 public:
  VectorScaling(const VectorScalingConfig& config, ClassCounts counts)
      : factors_(counts.size()), shifts_(counts.size()) {
    if (counts.empty()) return;
    const auto images = static_cast<double>(std::accumulate(counts.begin(), counts.end(), std::int64_t{0}));
    const auto most = static_cast<double>(*std::max_element(counts.begin(), counts.end()));
    for (std::size_t k = 0; k < counts.size(); ++k) {
      const auto n = static_cast<double>(counts[k]);
      factors_[k] = config.gamma == 0 ? 1 : base::power(n / most, config.gamma);
      shifts_[k] = config.tau == 0 ? 0 : config.tau * base::log(n / images);
    }
  }
  double value(std::span<const float> logits, std::int32_t label, std::span<float> gradient) const override {
    const double log_p = log_softmax(
        logits.size(), [&](std::size_t k) { return factors_[k] * logits[k] + shifts_[k]; },
        static_cast<std::size_t>(label), gradient);
    for (std::size_t k = 0; k < gradient.size(); ++k)
      gradient[k] = static_cast<float>(gradient[k] * factors_[k]);
    return -log_p;
  }

 private:
  std::vector<double> factors_;
  std::vector<double> shifts_;
};

}  // namespace

LossKind vector_scaling() {
  base::ParamTable<VectorScalingConfig> table;
  table.add("tau", &VectorScalingConfig::tau, "Strength of the shift.").between(0, 20);
  table.add("gamma", &VectorScalingConfig::gamma, "Strength of the factor.").between(0, 20);
  return loss_kind<VectorScaling>("vs", "-log p of (n_k / n_max)^gamma z_k + tau log(n_k / n).", table);
}

}  // namespace longtail::nn
