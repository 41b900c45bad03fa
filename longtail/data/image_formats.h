// Internal to the decoding of pictures: one function per file format. Each checks the size before it
// allocates and throws an Error naming `where`.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "longtail/data/image.h"

namespace longtail::data::detail {

void check_size(std::uint64_t width, std::uint64_t height, std::uint64_t most_pixels,
                const std::string& where);

// Blends `picture` with black: its last channel is transparency before, and is gone afterwards.
void lay_on_black(Picture& picture);

// A picture whose three channels are equal everywhere becomes one of one channel.
void drop_equal_channels(Picture& picture);

// An animation gives its first frame.
Picture decode_webp(std::span<const std::uint8_t> file, const std::string& where, std::uint64_t most_pixels);
Picture decode_gif(std::span<const std::uint8_t> file, const std::string& where, std::uint64_t most_pixels);

}  // namespace longtail::data::detail
