#include <immintrin.h>

#include "longtail/sampling/fill_kernel.h"

namespace longtail::sampling {
namespace {

struct Avx512 {
  using Vector = __m512i;
  static constexpr std::size_t kCount = 8;

  static Vector all(std::uint64_t value) { return _mm512_set1_epi64(static_cast<long long>(value)); }
  static Vector ramp(std::uint64_t first, std::uint64_t stride) {
    return _mm512_add_epi64(all(first),
                            _mm512_mullo_epi64(_mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0), all(stride)));
  }
  static Vector multiply(Vector a, Vector b) { return _mm512_mul_epu32(a, b); }
  // The high half of each lane into the low half. A shuffle, because shifts share their port with
  // multiplication.
  static Vector high_down(Vector a) { return _mm512_shuffle_epi32(a, _MM_PERM_DDBB); }
  static Vector exclusive_or(Vector a, Vector b) { return _mm512_xor_si512(a, b); }
  static Vector exclusive_or(Vector a, Vector b, Vector c) {
    return _mm512_ternarylogic_epi64(a, b, c, 0x96);
  }
  static Vector both(Vector a, Vector b) { return _mm512_and_si512(a, b); }
  static Vector either(Vector a, Vector b) { return _mm512_or_si512(a, b); }
  static Vector add(Vector a, Vector b) { return _mm512_add_epi64(a, b); }
  static Vector shift_down(Vector a) { return _mm512_srli_epi64(a, 32); }
  static Vector shift_up(Vector a) { return _mm512_slli_epi64(a, 32); }
  static Vector gather(const std::uint64_t* table, Vector index) {
    return _mm512_i64gather_epi64(index, table, 8);
  }
  static Vector at_least(Vector a, Vector b) {
    return _mm512_maskz_set1_epi64(_mm512_cmpge_epu64_mask(a, b), 1);
  }
  static void store(std::int64_t* out, Vector a) { _mm512_storeu_si512(out, a); }

  static Vector all32(std::uint32_t value) { return _mm512_set1_epi32(static_cast<int>(value)); }
  static Vector load32(const std::uint32_t* values) { return _mm512_loadu_si512(values); }
  static Vector add32(Vector a, Vector b) { return _mm512_add_epi32(a, b); }
  static Vector sub32(Vector a, Vector b) { return _mm512_sub_epi32(a, b); }
  static Vector min32(Vector a, Vector b) { return _mm512_min_epu32(a, b); }
  template <int kBits>
  static Vector down32(Vector a) {
    return _mm512_srli_epi32(a, kBits);
  }
  static Vector low32(Vector a, Vector b) { return _mm512_mullo_epi32(a, b); }
  static Vector high32(Vector a, Vector b) {
    const Vector even = _mm512_mul_epu32(a, b), odd = _mm512_mul_epu32(high_down(a), high_down(b));
    return _mm512_mask_blend_epi32(0xaaaa, high_down(even), odd);
  }
  // a, and one more where `sum` was reduced to something else.
  static Vector add_carry32(Vector a, Vector sum, Vector reduced) {
    return _mm512_mask_add_epi32(a, _mm512_cmpneq_epu32_mask(sum, reduced), a, all32(1));
  }
  // a * b + c of each 32-bit lane into 64 bits, in order.
  static void store_sums(std::int64_t* out, Vector a, Vector b, Vector c) {
    const auto half = [&](int which) {
      const Vector wide_a =
          _mm512_cvtepu32_epi64(which ? _mm512_extracti64x4_epi64(a, 1) : _mm512_castsi512_si256(a));
      const Vector wide_c =
          _mm512_cvtepu32_epi64(which ? _mm512_extracti64x4_epi64(c, 1) : _mm512_castsi512_si256(c));
      _mm512_storeu_si512(out + 8 * which, _mm512_add_epi64(_mm512_mul_epu32(wide_a, b), wide_c));
    };
    half(0);
    half(1);
  }
};

}  // namespace

std::size_t draw_avx512(const DrawTask& task, std::int64_t* out, std::size_t count) {
  return draw_lanes<Avx512>(task, out, count);
}

std::size_t permute_avx512(const PermuteTask& task, std::int64_t* out, std::size_t count) {
  return permute_lanes<Avx512>(task, out, count);
}

}  // namespace longtail::sampling
