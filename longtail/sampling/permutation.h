// A keyed bijection of [0, n): a pseudo-random permutation whose value at a position is computed, not stored.
// A Feistel network over pairs (left, right) in [0, a) x [0, b), a * b just above n; the few values beyond n
// are mapped again until they are inside (cycle walking), which keeps it a bijection.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace longtail::sampling {

class Permutation {
 public:
  // Few values need more rounds to be mixed: with 24 rounds all permutations of six values are equally
  // likely.
  static constexpr std::size_t kRounds = 8;
  static constexpr std::size_t kRoundsOfFew = 24;
  static constexpr std::uint64_t kFew = 1024;
  struct RoundKey {
    std::uint32_t add = 0;
    std::uint32_t flip = 0;
  };

  Permutation() = default;
  // Of [0, n), 1 <= n <= 2^61, keyed by (seed, epoch).
  Permutation(std::uint64_t n, std::uint64_t seed, std::uint32_t epoch);

  std::uint64_t size() const { return n_; }
  std::uint64_t operator()(std::uint64_t position) const {
    do {
      position = once(position);
    } while (position >= n_);
    return position;
  }

  // The parts, for code that computes many values at once.
  std::uint32_t left_size() const { return left_size_; }
  std::uint32_t right_size() const { return right_size_; }
  std::span<const RoundKey> keys() const { return std::span(keys_).first(rounds_); }

  // A pseudo-random number in [0, bound) from the other half: two multiplications mix, the third scales.
  static constexpr std::uint32_t round(std::uint32_t half, RoundKey key, std::uint32_t bound) {
    std::uint32_t x = half + key.add;
    x = (x ^ (x >> 16)) * 0x7feb352d;
    x ^= key.flip;
    x = (x ^ (x >> 15)) * 0x846ca68b;
    x ^= x >> 16;
    return static_cast<std::uint32_t>((std::uint64_t{x} * bound) >> 32);
  }
  static constexpr std::uint32_t add(std::uint32_t a, std::uint32_t b, std::uint32_t bound) {
    const std::uint32_t sum = a + b;  // below 2^32: the halves are at most 2^31
    return sum >= bound ? sum - bound : sum;
  }

 private:
  std::uint64_t once(std::uint64_t value) const {
    auto left = static_cast<std::uint32_t>(value % left_size_);
    auto right = static_cast<std::uint32_t>(value / left_size_);
    for (std::size_t i = 0; i < rounds_; i += 2) {
      left = add(left, round(right, keys_[i], left_size_), left_size_);
      right = add(right, round(left, keys_[i + 1], right_size_), right_size_);
    }
    return std::uint64_t{right} * left_size_ + left;
  }

  std::uint64_t n_ = 1;
  std::uint32_t left_size_ = 2;
  std::uint32_t right_size_ = 1;
  std::size_t rounds_ = kRounds;
  std::array<RoundKey, kRoundsOfFew> keys_{};
};

}  // namespace longtail::sampling
