// What a strategy with feedback is told after an epoch: the accuracy of each class in percent, rounded to two
// digits, so that the log has exactly what the strategy saw.
#pragma once

#include <cstdint>
#include <vector>

namespace longtail::train {

// To hundredths of a percent; NaN stays.
std::vector<double> rounded(std::vector<double> percentages);

// Counts which training draws were predicted correctly.
class ClassHits {
 public:
  explicit ClassHits(int classes);
  void add(std::int32_t label, bool right);
  // Rounded; NaN for a class that was not drawn.
  std::vector<double> accuracies() const;

 private:
  std::vector<std::int64_t> drawn_;
  std::vector<std::int64_t> right_;
};

}  // namespace longtail::train
