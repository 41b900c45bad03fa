// Tile registers in ordinary memory, for a CPU that has everything the tile engines need except the tiles
// (AVX-512 with BF16 and VBMI): the same numbers to the last bit, a tenth of the speed or less. Built with
// LONGTAIL_SOFTWARE_TILES, for the tests of the tile engines; `auto` never takes it.
//
// TDPBF16PS as in Intel's manual: per row and column, the products of the even members of the pairs are
// summed by fused multiply-adds over k, those of the odd members likewise, from zero; the two sums are added,
// and that is added to the tile. Rounding is to nearest even; denormal numbers count as zero, in and out.
#pragma once

#include <immintrin.h>

#include <cstdint>

namespace longtail::nn::amx {

constexpr int kSoftwareTiles = 8;
struct SoftwareTile {
  alignas(64) std::uint32_t rows[16][16];
};
inline thread_local SoftwareTile software_tiles[kSoftwareTiles];

namespace {

inline void tile_configure() {
  for (SoftwareTile& tile : software_tiles) tile = {};
}
inline void tile_release() { tile_configure(); }
inline void fence() {}

template <int kTile>
inline void tile_zero() {
  software_tiles[kTile] = {};
}

template <int kTile>
inline void tile_load(const void* base, long stride) {
  for (int row = 0; row < 16; ++row) {
    _mm512_store_si512(software_tiles[kTile].rows[row],
                       _mm512_loadu_si512(static_cast<const char*>(base) + row * stride));
  }
}

template <int kTile>
inline void tile_store(void* base, long stride) {
  for (int row = 0; row < 16; ++row) {
    _mm512_storeu_si512(static_cast<char*>(base) + row * stride,
                        _mm512_load_si512(software_tiles[kTile].rows[row]));
  }
}

[[gnu::noinline]] void software_multiply(SoftwareTile& sum, const SoftwareTile& left,
                                         const SoftwareTile& right) {
  constexpr unsigned kDenormalsAreZero = 0x8040;
  const unsigned mode = _mm_getcsr();
  _mm_setcsr(mode | kDenormalsAreZero);
  const __m512i upper = _mm512_set1_epi32(static_cast<int>(0xffff0000));
  __m512 even[16], odd[16];
  for (int k = 0; k < 16; ++k) {
    const __m512i pairs = _mm512_load_si512(right.rows[k]);
    even[k] = _mm512_castsi512_ps(_mm512_slli_epi32(pairs, 16));
    odd[k] = _mm512_castsi512_ps(_mm512_and_si512(pairs, upper));
  }
  for (int row = 0; row < 16; ++row) {
    __m512 even_sum = _mm512_setzero_ps(), odd_sum = _mm512_setzero_ps();
    for (int k = 0; k < 16; ++k) {
      const __m512i pair = _mm512_set1_epi32(static_cast<int>(left.rows[row][k]));
      even_sum = _mm512_fmadd_ps(_mm512_castsi512_ps(_mm512_slli_epi32(pair, 16)), even[k], even_sum);
      odd_sum = _mm512_fmadd_ps(_mm512_castsi512_ps(_mm512_and_si512(pair, upper)), odd[k], odd_sum);
    }
    float* out = reinterpret_cast<float*>(sum.rows[row]);
    _mm512_store_ps(out, _mm512_add_ps(_mm512_load_ps(out), _mm512_add_ps(even_sum, odd_sum)));
  }
  _mm_setcsr(mode);
}

template <int kSum, int kLeft, int kRight>
inline void tile_multiply() {
  software_multiply(software_tiles[kSum], software_tiles[kLeft], software_tiles[kRight]);
}

}  // namespace
}  // namespace longtail::nn::amx
