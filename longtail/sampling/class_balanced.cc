// Class-balanced sampling: every class as often as any other.
#include "longtail/sampling/kind.h"

namespace longtail::sampling {
namespace {

class ClassBalanced final : public Named<NoParameters> {
 public:
  using Named::Named;
  std::vector<double> probabilities(std::span<const std::int64_t> counts, const Situation&) const override {
    return proportional(counts, [](double) { return 1.0; });
  }
};

}  // namespace

StrategyKind class_balanced() {
  return kind_of<ClassBalanced>("class_balanced", "Every class equally often; P(k) = 1 / K.",
                                base::ParamTable<NoParameters>());
}

}  // namespace longtail::sampling
