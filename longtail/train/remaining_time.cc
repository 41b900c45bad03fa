#include "longtail/train/remaining_time.h"

#include <algorithm>

namespace longtail::train {

double RemainingTime::during(int epoch, std::int64_t images, double seconds) const {
  const double image_seconds = seconds / static_cast<double>(std::max<std::int64_t>(images, 1));
  const double each =
      epoch > first_ ? seconds_ / (epoch - first_)
                     : image_seconds * (static_cast<double>(trained_) + static_cast<double>(measured_) / 3);
  return std::max(0.0, each * (epochs_ - epoch) - seconds);
}

double RemainingTime::after(int epoch, double seconds) {
  seconds_ += seconds;
  return seconds_ / (epoch + 1 - first_) * (epochs_ - epoch - 1);
}

}  // namespace longtail::train
