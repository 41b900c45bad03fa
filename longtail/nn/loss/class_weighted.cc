// Cross-entropy times a weight of the class, with mean 1 over all images: what the class-balanced sampler
// does by drawing, done by weighting.
#include "longtail/nn/loss/kind.h"

namespace longtail::nn {
namespace {

struct ClassWeightedConfig {
  double power = 1;
  double beta = 0;
};

class ClassWeighted final : public Loss {
 public:
  ClassWeighted(const ClassWeightedConfig& config, ClassCounts counts) {
    if (config.beta > 0 && config.power != 1) {
      base::fail(
          "loss `class_weighted`: `power` and `beta` are two ways to choose the weights; give one of them");
    }
    weights_ = image_weights(counts, [&](double n) {
      return config.beta > 0 ? 1 / effective_images(n, config.beta) : base::power(n, -config.power);
    });
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
  base::ParamTable<ClassWeightedConfig> table;
  table.add("power", &ClassWeightedConfig::power, "Weights are proportional to n_k^-power.").between(0, 20);
  add_beta(table, &ClassWeightedConfig::beta,
           "Above 0: weights by the effective number of images instead, 1 / E(n_k).");
  return loss_kind<ClassWeighted>("class_weighted",
                                  "w_k times -log p, the weights 1 in the mean over the images.", table);
}

}  // namespace longtail::nn
