// Randomness without state: every draw is a pure function of (seed, purpose, epoch, position).
// Philox 4x32-10 of Salmon et al. (2011), the same numbers as Random123's philox4x32.
//
//   Stream stream{.seed = 42, .purpose = Purpose::kClass, .epoch = 7};
//   std::uint32_t word = stream.block(position)[0];
#pragma once

#include <array>
#include <cstdint>

namespace longtail::base {

using Block = std::array<std::uint32_t, 4>;

// What a draw is for. Different purposes never share numbers; the values are part of the format and never
// change.
enum class Purpose : std::uint32_t {
  kDraw = 1,         // class and instance of a position
  kPermutation = 2,  // the keyed bijection of uniform sampling
  kAugment = 3,      // crop and flip of a position
  kClassOrder = 4,   // shuffled order of classes
  kHoldOut = 5,      // validation split
  kBootstrap = 6,    // statistics of the report
  kProbe = 7,        // Monte-Carlo batches of the gradient probe
  kStratum = 8,      // stratified batches
  kMixPartner = 9,   // partner that an image is mixed with
  kMixWeight = 10,   // weight of the partner
  kMixBox = 11,      // position of the box (CutMix)
  kTest = 100,
};

// Ten rounds over one counter block.
constexpr Block philox(Block counter, std::array<std::uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = std::uint64_t{0xD2511F53} * counter[0];
    const std::uint64_t b = std::uint64_t{0xCD9E8D57} * counter[2];
    counter = {static_cast<std::uint32_t>(b >> 32) ^ counter[1] ^ key[0], static_cast<std::uint32_t>(b),
               static_cast<std::uint32_t>(a >> 32) ^ counter[3] ^ key[1], static_cast<std::uint32_t>(a)};
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
  }
  return counter;
}

struct Stream {
  std::uint64_t seed = 0;
  Purpose purpose = Purpose::kTest;
  std::uint32_t epoch = 0;

  // Four 32-bit words for a position; 64-bit positions are enough for any epoch.
  constexpr Block block(std::uint64_t position) const {
    return philox({static_cast<std::uint32_t>(position), static_cast<std::uint32_t>(position >> 32), epoch,
                   static_cast<std::uint32_t>(purpose)},
                  {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)});
  }
};

// Uniform in [0, bound) from 64 random bits by multiplication (bias below bound / 2^64).
constexpr std::uint64_t scale(std::uint64_t bits, std::uint64_t bound) {
  return static_cast<std::uint64_t>((static_cast<unsigned __int128>(bits) * bound) >> 64);
}

// Uniform double in [0, 1) with 53 bits.
constexpr double unit(std::uint64_t bits) { return static_cast<double>(bits >> 11) * 0x1.0p-53; }

constexpr std::uint64_t join(std::uint32_t low, std::uint32_t high) {
  return low | (static_cast<std::uint64_t>(high) << 32);
}

}  // namespace longtail::base
