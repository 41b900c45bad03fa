// Sixteen channels at a time: bf16 to and from floats in AVX-512 registers. For kernel files only.
#pragma once

#include <immintrin.h>

#include <cstdint>

namespace longtail::nn::amx {
namespace {

inline __m512 load_bf16(const std::uint16_t* p) {
  const __m512i wide = _mm512_cvtepu16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
  return _mm512_castsi512_ps(_mm512_slli_epi32(wide, 16));
}

inline void store_bf16(std::uint16_t* p, __m512 v) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), (__m256i)_mm512_cvtneps_pbh(v));
}

inline __m512 widen_bf16(__m256i v) {
  return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(v), 16));
}

// Sixteen floats in 24 bits each: rounded to bf16, and what is missing, in units of 1/256 of its last place.
// Both are integer sums of the bits, so that a float and its parts turn into each other exactly.
struct Parts {
  __m512 rounded;
  __m256i high;
  __m128i low;
};
inline Parts split(__m512 v) {
  const __m512i bits = _mm512_add_epi32(_mm512_castps_si512(v), _mm512_set1_epi32(0x80));
  const __m512i up = _mm512_add_epi32(bits, _mm512_set1_epi32(0x8000));
  return {_mm512_castsi512_ps(_mm512_and_epi32(up, _mm512_set1_epi32(static_cast<int>(0xffff0000)))),
          _mm512_cvtepi32_epi16(_mm512_srli_epi32(up, 16)), _mm512_cvtepi32_epi8(_mm512_srli_epi32(bits, 8))};
}
inline __m512 load_parts(const std::uint16_t* high, const std::int8_t* low) {
  const __m512i bits = _mm512_castps_si512(load_bf16(high));
  const __m512i rest = _mm512_cvtepi8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(low)));
  return _mm512_castsi512_ps(_mm512_add_epi32(bits, _mm512_slli_epi32(rest, 8)));
}
inline void store_parts(std::uint16_t* high, std::int8_t* low, Parts parts) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(high), parts.high);
  _mm_storeu_si128(reinterpret_cast<__m128i*>(low), parts.low);
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
