#include <immintrin.h>

#include "longtail/sampling/fill_kernel.h"

namespace longtail::sampling {
namespace {

struct Avx2 {
  using Vector = __m256i;
  static constexpr std::size_t kCount = 4;

  static Vector all(std::uint64_t value) { return _mm256_set1_epi64x(static_cast<long long>(value)); }
  static Vector ramp(std::uint64_t first, std::uint64_t stride) {
    const auto at = [&](std::uint64_t i) { return static_cast<long long>(first + i * stride); };
    return _mm256_set_epi64x(at(3), at(2), at(1), at(0));
  }
  static Vector multiply(Vector a, Vector b) { return _mm256_mul_epu32(a, b); }
  // The high half of each lane into the low half. A shuffle, because shifts share their port with
  // multiplication.
  static Vector high_down(Vector a) { return _mm256_shuffle_epi32(a, 0xf5); }
  static Vector exclusive_or(Vector a, Vector b) { return _mm256_xor_si256(a, b); }
  static Vector exclusive_or(Vector a, Vector b, Vector c) { return exclusive_or(exclusive_or(a, b), c); }
  static Vector both(Vector a, Vector b) { return _mm256_and_si256(a, b); }
  static Vector either(Vector a, Vector b) { return _mm256_or_si256(a, b); }
  static Vector add(Vector a, Vector b) { return _mm256_add_epi64(a, b); }
  static Vector shift_down(Vector a) { return _mm256_srli_epi64(a, 32); }
  static Vector shift_up(Vector a) { return _mm256_slli_epi64(a, 32); }
  static Vector gather(const std::uint64_t* table, Vector index) {
    return _mm256_i64gather_epi64(reinterpret_cast<const long long*>(table), index, 8);
  }
  // 1 where a >= b as unsigned numbers: there is only a signed comparison, so both move by 2^63.
  static Vector at_least(Vector a, Vector b) {
    const Vector sign = all(std::uint64_t{1} << 63);
    return add(all(1), _mm256_cmpgt_epi64(exclusive_or(b, sign), exclusive_or(a, sign)));
  }
  static void store(std::int64_t* out, Vector a) { _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), a); }

  static Vector all32(std::uint32_t value) { return _mm256_set1_epi32(static_cast<int>(value)); }
  static Vector load32(const std::uint32_t* values) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(values));
  }
  static Vector add32(Vector a, Vector b) { return _mm256_add_epi32(a, b); }
  static Vector sub32(Vector a, Vector b) { return _mm256_sub_epi32(a, b); }
  static Vector min32(Vector a, Vector b) { return _mm256_min_epu32(a, b); }
  template <int kBits>
  static Vector down32(Vector a) {
    return _mm256_srli_epi32(a, kBits);
  }
  static Vector low32(Vector a, Vector b) { return _mm256_mullo_epi32(a, b); }
  static Vector high32(Vector a, Vector b) {
    const Vector even = _mm256_mul_epu32(a, b), odd = _mm256_mul_epu32(high_down(a), high_down(b));
    return _mm256_blend_epi32(high_down(even), odd, 0xaa);
  }
  // a, and one more where `sum` was reduced to something else: a + 1 less one where they are equal.
  static Vector add_carry32(Vector a, Vector sum, Vector reduced) {
    return add32(add32(a, all32(1)), _mm256_cmpeq_epi32(sum, reduced));
  }
  // a * b + c of each 32-bit lane into 64 bits, in order.
  static void store_sums(std::int64_t* out, Vector a, Vector b, Vector c) {
    const auto half = [&](__m128i a_half, __m128i c_half, std::int64_t* to) {
      store(to, add(multiply(_mm256_cvtepu32_epi64(a_half), b), _mm256_cvtepu32_epi64(c_half)));
    };
    half(_mm256_castsi256_si128(a), _mm256_castsi256_si128(c), out);
    half(_mm256_extracti128_si256(a, 1), _mm256_extracti128_si256(c, 1), out + 4);
  }
};

}  // namespace

std::size_t draw_avx2(const DrawTask& task, std::int64_t* out, std::size_t count) {
  return draw_lanes<Avx2>(task, out, count);
}

std::size_t permute_avx2(const PermuteTask& task, std::int64_t* out, std::size_t count) {
  return permute_lanes<Avx2>(task, out, count);
}

}  // namespace longtail::sampling
