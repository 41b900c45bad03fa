// How long a run will still take, judged by its epochs so far. An epoch is its steps and its evaluation.
#pragma once

#include <cstdint>

namespace longtail::train {

class RemainingTime {
 public:
  RemainingTime() = default;
  // For the epochs from `first` on; each trains on `trained` images and measures `measured`.
  RemainingTime(int first, int epochs, std::int64_t trained, std::int64_t measured)
      : first_(first), epochs_(epochs), trained_(trained), measured_(measured) {}

  // Seconds left when `images` of the epoch have been trained on in `seconds`. Until an evaluation has been
  // seen, measuring an image is taken to cost a third of training on it: the forward pass without the
  // backward pass, which costs twice as much.
  double during(int epoch, std::int64_t images, double seconds) const;
  // Seconds left after the epoch, which took `seconds` with its evaluation.
  double after(int epoch, double seconds);

 private:
  int first_ = 0;
  int epochs_ = 0;
  std::int64_t trained_ = 0;
  std::int64_t measured_ = 0;
  double seconds_ = 0;  // of the epochs done
};

}  // namespace longtail::train
