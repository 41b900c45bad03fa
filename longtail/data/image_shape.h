// The shape of every image of a data set, and of what a network takes: square, one or three channels.
#pragma once

#include <cstddef>

namespace longtail::data {

struct ImageShape {
  int channels = 3;
  int side = 32;

  constexpr int pixels() const { return side * side; }
  constexpr std::size_t values() const {
    return static_cast<std::size_t>(channels) * static_cast<std::size_t>(pixels());
  }
  bool operator==(const ImageShape&) const = default;
};

// What --image-size takes: a multiple of 8 from 16 to 128.
inline constexpr int kSmallestSide = 16;
inline constexpr int kLargestSide = 128;
constexpr bool is_side(int side) { return side >= kSmallestSide && side <= kLargestSide && side % 8 == 0; }

}  // namespace longtail::data
