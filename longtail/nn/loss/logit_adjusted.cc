// Cross-entropy of logits + tau log(n_k / n) (Menon et al., 2021); predictions use the logits as they are.
// With tau = 1 also known as balanced softmax.
#include <numeric>

#include "longtail/nn/loss/kind.h"

namespace longtail::nn {
namespace {

struct LogitAdjustedConfig {
  double tau = 1;
};

class LogitAdjusted final : public Loss {
 public:
  LogitAdjusted(const LogitAdjustedConfig& config, ClassCounts counts) : shifts_(counts.size()) {
    const auto images = static_cast<double>(std::accumulate(counts.begin(), counts.end(), std::int64_t{0}));
    for (std::size_t k = 0; k < counts.size(); ++k) {
      // A class without images is never right; its logit of minus infinity also never competes.
      shifts_[k] = config.tau == 0 ? 0 : config.tau * base::log(static_cast<double>(counts[k]) / images);
    }
  }
  double value(std::span<const float> logits, std::int32_t label, std::span<float> gradient) const override {
    return -log_softmax(
        logits.size(), [&](std::size_t k) { return logits[k] + shifts_[k]; }, static_cast<std::size_t>(label),
        gradient);
  }

 private:
  std::vector<double> shifts_;
};

}  // namespace

LossKind logit_adjusted() {
  base::ParamTable<LogitAdjustedConfig> table;
  table.add("tau", &LogitAdjustedConfig::tau, "Strength of the shift.").between(0, 20);
  return loss_kind<LogitAdjusted>(
      "logit_adjusted", "-log p of logits + tau log(n_k / n); with tau = 1 the balanced softmax.", table);
}

}  // namespace longtail::nn
