// Sixteen channels at a time: bf16 to and from floats in AVX-512 registers. For kernel files only.
#pragma once

#include <immintrin.h>

#include <cstdint>

namespace longtail::nn::amx {
namespace {

// One shuffle: every bf16 becomes the upper half of a float, above a word of zeros (word 16, since a load of
// 32 bytes clears the rest).
inline __m512 widen_bf16(__m256i v) {
  alignas(64) static constexpr std::uint16_t kUpperHalves[32] = {16, 0,  16, 1,  16, 2,  16, 3,  16, 4,  16,
                                                                 5,  16, 6,  16, 7,  16, 8,  16, 9,  16, 10,
                                                                 16, 11, 16, 12, 16, 13, 16, 14, 16, 15};
  return _mm512_castsi512_ps(
      _mm512_permutexvar_epi16(_mm512_load_si512(kUpperHalves), _mm512_zextsi256_si512(v)));
}

inline __m512 load_bf16(const std::uint16_t* p) {
  return widen_bf16(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
}

inline void store_bf16(std::uint16_t* p, __m512 v) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), (__m256i)_mm512_cvtneps_pbh(v));
}

// Sixteen floats in 24 bits each: the value rounded to bf16, and the remainder in units of 1/256 of the
// bf16's last place, plus 128. Both are bytes of one integer sum of the float's bits, so that a float of 24
// bits and its parts turn into each other exactly, with one shuffle of bytes.
struct Parts {
  __m512 rounded;
  __m512i packed;  // 32 bytes of bf16, then 16 low bytes
};
inline Parts split(__m512 v) {
  alignas(64) static constexpr std::uint8_t kHighThenLow[64] = {
      2,  3,  6,  7,  10, 11, 14, 15, 18, 19, 22, 23, 26, 27, 30, 31, 34, 35, 38, 39, 42, 43, 46, 47,
      50, 51, 54, 55, 58, 59, 62, 63, 1,  5,  9,  13, 17, 21, 25, 29, 33, 37, 41, 45, 49, 53, 57, 61};
  const __m512i bits = _mm512_add_epi32(_mm512_castps_si512(v), _mm512_set1_epi32(0x8080));
  return {_mm512_castsi512_ps(_mm512_and_epi32(bits, _mm512_set1_epi32(static_cast<int>(0xffff0000)))),
          _mm512_permutexvar_epi8(_mm512_load_si512(kHighThenLow), bits)};
}
inline __m512 load_parts(const std::uint16_t* high, const std::uint8_t* low) {
  // Bytes of the float from its last: zero (byte 48 of the source), the low byte, the bf16.
  alignas(64) static constexpr std::uint8_t kInPlace[64] = {
      48, 32, 0,  1,  48, 33, 2,  3,  48, 34, 4,  5,  48, 35, 6,  7,  48, 36, 8,  9,  48, 37,
      10, 11, 48, 38, 12, 13, 48, 39, 14, 15, 48, 40, 16, 17, 48, 41, 18, 19, 48, 42, 20, 21,
      48, 43, 22, 23, 48, 44, 24, 25, 48, 45, 26, 27, 48, 46, 28, 29, 48, 47, 30, 31};
  const __m512i wide = _mm512_zextsi256_si512(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(high)));
  const __m512i both = _mm512_inserti32x4(wide, _mm_loadu_si128(reinterpret_cast<const __m128i*>(low)), 2);
  const __m512i bits = _mm512_permutexvar_epi8(_mm512_load_si512(kInPlace), both);
  return _mm512_castsi512_ps(_mm512_sub_epi32(bits, _mm512_set1_epi32(0x8000)));
}
inline __m256i high_part(const Parts& parts) { return _mm512_castsi512_si256(parts.packed); }
inline void store_parts(std::uint16_t* high, std::uint8_t* low, const Parts& parts) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(high), high_part(parts));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(low), _mm512_extracti32x4_epi32(parts.packed, 2));
}

// The pairs of two pixels' channels, [channel][2], from 32 bytes each.
inline __m512i interleave_pair(__m256i a, __m256i b) {
  const __m512i low = _mm512_cvtepu16_epi32(a);
  const __m512i high = _mm512_slli_epi32(_mm512_cvtepu16_epi32(b), 16);
  return _mm512_or_si512(low, high);
}

// Adds sixteen floats to sixteen doubles in memory.
inline void add_to_doubles(double* sum, __m512 v) {
  const __m512d low = _mm512_cvtps_pd(_mm512_castps512_ps256(v));
  const __m512d high = _mm512_cvtps_pd(_mm512_extractf32x8_ps(v, 1));
  _mm512_storeu_pd(sum, _mm512_add_pd(_mm512_loadu_pd(sum), low));
  _mm512_storeu_pd(sum + 8, _mm512_add_pd(_mm512_loadu_pd(sum + 8), high));
}

}  // namespace
}  // namespace longtail::nn::amx
