// A data set in memory: 32x32 images of one or three channels as bytes, labels, names. Everything that reads a file
// makes one of these; everything after it sees only this.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace longtail::data {

inline constexpr int kSide = 32;
inline constexpr int kPixels = kSide * kSide;

struct Split {
  std::vector<std::uint8_t> pixels;  // image after image, each channel by channel (planar), row by row
  std::vector<std::int32_t> labels;  // one an image, in [0, classes)

  std::int64_t size() const { return static_cast<std::int64_t>(labels.size()); }
};

struct Dataset {
  std::string name;
  int channels = 3;
  std::vector<std::string> class_names;  // one a class
  Split train;
  Split test;
  std::array<float, 3> mean{};       // of a channel, in [0, 1] units
  std::array<float, 3> deviation{};  // of a channel
  std::string hash;                  // SHA-256 over the pixels and labels of both splits

  int classes() const { return static_cast<int>(class_names.size()); }
  std::size_t image_bytes() const { return static_cast<std::size_t>(channels) * kPixels; }
  std::span<const std::uint8_t> image(const Split& split, std::int64_t index) const {
    return std::span(split.pixels).subspan(static_cast<std::size_t>(index) * image_bytes(), image_bytes());
  }
};

}  // namespace longtail::data
