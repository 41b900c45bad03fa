#include "longtail/data/numpy_random.h"

#include <bit>
#include <limits>

#include "longtail/base/error.h"

namespace longtail::data {
namespace {

constexpr std::int64_t kLargestSeed = std::numeric_limits<std::uint32_t>::max();

std::uint32_t checked(std::int64_t seed) {
  if (seed < 0 || seed > kLargestSeed) {
    base::fail("the seed {} cannot be used; choose one from 0 to {}, as for NumPy's RandomState", seed,
               kLargestSeed);
  }
  return static_cast<std::uint32_t>(seed);
}

}  // namespace

NumpyRandomState::NumpyRandomState(std::int64_t seed) : engine_(checked(seed)) {}

std::uint64_t NumpyRandomState::next64() {
  const std::uint64_t high = next32();
  return high << 32 | next32();
}

std::uint64_t NumpyRandomState::interval(std::uint64_t max) {
  if (max == 0) return 0;
  const std::uint64_t mask = ~std::uint64_t{0} >> std::countl_zero(max);
  const bool narrow = max <= std::numeric_limits<std::uint32_t>::max();
  for (;;) {
    const std::uint64_t value = (narrow ? next32() : next64()) & mask;
    if (value <= max) return value;
  }
}

}  // namespace longtail::data
