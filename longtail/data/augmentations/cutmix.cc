// CutMix (Yun et al., 2019): pastes a box of the other image around a random centre. The box has 1 - l of the
// area before it is clipped at the border; labels are weighted by the final area of each image.
#include <algorithm>
#include <cmath>

#include "longtail/base/philox.h"
#include "longtail/data/augmentations/kind.h"

namespace longtail::data {
namespace {

struct CutmixConfig {
  double alpha = 1;
};

class Cutmix final : public AugmentStep {
 public:
  explicit Cutmix(const CutmixConfig& config) : alpha_(config.alpha) {}
  Does does() const override { return Does::kMix; }
  Mix mix(const Place& place, int side, std::int64_t, std::int64_t) const override {
    const double cut = std::sqrt(1 - beta_at(place, alpha_));
    const int half = static_cast<int>(side * cut) / 2;
    const base::Block block =
        base::Stream{place.seed, base::Purpose::kMixBox, place.epoch}.block(place.position);
    const auto centre = [side](std::uint32_t bits) {
      return static_cast<int>((std::uint64_t{bits} * static_cast<std::uint64_t>(side)) >> 32);
    };
    const int y = centre(block[0]), x = centre(block[1]);
    Mix mix;
    mix.top = std::max(y - half, 0);
    mix.bottom = std::min(y + half, side);
    mix.left = std::max(x - half, 0);
    mix.right = std::min(x + half, side);
    const int area = (mix.bottom - mix.top) * (mix.right - mix.left);
    mix.label = 1 - static_cast<float>(area) / static_cast<float>(side * side);
    return mix;
  }

 private:
  double alpha_;
};

}  // namespace

AugmentKind cutmix() {
  base::ParamTable<CutmixConfig> table;
  add_alpha(table, &CutmixConfig::alpha);
  return base::variant<AugmentStep(), Cutmix>("cutmix", "A box of another image; labels by area.", table);
}

}  // namespace longtail::data
