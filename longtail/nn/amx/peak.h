// What the machine can do at most, for benchmarks to compare kernels with.
#pragma once

#include <cstddef>

namespace longtail::nn::amx {

// `count` times four independent tile multiplies (16,384 floating-point operations each), nothing else.
void peak_multiplies(long count);
// Reads an array, 64 bytes at a time.
void peak_read(const void* data, std::size_t bytes);

}  // namespace longtail::nn::amx
