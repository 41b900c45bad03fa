// Mixup (Zhang et al., 2018): l times an image plus 1 - l times another, the labels likewise; l from
// Beta(alpha, alpha), drawn for each image.
#include "longtail/data/augmentations/kind.h"

namespace longtail::data {
namespace {

struct MixupConfig {
  double alpha = 0.2;
};

class Mixup final : public AugmentStep {
 public:
  explicit Mixup(const MixupConfig& config) : alpha_(config.alpha) {}
  Does does() const override { return Does::kMix; }
  Mix mix(const Place& place, int, std::int64_t, std::int64_t) const override {
    Mix mix;
    mix.pixels = mix.label = static_cast<float>(beta_at(place, alpha_));
    return mix;
  }

 private:
  double alpha_;
};

}  // namespace

AugmentKind mixup() {
  base::ParamTable<MixupConfig> table;
  add_alpha(table, &MixupConfig::alpha);
  return base::variant<AugmentStep(), Mixup>(
      "mixup", "l times an image plus 1 - l times another, labels likewise.", table);
}

}  // namespace longtail::data
