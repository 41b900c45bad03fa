// Many draws at once with the vector instructions of this CPU. Each function writes as many whole vectors as
// fit and returns how many draws that is; the caller makes the rest one by one. The values are those of the
// plain counterparts, IndexStream::at and Permutation, bit for bit.
#pragma once

#include <cstddef>
#include <cstdint>

namespace longtail::sampling {

// Draws with replacement. Needs fewer than 2^32 images, so that a position in the subset fits into 32 bits.
struct DrawTask {
  std::uint64_t position;  // of the first draw
  std::uint64_t stride;    // between two draws
  std::uint64_t seed;
  std::uint32_t epoch;
  std::uint32_t purpose;
  std::uint32_t classes;
  const std::uint64_t* thresholds;  // of the alias table
  const std::uint64_t*
      places;  // for each slot, the place of its own class, then of its alias: first image | count << 32
};

inline constexpr std::size_t kMostRounds = 24;  // of a permutation

// Values of a Permutation, before cycle walking: they may be beyond its size.
struct PermuteTask {
  std::uint64_t position;
  std::uint64_t stride;
  std::uint32_t left_size;
  std::uint32_t right_size;
  std::size_t rounds;
  const std::uint32_t* keys;  // two per round
};

std::size_t draw_avx2(const DrawTask& task, std::int64_t* out, std::size_t count);
std::size_t draw_avx512(const DrawTask& task, std::int64_t* out, std::size_t count);
std::size_t permute_avx2(const PermuteTask& task, std::int64_t* out, std::size_t count);
std::size_t permute_avx512(const PermuteTask& task, std::int64_t* out, std::size_t count);

}  // namespace longtail::sampling
