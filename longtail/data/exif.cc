#include "longtail/data/exif.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace longtail::data {
namespace {

using Bytes = std::span<const std::uint8_t>;

constexpr int kUpright = 1;
constexpr std::size_t kMostEntries = 512;  // of a block; real ones have a few dozen

// The integer at a position of the file; 0 beyond its end, which has no meaning for any caller.
std::uint64_t number_at(Bytes bytes, std::size_t at, std::size_t size, bool little) {
  if (at > bytes.size() || size > bytes.size() - at) return 0;
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < size; ++i) {
    value = value << 8 | bytes[at + (little ? size - 1 - i : i)];
  }
  return value;
}

bool text_at(Bytes bytes, std::size_t at, std::string_view text) {
  return at <= bytes.size() && text.size() <= bytes.size() - at &&
         std::equal(text.begin(), text.end(), bytes.begin() + static_cast<std::ptrdiff_t>(at),
                    [](char a, std::uint8_t b) { return static_cast<std::uint8_t>(a) == b; });
}

// Some programs repeat the heading that JPEG needs.
Bytes without_heading(Bytes block) {
  constexpr std::string_view kHeading("Exif\0\0", 6);
  return text_at(block, 0, kHeading) ? block.subspan(kHeading.size()) : block;
}

// The Exif block is in an APP1 segment before the pixels.
Bytes jpeg_block(Bytes file) {
  std::size_t at = 2;
  while (at + 4 <= file.size() && file[at] == 0xff) {
    const std::uint8_t marker = file[at + 1];
    if (marker == 0xff) {  // fill byte
      ++at;
      continue;
    }
    if (marker == 0xda || marker == 0xd9) return {};
    const auto size = static_cast<std::size_t>(number_at(file, at + 2, 2, false));
    if (size < 2 || size > file.size() - at - 2) return {};
    if (marker == 0xe1 && text_at(file, at + 4, std::string_view("Exif\0\0", 6)))
      return file.subspan(at + 10, size - std::min<std::size_t>(size, 8));
    at += 2 + size;
  }
  return {};
}

// PNG and WebP are chunks with a name and a size: in PNG the size comes first and a checksum follows the
// data, in WebP the name comes first and the data is padded to an even size.
Bytes png_block(Bytes file) {
  for (std::size_t at = 8; at + 12 <= file.size();) {
    const auto size = static_cast<std::size_t>(number_at(file, at, 4, false));
    if (size > file.size() - at - 12) return {};
    if (text_at(file, at + 4, "eXIf")) return file.subspan(at + 8, size);
    at += 12 + size;
  }
  return {};
}

Bytes webp_block(Bytes file) {
  for (std::size_t at = 12; at + 8 <= file.size();) {
    const auto size = static_cast<std::size_t>(number_at(file, at + 4, 4, true));
    if (size > file.size() - at - 8) return {};
    if (text_at(file, at, "EXIF")) return file.subspan(at + 8, size);
    at += 8 + size + size % 2;
  }
  return {};
}

}  // namespace

int exif_orientation(Bytes block) {
  constexpr std::uint64_t kTag = 0x0112, kShort = 3;
  const bool little = text_at(block, 0, "II");
  if (!little && !text_at(block, 0, "MM")) return kUpright;
  if (number_at(block, 2, 2, little) != 42) return kUpright;
  const auto list = static_cast<std::size_t>(number_at(block, 4, 4, little));
  const auto entries = std::min<std::size_t>(number_at(block, list, 2, little), kMostEntries);
  for (std::size_t i = 0; i < entries; ++i) {
    const std::size_t at = list + 2 + 12 * i;
    if (number_at(block, at, 2, little) != kTag) continue;
    const std::uint64_t value = number_at(block, at + 8, 2, little);
    const bool sound = number_at(block, at + 2, 2, little) == kShort && value >= 1 && value <= 8;
    return sound ? static_cast<int>(value) : kUpright;
  }
  return kUpright;
}

int orientation_of(Bytes file) {
  Bytes block;
  if (text_at(file, 0, "\xff\xd8")) block = jpeg_block(file);
  if (text_at(file, 1, "PNG")) block = png_block(file);
  if (text_at(file, 0, "RIFF") && text_at(file, 8, "WEBP")) block = webp_block(file);
  return exif_orientation(without_heading(block));
}

void turn_upright(Picture& picture, int orientation) {
  if (orientation <= kUpright || orientation > 8) return;
  const auto width = static_cast<std::size_t>(picture.width);
  const auto height = static_cast<std::size_t>(picture.height);
  const auto channels = static_cast<std::size_t>(picture.channels);
  // 2 mirrors, 3 turns by 180 degrees, 4 does both; 5 to 8 do as 1 to 4 after swapping rows and columns.
  const bool swapped = orientation >= 5;
  const bool from_right = orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8;
  const bool from_below = orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7;
  Picture turned{picture.width, picture.height, picture.channels, {}};
  if (swapped) std::swap(turned.width, turned.height);
  turned.samples.resize(picture.samples.size());
  auto* out = turned.samples.data();
  for (std::size_t v = 0; v < static_cast<std::size_t>(turned.height); ++v) {
    for (std::size_t u = 0; u < static_cast<std::size_t>(turned.width); ++u, out += channels) {
      std::size_t x = swapped ? v : u, y = swapped ? u : v;
      if (from_right) x = width - 1 - x;
      if (from_below) y = height - 1 - y;
      std::copy_n(picture.samples.data() + (y * width + x) * channels, channels, out);
    }
  }
  picture = std::move(turned);
}

}  // namespace longtail::data
