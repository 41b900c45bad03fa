// More of what the network gets wrong: P(k) proportional to (1 - a_k + floor)^power, a_k the accuracy of
// class k on the training draws of the previous epoch (or the last epoch in which it was drawn). The first
// epoch has the probabilities of uniform sampling.
#include <cmath>

#include "longtail/sampling/kind.h"

namespace longtail::sampling {
namespace {

struct FocusConfig {
  double power = 1;
  double floor = 0.05;
};

class Focus final : public Named<FocusConfig> {
 public:
  using Named::Named;
  Feedback feedback() const override { return Feedback::kTrainingDraws; }
  std::vector<double> probabilities(std::span<const std::int64_t> counts,
                                    const Situation& situation) const override {
    check_history(*this, counts, situation);
    if (situation.epoch == 0) return proportional(counts, [](double n) { return n; });
    std::vector<double> weights;
    double sum = 0;
    for (std::size_t k = 0; k < counts.size(); ++k) {
      const double wrong = 1 - last_accuracy(situation, k) / 100 + config_.floor;
      weights.push_back(counts[k] > 0 ? std::pow(wrong, config_.power) : 0.0);
      sum += weights.back();
    }
    for (double& weight : weights) weight /= sum;
    return weights;
  }

 private:
  // 0 if the class was never drawn.
  static double last_accuracy(const Situation& situation, std::size_t k) {
    for (int epoch = situation.epoch - 1; epoch >= 0; --epoch) {
      const double accuracy = situation.class_accuracy[static_cast<std::size_t>(epoch)][k];
      if (!std::isnan(accuracy)) return accuracy;
    }
    return 0;
  }
};

}  // namespace

StrategyKind focus() {
  base::ParamTable<FocusConfig> table;
  table.add("power", &FocusConfig::power, "How much more the classes with errors are drawn.").between(0, 10);
  table.add("floor", &FocusConfig::floor, "Keeps a class without errors in the game.").between(1e-6, 1e6);
  return kind_of<Focus>(
      "focus",
      "P(k) proportional to (1 - accuracy_k + floor)^power, by the training draws of the epoch before.",
      table);
}

}  // namespace longtail::sampling
