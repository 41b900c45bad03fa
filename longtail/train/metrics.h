// What is measured on a set of labelled images: a meter that is fed logits and gives accuracies, F1,
// calibration.
//
//   Meter meter(classes, groups);          // groups: the group of each class
//   meter.add(logits, label);              // one image at a time; sums are taken in this order
//   EpochResult result = meter.result();
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "longtail/data/groups.h"
#include "longtail/train/predictions.h"
#include "longtail/train/run_log.h"

namespace longtail::train {

inline constexpr int kCalibrationBins = 15;

class Meter {
 public:
  Meter(int classes, std::vector<data::Group> groups);

  // One image. The prediction is the first of the largest logits.
  void add(std::span<const float> logits, std::int32_t label);

  // A whole set at once from counts, [true][predicted], and its mean loss: for results measured elsewhere.
  // Without confidences the calibration is unknown. An Error if the matrix is not square or has a negative
  // count.
  void add_confusion(std::span<const std::vector<int>> confusion, double mean_loss);

  std::int64_t images() const { return images_; }
  // Accuracies in percent and the mean cross-entropy. A group's accuracy is the mean of its classes'; classes
  // without images do not count, and a group without such classes is NaN.
  EpochResult result() const;
  // The prediction for every image, in the order they were added.
  const std::vector<Prediction>& predictions() const { return predictions_; }
  // The full result; `epoch` is only written into it.
  FullResult full(int epoch) const;

 private:
  // Images in a bin of confidence: how many, how many right, the sum of their confidences.
  struct Bin {
    std::int64_t images = 0;
    std::int64_t correct = 0;
    double confidence = 0;
  };
  using Bins = std::array<Bin, kCalibrationBins>;

  std::vector<double> class_accuracies() const;
  std::int64_t images_of(std::size_t label) const;
  double macro_f1() const;
  static double calibration_error(const Bins& bins);

  std::vector<data::Group> groups_;
  std::vector<std::vector<int>> confusion_;  // [true][predicted]
  std::array<Bins, 4> bins_{};               // head, medium, tail by true class, and all
  std::vector<Prediction> predictions_;
  std::int64_t images_ = 0;
  std::int64_t correct_ = 0;
  double loss_ = 0;
};

// The result if only the right answers and images of each class are known: no F1, no confusion, no
// calibration.
FullResult result_of_counts(std::span<const int> correct, std::span<const int> images,
                            const std::vector<data::Group>& groups, double mean_loss, int epoch);

}  // namespace longtail::train
