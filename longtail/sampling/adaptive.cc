// From uniform to class-balanced as far as it helps: P(k) = (1 - l) n_k / n + l / K. The classes are divided
// by size into three groups with equally many classes. After each epoch the held-out accuracy of the worst
// group is checked; after `patience` epochs without a new best, l grows by `step` (to 1 at most) and the wait
// starts again.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "longtail/sampling/kind.h"

namespace longtail::sampling {
namespace {

struct AdaptiveConfig {
  double step = 0.1;
  int patience = 5;
};

// The group of each class that has images: 0 for the third with the most images, 2 for the one with the
// fewest.
std::vector<int> thirds(std::span<const std::int64_t> counts) {
  std::vector<std::size_t> order;
  for (std::size_t k = 0; k < counts.size(); ++k) {
    if (counts[k] > 0) order.push_back(k);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return counts[a] > counts[b]; });
  std::vector<int> group(counts.size(), -1);
  for (std::size_t i = 0; i < order.size(); ++i) group[order[i]] = static_cast<int>(3 * i / order.size());
  return group;
}

// The lowest mean accuracy of a group. Classes and groups without images to measure on do not count; infinite
// if there are no others.
double worst_group(std::span<const double> accuracy, std::span<const int> group) {
  std::array<double, 3> sum{};
  std::array<int, 3> classes{};
  for (std::size_t k = 0; k < accuracy.size(); ++k) {
    if (group[k] < 0 || std::isnan(accuracy[k])) continue;
    sum[static_cast<std::size_t>(group[k])] += accuracy[k];
    ++classes[static_cast<std::size_t>(group[k])];
  }
  double worst = std::numeric_limits<double>::infinity();
  for (std::size_t g = 0; g < 3; ++g) {
    if (classes[g] > 0) worst = std::min(worst, sum[g] / classes[g]);
  }
  return worst;
}

class Adaptive final : public Named<AdaptiveConfig> {
 public:
  using Named::Named;
  Feedback feedback() const override { return Feedback::kHeldOut; }
  std::vector<double> probabilities(std::span<const std::int64_t> counts,
                                    const Situation& situation) const override {
    check_history(*this, counts, situation);
    const double mix = lambda(counts, situation);
    const auto n = static_cast<double>(images_of(counts));
    const double balanced = 1.0 / static_cast<double>(classes_with_images(counts));
    std::vector<double> p;
    for (const std::int64_t count : counts) {
      p.push_back(count > 0 ? (1.0 - mix) * (static_cast<double>(count) / n) + mix * balanced : 0.0);
    }
    return p;
  }

 private:
  // Computed again from the first epoch on, so there is no state to save.
  double lambda(std::span<const std::int64_t> counts, const Situation& situation) const {
    const std::vector<int> group = thirds(counts);
    double best = -1;
    int waited = 0, steps = 0;
    for (int epoch = 0; epoch < situation.epoch; ++epoch) {
      const double worst = worst_group(situation.class_accuracy[static_cast<std::size_t>(epoch)], group);
      if (std::isinf(worst)) continue;  // nothing was measured
      if (worst > best) {
        best = worst;
        waited = 0;
      } else if (++waited >= config_.patience) {
        ++steps;
        waited = 0;
        best = worst;
      }
    }
    return std::min(1.0, steps * config_.step);
  }
};

}  // namespace

StrategyKind adaptive() {
  base::ParamTable<AdaptiveConfig> table;
  table.add("step", &AdaptiveConfig::step, "By how much the share of class-balanced grows.")
      .between(0.001, 1);
  table.add("patience", &AdaptiveConfig::patience, "Epochs without a new best before it does.").at_least(1);
  return kind_of<Adaptive>(
      "adaptive",
      "From uniform towards class-balanced by a step whenever the worst group's held-out accuracy "
      "stops rising.",
      table);
}

}  // namespace longtail::sampling
