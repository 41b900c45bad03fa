#include "longtail/train/metrics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "longtail/base/error.h"

namespace longtail::train {
namespace {

constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();

// Mean of the values that are not NaN.
class Mean {
 public:
  void add(double value) {
    if (std::isnan(value)) return;
    sum_ += value;
    ++count_;
  }
  double value() const { return count_ == 0 ? kNothing : sum_ / count_; }

 private:
  double sum_ = 0;
  int count_ = 0;
};

double percent(std::int64_t part, std::int64_t whole) {
  return whole == 0 ? kNothing : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

Meter::Meter(int classes, std::vector<data::Group> groups)
    : groups_(std::move(groups)),
      confusion_(static_cast<std::size_t>(classes), std::vector<int>(static_cast<std::size_t>(classes))) {}

void Meter::add(std::span<const float> logits, std::int32_t label) {
  const auto top = std::max_element(logits.begin(), logits.end());
  const double highest = *top;
  double sum = 0;
  for (const float logit : logits) sum += std::exp(logit - highest);
  const auto predicted = static_cast<std::size_t>(top - logits.begin());
  const auto truth = static_cast<std::size_t>(label);
  const bool right = predicted == truth;
  const double confidence = 1 / sum;  // the softmax of the largest logit

  ++images_;
  predictions_.push_back({static_cast<std::int32_t>(predicted),
                          std::isfinite(confidence) ? rounded_confidence(confidence) : 0.0F});
  correct_ += right;
  ++confusion_[truth][predicted];
  loss_ += std::log(sum) + highest - logits[truth];

  if (!std::isfinite(confidence)) return;  // the loss shows it, which is not finite either
  // Bins are (0, 1/15], (1/15, 2/15], ... as in Guo et al. (2017).
  const double place = std::ceil(confidence * kCalibrationBins) - 1;
  const auto bin = static_cast<std::size_t>(std::clamp(place, 0.0, kCalibrationBins - 1.0));
  for (const std::size_t set : {static_cast<std::size_t>(groups_[truth]), std::size_t{3}}) {
    Bin& b = bins_[set][bin];
    ++b.images;
    b.correct += right;
    b.confidence += confidence;
  }
}

void Meter::add_confusion(std::span<const std::vector<int>> confusion, double mean_loss) {
  if (confusion.size() != confusion_.size())
    base::fail("the confusion matrix has {} rows for {} classes", confusion.size(), confusion_.size());
  std::int64_t images = 0;
  for (std::size_t k = 0; k < confusion.size(); ++k) {
    if (confusion[k].size() != confusion_.size())
      base::fail("row {} of the confusion matrix has {} entries for {} classes", k, confusion[k].size(),
                 confusion_.size());
    for (std::size_t j = 0; j < confusion[k].size(); ++j) {
      if (confusion[k][j] < 0)
        base::fail("the confusion matrix has {} at row {}, column {}", confusion[k][j], k, j);
      confusion_[k][j] += confusion[k][j];
      images += confusion[k][j];
    }
    correct_ += confusion[k][k];
  }
  images_ += images;
  loss_ += mean_loss * static_cast<double>(images);
}

std::int64_t Meter::images_of(std::size_t label) const {
  return std::accumulate(confusion_[label].begin(), confusion_[label].end(), std::int64_t{0});
}

std::vector<double> Meter::class_accuracies() const {
  std::vector<double> accuracies;
  for (std::size_t k = 0; k < confusion_.size(); ++k)
    accuracies.push_back(percent(confusion_[k][k], images_of(k)));
  return accuracies;
}

EpochResult Meter::result() const {
  std::array<Mean, 3> means;
  Mean balanced;
  const std::vector<double> accuracies = class_accuracies();
  for (std::size_t k = 0; k < accuracies.size(); ++k) {
    means[static_cast<std::size_t>(groups_[k])].add(accuracies[k]);
    balanced.add(accuracies[k]);
  }
  return {percent(correct_, images_),
          means[0].value(),
          means[1].value(),
          means[2].value(),
          images_ == 0 ? kNothing : loss_ / static_cast<double>(images_),
          balanced.value()};
}

double Meter::macro_f1() const {
  Mean mean;
  for (std::size_t k = 0; k < confusion_.size(); ++k) {
    std::int64_t predicted = 0;
    for (const auto& row : confusion_) predicted += row[k];
    if (images_of(k) == 0) continue;  // it was not tested
    // 2 TP / (2 TP + FP + FN)
    mean.add(percent(2 * std::int64_t{confusion_[k][k]}, predicted + images_of(k)));
  }
  return mean.value();
}

double Meter::calibration_error(const Bins& bins) {
  std::int64_t images = 0;
  double error = 0;
  for (const Bin& bin : bins) {
    images += bin.images;
    error += std::abs(static_cast<double>(bin.correct) - bin.confidence);
  }
  return images == 0 ? kNothing : 100 * error / static_cast<double>(images);
}

FullResult Meter::full(int epoch) const {
  FullResult result;
  result.epoch = epoch;
  result.accuracy = this->result();
  result.per_class = class_accuracies();
  result.balanced = result.accuracy.balanced;
  result.macro_f1 = macro_f1();
  result.head_ece = calibration_error(bins_[0]);
  result.medium_ece = calibration_error(bins_[1]);
  result.tail_ece = calibration_error(bins_[2]);
  result.ece = calibration_error(bins_[3]);
  result.confusion = confusion_;
  return result;
}

FullResult result_of_counts(std::span<const int> correct, std::span<const int> images,
                            const std::vector<data::Group>& groups, double mean_loss, int epoch) {
  const std::size_t classes = groups.size();
  if (correct.size() != classes || images.size() != classes) {
    base::fail("there are {} right answers and {} numbers of images for {} classes", correct.size(),
               images.size(), classes);
  }
  // The wrong answers are given to another class. Which one would matter only to F1 and the matrix, and these
  // are left out.
  std::vector<std::vector<int>> confusion(classes, std::vector<int>(classes));
  for (std::size_t k = 0; k < classes; ++k) {
    if (correct[k] < 0 || correct[k] > images[k])
      base::fail("class {} has {} right answers of {} images", k, correct[k], images[k]);
    confusion[k][(k + 1) % classes] = images[k] - correct[k];
    confusion[k][k] = correct[k];
  }
  Meter meter(static_cast<int>(classes), groups);
  meter.add_confusion(confusion, mean_loss);
  FullResult result = meter.full(epoch);
  result.macro_f1 = kNothing;
  result.confusion.clear();
  return result;
}

}  // namespace longtail::train
