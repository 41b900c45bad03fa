// The points of Winograd's F(4x4, 3x3): 0, a, -a, b, -b and infinity. Any will do in exact arithmetic; of
// those whose powers and products are exact in a float, these two lose least accuracy (docs/performance.md):
// less than half as much as the usual 1 and 2, and hardly more than a direct convolution in fp32.
#pragma once

namespace longtail::nn::simd {

inline constexpr float kA = 0.625f, kB = 1.5f;
inline constexpr float kA2 = kA * kA, kB2 = kB * kB;
inline constexpr float kSum = kA2 + kB2, kProduct = kA2 * kB2;
static_assert(double{kProduct} == 0.625 * 0.625 * 1.5 * 1.5 && double{kA * kA2} == 0.625 * 0.625 * 0.625);

}  // namespace longtail::nn::simd
