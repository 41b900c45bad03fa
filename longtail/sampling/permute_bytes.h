// A permutation of few images, 32 positions at a time. A round adds to one half of a value a number that
// depends only on the other half; when both halves fit into a byte, a round is a table of at most 255 bytes,
// and 32 numbers are looked up with a few byte shuffles instead of computed with multiplications. About three
// times as fast as permute_avx2.
#pragma once

#include <cstddef>
#include <cstdint>

#include "longtail/sampling/permutation.h"

namespace longtail::sampling {

// The tables of a permutation. Plain arrays: they are read by code that is compiled for some CPUs only.
struct ByteRounds {
  static constexpr std::size_t kRounds = Permutation::kRounds;
  // tables[i][half] = bound - round(half): what round i subtracts from the other half, adding the bound if
  // the result is below 0.
  alignas(32) std::uint8_t tables[kRounds][256];
  std::uint8_t left_size;
  std::uint8_t right_size;
  // A value is beyond the last image if its right half is the last one and its left half is at least this.
  std::uint8_t left_beyond;
};

// Whether the halves of `permutation` fit into bytes: from 1024 to about 65,000 images.
bool fits_bytes(const Permutation& permutation);
ByteRounds byte_rounds(const Permutation& permutation);

// Fills all of `out` with the final values (after cycle walking) at position, position + stride, ...
void permute_bytes_avx2(const ByteRounds& rounds, std::uint64_t position, std::uint64_t stride,
                        std::int64_t* out, std::size_t count);

}  // namespace longtail::sampling
