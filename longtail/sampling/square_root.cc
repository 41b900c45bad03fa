// Square-root sampling (Mahajan et al., 2018): between uniform and class-balanced.
#include <cmath>

#include "longtail/sampling/kind.h"

namespace longtail::sampling {
namespace {

class SquareRoot final : public Named<NoParameters> {
 public:
  using Named::Named;
  std::vector<double> probabilities(std::span<const std::int64_t> counts, const Situation&) const override {
    return proportional(counts, [](double n) { return std::sqrt(n); });
  }
};

}  // namespace

StrategyKind square_root() {
  return kind_of<SquareRoot>("square_root", "P(k) proportional to the square root of n_k.",
                             base::ParamTable<NoParameters>());
}

}  // namespace longtail::sampling
