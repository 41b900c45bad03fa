// Instance-balanced sampling: every image once per epoch, so a class has the same share as its images.
#include "longtail/sampling/kind.h"

namespace longtail::sampling {
namespace {

class Uniform final : public Named<NoParameters> {
 public:
  using Named::Named;
  std::vector<double> probabilities(std::span<const std::int64_t> counts, const Situation&) const override {
    return proportional(counts, [](double n) { return n; });
  }
  bool without_replacement(const Situation&) const override { return true; }
};

}  // namespace

StrategyKind uniform() {
  return kind_of<Uniform>("uniform", "Every image once per epoch, in a random order; P(k) = n_k / n.",
                          base::ParamTable<NoParameters>());
}

}  // namespace longtail::sampling
