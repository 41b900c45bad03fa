// Pixels from one order to another: padded grids, interleaved pairs, channel-major tiles, 3x3 neighbourhoods;
// and the weights between PyTorch's order and tiles.
#include "longtail/nn/amx/kernels.h"
#include "longtail/nn/amx/vector.h"

namespace longtail::nn::amx {
namespace {

inline __m256i load_group(const Bf16* p) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)); }

// Stores make(a, b, group, inside) for every pair of pixels and sixteen channels: [channel][2].
template <int kGroups, class Make>
[[gnu::always_inline]] inline void each_pair(const PairLayout& pairs, const Bf16* src, Bf16* dst,
                                             const Make& make) {
  constexpr long kPixel = kGroups * 16;
  const PairRun* runs = pairs.runs;
  alignas(64) static const Bf16 zeros[kPixel] = {};
  for (int r = 0; r < pairs.count; ++r) {
    const bool has_a = runs[r].a >= 0, has_b = runs[r].b >= 0;
    const long step = runs[r].src_step * kPixel, to_step = runs[r].dst_step * 32;
    const Bf16* a = has_a ? src + runs[r].a * kPixel : zeros;
    const Bf16* b = has_b ? src + runs[r].b * kPixel : zeros;
    const long a_step = has_a ? step : 0, b_step = has_b ? step : 0;
    // Halves of a pair that lie outside become zeros.
    const __mmask32 inside = (has_a ? 0x55555555u : 0u) | (has_b ? 0xaaaaaaaau : 0u);
    Bf16* to = dst + runs[r].dst * 32;
    for (int i = 0; i < runs[r].count; ++i, a += a_step, b += b_step, to += to_step) {
      for (int g = 0; g < kGroups; ++g)
        _mm512_storeu_si512(to + 32L * pairs.positions * g, make(a + 16 * g, b + 16 * g, g, inside));
    }
  }
}

template <int kGroups>
void interleave(const PairLayout& pairs, const Bf16* src, Bf16* dst) {
  each_pair<kGroups>(pairs, src, dst, [](const Bf16* a, const Bf16* b, int, __mmask32) {
    return interleave_pair(load_group(a), load_group(b));
  });
}

template <int kGroups>
void interleave_norm(const PairLayout& pairs, const Bf16* src, const float* scale, const float* shift,
                     Bf16* dst) {
  __m512 p[kGroups], q[kGroups];
  for (int g = 0; g < kGroups; ++g) {
    p[g] = _mm512_loadu_ps(scale + 16 * g);
    q[g] = _mm512_loadu_ps(shift + 16 * g);
  }
  each_pair<kGroups>(pairs, src, dst, [&](const Bf16* a, const Bf16* b, int g, __mmask32 inside) {
    const __m512 zero = _mm512_setzero_ps();
    const __m512 va = _mm512_max_ps(_mm512_fmadd_ps(load_bf16(a), p[g], q[g]), zero);
    const __m512 vb = _mm512_max_ps(_mm512_fmadd_ps(load_bf16(b), p[g], q[g]), zero);
    const __m512i pair = interleave_pair((__m256i)_mm512_cvtneps_pbh(va), (__m256i)_mm512_cvtneps_pbh(vb));
    return _mm512_maskz_mov_epi16(inside, pair);
  });
}

// Transposes 16 rows of 16 dwords.
inline void transpose_dwords(__m512i r[16]) {
  __m512i t[16];
  for (int i = 0; i < 16; i += 2) {
    t[i] = _mm512_unpacklo_epi32(r[i], r[i + 1]);
    t[i + 1] = _mm512_unpackhi_epi32(r[i], r[i + 1]);
  }
  for (int i = 0; i < 16; i += 4) {
    r[i] = _mm512_unpacklo_epi64(t[i], t[i + 2]);
    r[i + 1] = _mm512_unpackhi_epi64(t[i], t[i + 2]);
    r[i + 2] = _mm512_unpacklo_epi64(t[i + 1], t[i + 3]);
    r[i + 3] = _mm512_unpackhi_epi64(t[i + 1], t[i + 3]);
  }
  for (int i = 0; i < 4; ++i) {
    t[i] = _mm512_shuffle_i32x4(r[i], r[i + 4], 0x88);
    t[i + 4] = _mm512_shuffle_i32x4(r[i], r[i + 4], 0xdd);
    t[i + 8] = _mm512_shuffle_i32x4(r[i + 8], r[i + 12], 0x88);
    t[i + 12] = _mm512_shuffle_i32x4(r[i + 8], r[i + 12], 0xdd);
  }
  for (int i = 0; i < 4; ++i) {
    r[i] = _mm512_shuffle_i32x4(t[i], t[i + 8], 0x88);
    r[i + 8] = _mm512_shuffle_i32x4(t[i], t[i + 8], 0xdd);
    r[i + 4] = _mm512_shuffle_i32x4(t[i + 4], t[i + 12], 0x88);
    r[i + 12] = _mm512_shuffle_i32x4(t[i + 4], t[i + 12], 0xdd);
  }
}

}  // namespace

void interleave_pixels(const PairLayout& pairs, int channels, const Bf16* src, Bf16* dst) {
  if (channels == 16) interleave<1>(pairs, src, dst);
  if (channels == 32) interleave<2>(pairs, src, dst);
  if (channels == 64) interleave<4>(pairs, src, dst);
}

void interleave_normed(const PairLayout& pairs, int channels, const Bf16* src, const float* scale,
                       const float* shift, Bf16* dst) {
  if (channels == 16) interleave_norm<1>(pairs, src, scale, shift, dst);
  if (channels == 32) interleave_norm<2>(pairs, src, scale, shift, dst);
  if (channels == 64) interleave_norm<4>(pairs, src, scale, shift, dst);
}

void transpose_pixels(int chunks, const std::int32_t* first, int pair_distance, int channels, const Bf16* src,
                      Bf16* dst) {
  for (int chunk = 0; chunk < chunks; ++chunk, first += 16) {
    for (int g = 0; g < channels; g += 16, dst += kTileElements) {
      __m512i rows[16];
      for (int i = 0; i < 16; ++i) {
        const Bf16* a = src + static_cast<long>(first[i]) * channels + g;
        rows[i] = interleave_pair(load_group(a), load_group(a + static_cast<long>(pair_distance) * channels));
      }
      transpose_dwords(rows);
      for (int i = 0; i < 16; ++i) _mm512_storeu_si512(dst + 32 * i, rows[i]);
    }
  }
}

void pad_input(int channels, const Bf16* image, Bf16* padded) {
  const int row = 32 * channels;
  for (int y = 0; y < 32; ++y) {
    Bf16* to = padded + (y + 2) * kPaddedRow + channels;
    for (int i = 0; i < row; i += 32) _mm512_storeu_si512(to + i, _mm512_loadu_si512(image + y * row + i));
  }
}

void pad_float_input(int channels, const float* image, Bf16* padded, Bf16* padded_low) {
  for (int c = 0; c < channels; ++c) {
    for (int y = 0; y < 32; ++y) {
      const long row = (y + 2) * kPaddedRow + channels + c;
      for (int x = 0; x < 32; x += 16) {
        const __m512 v = _mm512_loadu_ps(image + c * 1024 + y * 32 + x);
        const __m256i high = (__m256i)_mm512_cvtneps_pbh(v);
        alignas(32) Bf16 part[2][16];
        _mm256_store_si256(reinterpret_cast<__m256i*>(part[0]), high);
        store_bf16(part[1], _mm512_sub_ps(v, widen_bf16(high)));
        for (int i = 0; i < 16; ++i) {
          padded[row + (x + i) * channels] = part[0][i];
          padded_low[row + (x + i) * channels] = part[1][i];
        }
      }
    }
  }
}

void gather_neighbours(int channels, const Bf16* padded, Bf16* out) {
  const int width = 3 * channels;
  const __mmask32 mask = (1u << width) - 1;
  for (int y = 0; y < 32; ++y) {
    const Bf16* row = padded + (y + 1) * kPaddedRow;
    for (int x = 0; x < 32; ++x, row += channels, out += 32) {
      __m512i v = _mm512_maskz_loadu_epi16(mask, row);
      v = _mm512_mask_loadu_epi16(v, mask << width, row + kPaddedRow - width);
      v = _mm512_mask_loadu_epi16(v, mask << 2 * width, row + 2 * kPaddedRow - 2 * width);
      _mm512_storeu_si512(out, v);
    }
  }
}

namespace {

inline __m512 gather_there(const std::int32_t* index, const float* source) {
  const __m512i at = _mm512_loadu_si512(index);
  const __mmask16 there = _mm512_cmpge_epi32_mask(at, _mm512_setzero_si512());
  return _mm512_mask_i32gather_ps(_mm512_setzero_ps(), there, at, source, 4);
}

}  // namespace

void gather_bf16(std::size_t count, const std::int32_t* index, const float* source, Bf16* out) {
  for (std::size_t i = 0; i < count; i += 16) store_bf16(out + i, gather_there(index + i, source));
}

void gather_bf16_low(std::size_t count, const std::int32_t* index, const float* source, Bf16* out) {
  for (std::size_t i = 0; i < count; i += 16) {
    const __m512 v = gather_there(index + i, source);
    store_bf16(out + i, _mm512_sub_ps(v, widen_bf16((__m256i)_mm512_cvtneps_pbh(v))));
  }
}

void gather_floats(std::size_t count, const std::int32_t* index, const float* source, float* out) {
  for (std::size_t i = 0; i < count; i += 16) {
    _mm512_storeu_ps(out + i, _mm512_i32gather_ps(_mm512_loadu_si512(index + i), source, 4));
  }
}

}  // namespace longtail::nn::amx
