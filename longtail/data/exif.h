// The orientation tag that cameras store in a picture: how the camera was held. Read from the Exif block of
// JPEG, PNG and WebP files; anything that is not exactly such a tag counts as none.
#pragma once

#include <cstdint>
#include <span>

#include "longtail/data/image.h"

namespace longtail::data {

// 1 to 8 as in the Exif standard; 1, the picture as it is stored, if the file has no tag.
int orientation_of(std::span<const std::uint8_t> file);

// The tag inside the bare Exif block, which begins with `II` or `MM`.
int exif_orientation(std::span<const std::uint8_t> block);

// Turns the picture to the way it was meant to be seen.
void turn_upright(Picture& picture, int orientation);

}  // namespace longtail::data
