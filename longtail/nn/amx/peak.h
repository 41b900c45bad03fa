// The limits of the machine, with which benchmarks compare the kernels.
#pragma once

#include <cstddef>

namespace longtail::nn::amx {

// `count` times four independent tile multiplies (16,384 floating-point operations each), nothing else. The
// numbers come from a tile of data: zeros would draw less power and let the clock run faster.
void peak_multiplies(const void* tile, long count);
// `count` times nine loads from six KB of data and twelve multiplies, as in a convolution. If `apart`, with
// idle instructions after each (see tile.h), otherwise close together.
void tile_chunks(const void* data, long count, bool apart);
// Reads an array, 64 bytes at a time.
void peak_read(const void* data, std::size_t bytes);

}  // namespace longtail::nn::amx
