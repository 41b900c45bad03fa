#include "longtail/train/feedback.h"

#include <cmath>
#include <limits>

namespace longtail::train {

std::vector<double> rounded(std::vector<double> percentages) {
  for (double& value : percentages) value = std::round(value * 100) / 100;
  return percentages;
}

ClassHits::ClassHits(int classes)
    : drawn_(static_cast<std::size_t>(classes)), right_(static_cast<std::size_t>(classes)) {}

void ClassHits::add(std::int32_t label, bool right) {
  ++drawn_[static_cast<std::size_t>(label)];
  right_[static_cast<std::size_t>(label)] += right;
}

std::vector<double> ClassHits::accuracies() const {
  std::vector<double> percentages;
  for (std::size_t k = 0; k < drawn_.size(); ++k) {
    percentages.push_back(drawn_[k] == 0
                              ? std::numeric_limits<double>::quiet_NaN()
                              : 100.0 * static_cast<double>(right_[k]) / static_cast<double>(drawn_[k]));
  }
  return rounded(std::move(percentages));
}

}  // namespace longtail::train
