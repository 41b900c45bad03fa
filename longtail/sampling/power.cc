// A power of the class size: q = 1 is uniform, 1/2 square-root, 0 class-balanced, -1 reversed (Zhou et al.,
// 2020).
#include <cmath>

#include "longtail/sampling/kind.h"

namespace longtail::sampling {
namespace {

struct PowerConfig {
  double q = 0.5;
};

class Power final : public Named<PowerConfig> {
 public:
  using Named::Named;
  std::vector<double> probabilities(std::span<const std::int64_t> counts, const Situation&) const override {
    return proportional(counts, [q = config_.q](double n) { return std::pow(n, q); });
  }
};

}  // namespace

StrategyKind power() {
  base::ParamTable<PowerConfig> table;
  table.add("q", &PowerConfig::q, "The power.").between(-4, 4);
  return kind_of<Power>("power",
                        "P(k) proportional to n_k^q: 1 as uniform, 0.5 square-root, 0 class-balanced, below "
                        "0 the rare more often.",
                        table);
}

}  // namespace longtail::sampling
