// Progressively balanced sampling (Kang et al., 2020): from uniform at the first epoch to class-balanced at
// the last.
#include <algorithm>
#include <cmath>

#include "longtail/sampling/kind.h"

namespace longtail::sampling {
namespace {

struct ProgressiveConfig {
  double gamma = 1;
};

// lambda(t) = (t / (T - 1))^gamma; exactly 0 at the first epoch and 1 at the last. A single epoch counts as
// the last one.
double lambda(const Situation& now, double gamma) {
  if (now.epochs <= 1) return 1.0;
  const double part = static_cast<double>(now.epoch) / (now.epochs - 1);
  return std::pow(std::clamp(part, 0.0, 1.0), gamma);
}

class Progressive final : public Named<ProgressiveConfig> {
 public:
  using Named::Named;
  std::vector<double> probabilities(std::span<const std::int64_t> counts,
                                    const Situation& now) const override {
    const double mix = lambda(now, config_.gamma);
    const auto n = static_cast<double>(images_of(counts));
    const double balanced = 1.0 / static_cast<double>(classes_with_images(counts));
    std::vector<double> p;
    for (const std::int64_t count : counts) {
      const double uniform = static_cast<double>(count) / n;
      p.push_back(count > 0 ? (1.0 - mix) * uniform + mix * balanced : 0.0);
    }
    return p;
  }
};

}  // namespace

StrategyKind progressive() {
  base::ParamTable<ProgressiveConfig> table;
  table.add("gamma", &ProgressiveConfig::gamma, "How late the change comes.").above(0);
  return kind_of<Progressive>(
      "progressive",
      "From uniform to class-balanced; P(k) = (1 - l) n_k / n + l / K with l = (epoch / (epochs - 1))^gamma.",
      table);
}

}  // namespace longtail::sampling
