// One picture (PNG, JPEG, WebP or GIF), decoded, turned upright and averaged down to a small square. The
// format is recognised by the first bytes, not by the name.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
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

// Transparent pixels are blended with black; CMYK becomes RGB; 16 bits become 8; an animation gives its first
// frame; the orientation tag of a camera is applied. A file of another format, or one that ends early, is an
// Error naming `where`.
Picture decode_picture(std::span<const std::uint8_t> file, const std::string& where,
                       std::uint64_t most_pixels = kMostPixels);

// How a picture that is not square becomes square: all of it stretched, the middle of it, or all of it
// between black bars.
enum class Fit { kStretch, kCrop, kPad };
inline constexpr std::array<std::string_view, 3> kFitNames = {"stretch", "crop", "pad"};
// An Error lists the names.
Fit parse_fit(std::string_view name);

// A Fit, or a picture stretched to rows x columns in the middle of a black square of 32 x 32, like the digits
// of MNIST.
struct PictureForm {
  Fit fit = Fit::kStretch;
  int rows = 0;  // 0: no frame
  int columns = 0;
};
// "stretch", "crop", "pad" or "framed:28x28"; anything else is an Error.
PictureForm parse_form(std::string_view text);
std::string framed_form(int rows, int columns);

// A rectangle in the pixels of a picture. It may reach beyond the picture, where everything is black.
struct Window {
  std::int64_t x = 0;
  std::int64_t y = 0;
  std::int64_t width = 0;
  std::int64_t height = 0;
};
// The part of the picture that becomes the image.
Window window_of(const Picture& picture, Fit fit);
Window window_of(const Picture& picture, const PictureForm& form);

// Stretches the window to side x side; each new pixel is the exact mean of the area it covers, rounded half
// up. The result is planar with three channels (three equal ones for a grey picture).
void area_average(const Picture& picture, const Window& window, int side, std::span<std::uint8_t> out);
// The whole picture, to 32x32.
void area_average(const Picture& picture, std::span<std::uint8_t, std::size_t{3} * kPixels> out);

// Stretches every image of the data set in the same way; its constants stay, and its hash is computed again.
void resize_images(Dataset& data, int side);

}  // namespace longtail::data
