// Helpers of the tests of the amx engine: skipping where there are no tiles, bf16 by hand, random numbers.
#pragma once

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include "longtail/nn/amx/amx_engine.h"
#include "longtail/nn/amx/kernels.h"

namespace longtail::nn::amx {

#define SKIP_WITHOUT_TILES()                                   \
  if (std::string why; !::longtail::nn::amx_available(&why)) { \
    GTEST_SKIP() << "the amx engine cannot run here: " << why; \
  }                                                            \
  static_assert(true)

inline float widen(Bf16 v) { return std::bit_cast<float>(static_cast<std::uint32_t>(v) << 16); }

// Rounds to nearest, ties to even. Finite values only.
inline Bf16 narrow(float v) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(v);
  return static_cast<Bf16>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

// The same numbers on every machine, in [-1, 1).
class Numbers {
 public:
  explicit Numbers(std::uint32_t seed) : state_(seed * 2654435761u + 12345u) {}
  float next() {
    state_ = state_ * 1664525u + 1013904223u;
    return static_cast<float>(static_cast<std::int32_t>(state_) >> 8) / 8388608.0f;
  }
  std::vector<float> floats(std::size_t count) {
    std::vector<float> values(count);
    for (float& v : values) v = next();
    return values;
  }
  std::vector<Bf16> bf16(std::size_t count) {
    std::vector<Bf16> values(count);
    for (Bf16& v : values) v = narrow(next());
    return values;
  }

 private:
  std::uint32_t state_;
};

}  // namespace longtail::nn::amx
