#include "longtail/sampling/permute_bytes.h"

namespace longtail::sampling {

bool fits_bytes(const Permutation& permutation) {
  return permutation.left_size() <= 255 && permutation.right_size() <= 255 &&
         permutation.keys().size() == ByteRounds::kRounds;
}

ByteRounds byte_rounds(const Permutation& permutation) {
  const std::uint32_t left = permutation.left_size(), right = permutation.right_size();
  ByteRounds result{};
  result.left_size = static_cast<std::uint8_t>(left);
  result.right_size = static_cast<std::uint8_t>(right);
  result.left_beyond = static_cast<std::uint8_t>(permutation.size() - std::uint64_t{left} * (right - 1));
  for (std::size_t i = 0; i < ByteRounds::kRounds; ++i) {
    const std::uint32_t bound = i % 2 == 0 ? left : right, halves = i % 2 == 0 ? right : left;
    for (std::uint32_t half = 0; half < halves; ++half) {
      result.tables[i][half] =
          static_cast<std::uint8_t>(bound - Permutation::round(half, permutation.keys()[i], bound));
    }
  }
  return result;
}

#if !defined(__x86_64__)
void permute_bytes_avx2(const ByteRounds&, std::uint64_t, std::uint64_t, std::int64_t*, std::size_t) {}
#endif

}  // namespace longtail::sampling
