// Repeat-factor sampling (Gupta et al., 2019, LVIS): images of a class rarer than a threshold are repeated
// r_k = max(1, sqrt(threshold / f_k)) times, f_k = n_k / n, so P(k) is proportional to n_k r_k. The exponent
// 1/2 is theirs.
#include <algorithm>
#include <cmath>

#include "longtail/sampling/kind.h"

namespace longtail::sampling {
namespace {

struct RepeatFactorConfig {
  double threshold = 0.001;
  double exponent = 0.5;
};

class RepeatFactor final : public Named<RepeatFactorConfig> {
 public:
  using Named::Named;
  std::vector<double> probabilities(std::span<const std::int64_t> counts, const Situation&) const override {
    const auto total = static_cast<double>(images_of(counts));
    return proportional(counts, [total, config = config_](double n) {
      const double rare = config.threshold / (n / total);
      return n * std::max(1.0, config.exponent == 0.5 ? std::sqrt(rare) : std::pow(rare, config.exponent));
    });
  }
};

}  // namespace

StrategyKind repeat_factor() {
  base::ParamTable<RepeatFactorConfig> table;
  table
      .add("threshold", &RepeatFactorConfig::threshold,
           "Share of the images below which a class is repeated.")
      .above(0, 1);
  table
      .add("exponent", &RepeatFactorConfig::exponent,
           "How much a rarer class is repeated; 1 gives all of them the same share.")
      .between(0, 4);
  return kind_of<RepeatFactor>("repeat_factor",
                               "P(k) proportional to n_k max(1, (threshold / (n_k / n))^exponent): only "
                               "classes below the threshold gain.",
                               table);
}

}  // namespace longtail::sampling
