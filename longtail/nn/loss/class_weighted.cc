// Cross-entropy times a weight of the class, 1 in the mean over all images: what the class-balanced sampler
// does by drawing, done by weighing.
#include "longtail/nn/loss/kind.h"

namespace longtail::nn {
namespace {

struct Config {
  double power = 1;
};

class ClassWeighted final : public Loss {
 public:
  ClassWeighted(const Config& config, ClassCounts counts) : weights_(counts.size()) {
    double images = 0, weighted = 0;
    for (std::size_t k = 0; k < counts.size(); ++k) {
      if (counts[k] == 0) continue;
      const auto n = static_cast<double>(counts[k]);
      weights_[k] = std::pow(n, -config.power);
      images += n;
      weighted += n * weights_[k];
    }
    for (double& weight : weights_) weight *= images / weighted;
  }
  double value(std::span<const float> logits, std::int32_t label, std::span<float> gradient) const override {
    const double weight = weights_[static_cast<std::size_t>(label)];
    const double log_p = log_softmax(logits, label, gradient);
    scale(gradient, weight);
    return -weight * log_p;
  }

 private:
  std::vector<double> weights_;
};

}  // namespace

LossKind class_weighted() {
  base::ParamTable<Config> table;
  table.add("power", &Config::power, "Weights are proportional to n_k^-power.").between(0, 20);
  return loss_kind<ClassWeighted>("class_weighted", "w_k times -log p, the weights 1 in the mean over the images.",
                                  table);
}

}  // namespace longtail::nn
