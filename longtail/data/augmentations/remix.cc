// Remix (Chou et al., 2020): pixels as in mixup, but only the label of the rarer class is kept if the other
// class has at least kappa times its images and the weight of the other class is below tau.
#include "longtail/data/augmentations/kind.h"

namespace longtail::data {
namespace {

struct RemixConfig {
  double alpha = 1;
  double kappa = 3;
  double tau = 0.5;
};

class Remix final : public AugmentStep {
 public:
  explicit Remix(const RemixConfig& config) : config_(config) {}
  Does does() const override { return Does::kMix; }
  Mix mix(const Place& place, int, std::int64_t first, std::int64_t second) const override {
    Mix mix;
    mix.pixels = mix.label = static_cast<float>(beta_at(place, config_.alpha));
    const auto n1 = static_cast<double>(first), n2 = static_cast<double>(second);
    if (n1 >= config_.kappa * n2 && mix.pixels < config_.tau) mix.label = 0;
    if (n2 >= config_.kappa * n1 && 1 - mix.pixels < config_.tau) mix.label = 1;
    return mix;
  }

 private:
  RemixConfig config_;
};

}  // namespace

AugmentKind remix() {
  base::ParamTable<RemixConfig> table;
  add_alpha(table, &RemixConfig::alpha);
  table.add("kappa", &RemixConfig::kappa, "How many times rarer the rarer class must be.").at_least(1);
  table.add("tau", &RemixConfig::tau, "The weight of the common class must be below it.").between(0, 1);
  return base::variant<AugmentStep(), Remix>(
      "remix", "mixup, but the label of a much rarer class is kept alone.", table);
}

}  // namespace longtail::data
