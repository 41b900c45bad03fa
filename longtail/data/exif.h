// The orientation mark that cameras leave in a picture: which way up it was held. Read from the Exif block of
// JPEG, PNG and WebP files; anything that is not exactly such a mark counts as none.
#pragma once

#include <cstdint>
#include <span>

#include "longtail/data/image.h"

namespace longtail::data {

// 1 to 8 as in the Exif standard; 1, the picture as it is stored, if the file says nothing.
int orientation_of(std::span<const std::uint8_t> file);

// The mark inside the bare Exif block, which begins with `II` or `MM`.
int exif_orientation(std::span<const std::uint8_t> block);

// The picture as it was meant to be seen.
void turn_upright(Picture& picture, int orientation);

}  // namespace longtail::data
