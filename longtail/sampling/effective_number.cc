// Sampling by the effective number of images (Cui et al., 2019): an image weighs 1 / E(n_k), E(n) = (1 -
// beta^n) / (1 - beta), so P(k) is proportional to n_k / E(n_k). beta = 0 is uniform; towards 1 it becomes
// class-balanced.
#include <cmath>

#include "longtail/sampling/kind.h"

namespace longtail::sampling {
namespace {

struct EffectiveNumberConfig {
  double beta = 0.999;
};

double effective_images(double n, double beta) {
  if (beta == 0) return 1.0;
  return std::expm1(n * std::log(beta)) /
         (beta - 1.0);  // expm1 keeps the digits that 1 - beta^n loses near 1
}

class EffectiveNumber final : public Named<EffectiveNumberConfig> {
 public:
  using Named::Named;
  std::vector<double> probabilities(std::span<const std::int64_t> counts, const Situation&) const override {
    return proportional(counts, [beta = config_.beta](double n) { return n / effective_images(n, beta); });
  }
};

}  // namespace

StrategyKind effective_number() {
  base::ParamTable<EffectiveNumberConfig> table;
  table.add("beta", &EffectiveNumberConfig::beta, "How much images of a class overlap.")
      .check("from 0 to below 1", [](const std::string& text) {
        const double beta = base::parse_real(text).value_or(-1);
        if (beta < 0 || beta >= 1) base::fail("`beta` is `{}`; it must be from 0 to below 1", text);
      });
  return kind_of<EffectiveNumber>(
      "effective_number",
      "P(k) proportional to n_k / E(n_k), E(n) = (1 - beta^n) / (1 - beta): 0 as uniform, "
      "towards 1 class-balanced.",
      table);
}

}  // namespace longtail::sampling
