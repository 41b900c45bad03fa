#include <immintrin.h>

#include <cstring>

#include "longtail/sampling/permute_bytes.h"

namespace longtail::sampling {
namespace {

using Bytes = __m256i;
constexpr std::size_t kLanes = 32;
// Vectors at a time: a single one would wait for each round to end.
constexpr std::size_t kVectors = 4;

struct Halves {
  Bytes left, right;
};
struct Group {
  Halves of[kVectors];
};

Bytes all(unsigned value) { return _mm256_set1_epi8(static_cast<char>(value)); }

Bytes at_least(Bytes a, Bytes b) { return _mm256_cmpeq_epi8(_mm256_max_epu8(a, b), a); }

// a - b modulo the bound, for a below the bound and b at most the bound.
Bytes subtract(Bytes a, Bytes b, Bytes bound) {
  return _mm256_add_epi8(_mm256_sub_epi8(a, b), _mm256_andnot_si256(at_least(a, b), bound));
}

class Rounds {
 public:
  explicit Rounds(const ByteRounds& rounds)
      : rounds_(rounds),
        left_size_(all(rounds.left_size)),
        right_size_(all(rounds.right_size)),
        last_right_(all(rounds.right_size - 1U)),
        left_beyond_(all(rounds.left_beyond)) {}

  void operator()(Group& group) const {
    for (std::size_t i = 0; i < ByteRounds::kRounds; i += 2) {
      round<&Halves::left, &Halves::right>(group, rounds_.tables[i], rounds_.right_size, left_size_);
      round<&Halves::right, &Halves::left>(group, rounds_.tables[i + 1], rounds_.left_size, right_size_);
    }
  }

  // A bit for each lane whose value is beyond the last image.
  std::uint32_t beyond(Halves h) const {
    return static_cast<std::uint32_t>(_mm256_movemask_epi8(
        _mm256_and_si256(_mm256_cmpeq_epi8(h.right, last_right_), at_least(h.left, left_beyond_))));
  }
  // Maps such a value again until it is inside.
  std::int64_t walk(std::int64_t value) const {
    const int left_size = rounds_.left_size, right_size = rounds_.right_size;
    int left = static_cast<int>(value % left_size), right = static_cast<int>(value / left_size);
    do {
      for (std::size_t i = 0; i < ByteRounds::kRounds; i += 2) {
        left -= rounds_.tables[i][right];
        left += left < 0 ? left_size : 0;
        right -= rounds_.tables[i + 1][left];
        right += right < 0 ? right_size : 0;
      }
    } while (right == right_size - 1 && left >= rounds_.left_beyond);
    return std::int64_t{right} * left_size + left;
  }

 private:
  // Subtracts table[other half] from a half, 16 entries of the table at a time. Where the other half is among
  // them, adding 0x70 keeps its low four bits and leaves bit 7 clear; everywhere else it sets bit 7, for
  // which a shuffle gives 0.
  template <Bytes Halves::*kHalf, Bytes Halves::*kOther>
  static void round(Group& group, const std::uint8_t* table, unsigned entries, Bytes bound) {
    const Bytes select = all(0x70), sixteen = all(16);
    Bytes index[kVectors], found[kVectors];
    for (std::size_t v = 0; v < kVectors; ++v) {
      index[v] = group.of[v].*kOther;
      found[v] = _mm256_setzero_si256();
    }
    for (unsigned first = 0; first < entries; first += 16) {
      const __m128i part = _mm_load_si128(reinterpret_cast<const __m128i*>(table + first));
      const Bytes sixteen_entries = _mm256_broadcastsi128_si256(part);
      for (std::size_t v = 0; v < kVectors; ++v) {
        const Bytes here = _mm256_shuffle_epi8(sixteen_entries, _mm256_adds_epu8(index[v], select));
        found[v] = _mm256_or_si256(found[v], here);
        index[v] = _mm256_sub_epi8(index[v], sixteen);
      }
    }
    for (std::size_t v = 0; v < kVectors; ++v)
      group.of[v].*kHalf = subtract(group.of[v].*kHalf, found[v], bound);
  }

  const ByteRounds& rounds_;
  Bytes left_size_, right_size_, last_right_, left_beyond_;
};

// The halves of 32 positions; next() advances to the following 32.
class Positions {
 public:
  Positions(const ByteRounds& rounds, std::uint64_t position, std::uint64_t stride)
      : left_size_(all(rounds.left_size)),
        left_step_(all(static_cast<unsigned>(rounds.left_size - kLanes * stride % rounds.left_size))),
        right_step_(all(static_cast<unsigned>(kLanes * stride / rounds.left_size))) {
    alignas(32) unsigned char left[kLanes], right[kLanes];
    for (std::size_t i = 0; i < kLanes; ++i, position += stride) {
      left[i] = static_cast<unsigned char>(position % rounds.left_size);
      right[i] = static_cast<unsigned char>(position / rounds.left_size);
    }
    now_.left = _mm256_load_si256(reinterpret_cast<const Bytes*>(left));
    now_.right = _mm256_load_si256(reinterpret_cast<const Bytes*>(right));
  }

  Halves next() {
    const Halves result = now_;
    // left - (size - step) is left + step modulo the size; where that does not go below 0, there is a carry.
    const Bytes carry = at_least(now_.left, left_step_);
    now_.left = subtract(now_.left, left_step_, left_size_);
    now_.right = _mm256_sub_epi8(_mm256_add_epi8(now_.right, right_step_), carry);
    return result;
  }

 private:
  Bytes left_size_, left_step_, right_step_;
  Halves now_;
};

// The first `count` lanes; the other lanes repeat the first one.
Halves first_of(Halves h, std::size_t count) {
  const auto repeat = [&](Bytes half) {
    alignas(32) unsigned char lanes[kLanes];
    _mm256_store_si256(reinterpret_cast<Bytes*>(lanes), half);
    for (std::size_t i = count; i < kLanes; ++i) lanes[i] = lanes[0];
    return _mm256_load_si256(reinterpret_cast<const Bytes*>(lanes));
  };
  return {repeat(h.left), repeat(h.right)};
}

void store(Halves h, unsigned left_size, std::int64_t* out) {
  const __m256i size = _mm256_set1_epi16(static_cast<short>(left_size));
  const auto words = [&](__m128i left, __m128i right) {
    return _mm256_add_epi16(_mm256_mullo_epi16(_mm256_cvtepu8_epi16(right), size),
                            _mm256_cvtepu8_epi16(left));
  };
  const auto eight = [](__m128i values, std::int64_t* to) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), _mm256_cvtepu16_epi64(values));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + 4), _mm256_cvtepu16_epi64(_mm_srli_si128(values, 8)));
  };
  const auto sixteen = [&](__m256i values, std::int64_t* to) {
    eight(_mm256_castsi256_si128(values), to);
    eight(_mm256_extracti128_si256(values, 1), to + 8);
  };
  sixteen(words(_mm256_castsi256_si128(h.left), _mm256_castsi256_si128(h.right)), out);
  sixteen(words(_mm256_extracti128_si256(h.left, 1), _mm256_extracti128_si256(h.right, 1)), out + 16);
}

}  // namespace

void permute_bytes_avx2(const ByteRounds& byte_rounds, std::uint64_t position, std::uint64_t stride,
                        std::int64_t* out, std::size_t count) {
  const Rounds rounds(byte_rounds);
  Positions positions(byte_rounds, position, stride);
  const auto write = [&](Group group, std::int64_t* to) {
    rounds(group);
    for (std::size_t v = 0; v < kVectors; ++v, to += kLanes) {
      store(group.of[v], byte_rounds.left_size, to);
      for (std::uint32_t lanes = rounds.beyond(group.of[v]); lanes != 0; lanes &= lanes - 1) {
        std::int64_t& value = to[__builtin_ctz(lanes)];
        value = rounds.walk(value);
      }
    }
  };
  constexpr std::size_t kGroup = kVectors * kLanes;
  std::size_t i = 0;
  for (; i + kGroup <= count; i += kGroup) {
    Group group;
    for (Halves& halves : group.of) halves = positions.next();
    write(group, out + i);
  }
  if (i == count) return;
  // The rest; lanes beyond the last position repeat its first lane.
  const Halves first = first_of(positions.next(), count - i);
  Group group{{first}};
  for (std::size_t v = 1; v < kVectors; ++v) {
    const std::size_t done = i + v * kLanes;
    group.of[v] = done < count ? first_of(positions.next(), count - done) : first;
  }
  std::int64_t last[kGroup];
  write(group, last);
  std::memcpy(out + i, last, (count - i) * sizeof(std::int64_t));
}

}  // namespace longtail::sampling
