#include "longtail/train/schedule.h"

#include <cmath>
#include <numbers>

namespace longtail::train {

double learning_rate(const RunConfig& config, int epoch) {
  if (epoch < config.warmup_epochs) return config.lr * (epoch + 1) / config.warmup_epochs;
  double lr = config.lr;
  if (config.schedule == "multistep") {
    for (const int milestone : config.milestones) {
      if (epoch >= milestone) lr *= config.lr_decay;
    }
  } else if (config.schedule == "cosine") {
    const double done =
        static_cast<double>(epoch - config.warmup_epochs) / (config.epochs - config.warmup_epochs);
    lr *= 0.5 * (1 + std::cos(std::numbers::pi * done));
  }
  return lr;
}

}  // namespace longtail::train
