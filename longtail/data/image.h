// One PNG or JPEG picture, decoded and averaged down to 32x32. The kind is told by the first bytes, not by
// the name.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "longtail/data/dataset.h"

namespace longtail::data {

// A picture as it was stored: rows of pixels, channels side by side, 1 (grey) or 3 (red, green, blue).
struct Picture {
  int width = 0;
  int height = 0;
  int channels = 0;
  std::vector<std::uint8_t> samples;
};

// Larger pictures are refused before anything is allocated for them.
inline constexpr std::uint64_t kMostPixels = std::uint64_t{1} << 26;

// Transparency is laid on black; CMYK becomes RGB; 16 bits become 8. A file that is neither PNG nor JPEG, or
// that ends early, is an Error naming `where`.
Picture decode_picture(std::span<const std::uint8_t> file, const std::string& where,
                       std::uint64_t most_pixels = kMostPixels);

// The picture stretched to 32x32, each new pixel the exact mean of the area it covers, rounded half up;
// planar, always three channels (a grey picture three times the same).
void area_average(const Picture& picture, std::span<std::uint8_t, std::size_t{3} * kPixels> out);

}  // namespace longtail::data
