// A data set in memory: square images of one or three channels as bytes, labels, names. Every reader of files
// makes one of these; all later code sees only this.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "longtail/data/image_shape.h"

namespace longtail::data {

// The side of the published images and the default of every other data set (image_shape.h).
inline constexpr int kSide = 32;
inline constexpr int kPixels = kSide * kSide;

struct Split {
  std::vector<std::uint8_t> pixels;  // image after image, each channel by channel (planar), row by row
  std::vector<std::int32_t> labels;  // one per image, in [0, classes)

  std::int64_t size() const { return static_cast<std::int64_t>(labels.size()); }
};

struct Dataset {
  std::string name;
  int channels = 3;
  int side = kSide;                      // of every image
  std::vector<std::string> class_names;  // one per class
  Split train;
  Split test;
  std::array<float, 3> mean{};       // per channel, in [0, 1] units
  std::array<float, 3> deviation{};  // per channel
  std::string hash;                  // SHA-256 over the pixels and labels of both splits
  // Sentences on what was done beyond reading: a test part split off, classes or files left out.
  std::vector<std::string> remarks{};
  // How pictures became these images, as text for parse_form (image.h); empty if that is not known, or if the
  // images were not made from pictures.
  std::string form{};
  int picture_side = 0;  // median of the shorter sides of pictures read from files; 0: not read from pictures

  int classes() const { return static_cast<int>(class_names.size()); }
  ImageShape shape() const { return {channels, side}; }
  std::size_t image_bytes() const { return shape().values(); }
  std::span<const std::uint8_t> image(const Split& split, std::int64_t index) const {
    return std::span(split.pixels).subspan(static_cast<std::size_t>(index) * image_bytes(), image_bytes());
  }
};

// SHA-256 of: the text "longtail data 1 CHANNELS CLASSES\n" (with " SIDE" before the end of the line if the
// side is not 32); then, for the training split and then the test split, the number of images (8 bytes,
// little-endian), the pixels, and the labels (4 bytes each, little-endian). The format of the files does not
// matter.
std::string content_hash(const Dataset& data);

// Mean and standard deviation of each channel of the training split, in [0, 1] units.
void measure_channels(Dataset& data);

// The last step of every reader: checks that both splits hold images, that pixels and labels agree and that
// every label is a class (an Error names `where`), and sets the hash.
void seal(Dataset& data, std::string_view where);

}  // namespace longtail::data
