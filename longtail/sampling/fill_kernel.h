// The vector code of fill.h, written once for any `Lanes`, the operations of one kind of CPU (fill_avx2.cc,
// fill_avx512.cc). Included only there, and includes nothing with code of its own: those files are compiled
// for CPUs that not everyone has.
#pragma once

#include "longtail/sampling/fill.h"

namespace longtail::sampling {

// Philox 4x32-10 in 64-bit lanes. Only the low half of a lane counts; multiplication ignores the rest, so
// what the rounds leave in the high halves is never cleared. The keys of the rounds are computed once:
// spreading a number over a vector would cost as much as the rest of a round.
template <class Lanes>
class PhiloxLanes {
 public:
  using Vector = typename Lanes::Vector;
  struct Words {
    Vector word[4];
  };

  explicit PhiloxLanes(std::uint64_t seed) {
    auto key0 = static_cast<std::uint32_t>(seed), key1 = static_cast<std::uint32_t>(seed >> 32);
    for (int round = 0; round < kRounds; ++round, key0 += 0x9E3779B9, key1 += 0xBB67AE85) {
      keys_[round][0] = Lanes::all(key0);
      keys_[round][1] = Lanes::all(key1);
    }
  }

  Words operator()(Words w) const {
    const Vector a_factor = Lanes::all(0xD2511F53), b_factor = Lanes::all(0xCD9E8D57);
    for (int round = 0; round < kRounds; ++round) {
      const Vector a = Lanes::multiply(w.word[0], a_factor);
      const Vector b = Lanes::multiply(w.word[2], b_factor);
      w.word[0] = Lanes::exclusive_or(Lanes::high_down(b), w.word[1], keys_[round][0]);
      w.word[1] = b;
      w.word[2] = Lanes::exclusive_or(Lanes::high_down(a), w.word[3], keys_[round][1]);
      w.word[3] = a;
    }
    return w;
  }

 private:
  static constexpr int kRounds = 10;
  Vector keys_[kRounds][2];
};

template <class Lanes>
std::size_t draw_lanes(const DrawTask& task, std::int64_t* out, std::size_t count) {
  using Vector = typename Lanes::Vector;
  constexpr std::size_t kLanes = Lanes::kCount;
  const std::size_t whole = count / kLanes * kLanes;
  const PhiloxLanes<Lanes> philox(task.seed);
  const Vector epoch = Lanes::all(task.epoch), purpose = Lanes::all(task.purpose);
  const Vector classes = Lanes::all(task.classes), low_half = Lanes::all(0xffffffff);
  Vector position = Lanes::ramp(task.position, task.stride);
  const Vector step = Lanes::all(task.stride * kLanes);
  for (std::size_t i = 0; i < whole; i += kLanes) {
    const auto random = philox({{position, Lanes::high_down(position), epoch, purpose}});
    position = Lanes::add(position, step);
    // Words 0 and 1 times the classes: the part above 2^64 is the slot, the part below the fraction.
    const Vector low = Lanes::multiply(random.word[0], classes);
    const Vector high = Lanes::add(Lanes::multiply(random.word[1], classes), Lanes::shift_down(low));
    const Vector slot = Lanes::shift_down(high);
    const Vector fraction = Lanes::either(Lanes::shift_up(high), Lanes::both(low, low_half));
    const Vector threshold = Lanes::gather(task.thresholds, slot);
    const Vector side = Lanes::at_least(fraction, threshold);
    const Vector place = Lanes::gather(task.places, Lanes::add(Lanes::add(slot, slot), side));
    // Words 2 and 3 times the images of the class: the part above 2^64 is the instance.
    const Vector images = Lanes::shift_down(place);
    const Vector below = Lanes::shift_down(Lanes::multiply(random.word[2], images));
    const Vector instance = Lanes::shift_down(Lanes::add(Lanes::multiply(random.word[3], images), below));
    Lanes::store(out + i, Lanes::add(Lanes::both(place, low_half), instance));
  }
  return whole;
}

// Permutation::round over 32-bit lanes, twice as many as 64-bit ones, and its sum with the other half, for
// kVectors vectors side by side: a step waits for the one before it, and the other vectors fill the time.
// That is why the loops go through the vectors and not through the steps. `key` is two vectors.
template <class Lanes, std::size_t kVectors, class Vector>
inline void feistel(Vector* half, const Vector* other, const Vector* key, Vector bound) {
  Vector x[kVectors];
  for (std::size_t v = 0; v < kVectors; ++v) x[v] = Lanes::add32(other[v], key[0]);
  for (std::size_t v = 0; v < kVectors; ++v)
    x[v] = Lanes::exclusive_or(x[v], Lanes::template down32<16>(x[v]));
  for (std::size_t v = 0; v < kVectors; ++v) x[v] = Lanes::low32(x[v], Lanes::all32(0x7feb352d));
  for (std::size_t v = 0; v < kVectors; ++v) x[v] = Lanes::exclusive_or(x[v], key[1]);
  for (std::size_t v = 0; v < kVectors; ++v)
    x[v] = Lanes::exclusive_or(x[v], Lanes::template down32<15>(x[v]));
  for (std::size_t v = 0; v < kVectors; ++v) x[v] = Lanes::low32(x[v], Lanes::all32(0x846ca68b));
  for (std::size_t v = 0; v < kVectors; ++v)
    x[v] = Lanes::exclusive_or(x[v], Lanes::template down32<16>(x[v]));
  for (std::size_t v = 0; v < kVectors; ++v) x[v] = Lanes::add32(half[v], Lanes::high32(x[v], bound));
  // If the sum is already below the bound, the difference wraps around and is larger.
  for (std::size_t v = 0; v < kVectors; ++v) half[v] = Lanes::min32(x[v], Lanes::sub32(x[v], bound));
}

// The halves of consecutive positions, advanced by addition: one division per position would cost more than
// the rounds.
template <class Lanes>
struct Halves {
  using Vector = typename Lanes::Vector;
  Vector left, right;

  Halves() = default;
  Halves(const PermuteTask& task, std::uint64_t first) {
    std::uint32_t lefts[2 * Lanes::kCount], rights[2 * Lanes::kCount];
    for (std::size_t i = 0; i < 2 * Lanes::kCount; ++i) {
      const std::uint64_t position = first + i * task.stride;
      lefts[i] = static_cast<std::uint32_t>(position % task.left_size);
      rights[i] = static_cast<std::uint32_t>(position / task.left_size);
    }
    left = Lanes::load32(lefts);
    right = Lanes::load32(rights);
  }
  void advance(Vector left_step, Vector right_step, Vector left_size) {
    const Vector moved = Lanes::add32(left, left_step);
    left = Lanes::min32(moved, Lanes::sub32(moved, left_size));
    right = Lanes::add_carry32(Lanes::add32(right, right_step), moved, left);
  }
};

// `kVectors` vectors side by side: a round waits for its multiplications, and the other vectors fill the
// time. Continues after `done` draws in whole groups of vectors; returns how many draws are done then.
template <class Lanes, std::size_t kVectors>
std::size_t permute_together(const PermuteTask& task, const typename Lanes::Vector* keys, std::int64_t* out,
                             std::size_t done, std::size_t count) {
  using Vector = typename Lanes::Vector;
  constexpr std::size_t kLanes = 2 * Lanes::kCount, kTogether = kVectors * kLanes;
  if (count - done < kTogether) return done;
  const std::uint64_t step = task.stride * kTogether;
  const Vector left_step = Lanes::all32(static_cast<std::uint32_t>(step % task.left_size));
  const Vector right_step = Lanes::all32(static_cast<std::uint32_t>(step / task.left_size));
  const Vector left_size = Lanes::all32(task.left_size), right_size = Lanes::all32(task.right_size);
  Halves<Lanes> next[kVectors];
  for (std::size_t v = 0; v < kVectors; ++v)
    next[v] = Halves<Lanes>(task, task.position + (done + v * kLanes) * task.stride);
  for (; done + kTogether <= count; done += kTogether) {
    Vector left[kVectors], right[kVectors];
    for (std::size_t v = 0; v < kVectors; ++v) {
      left[v] = next[v].left;
      right[v] = next[v].right;
      next[v].advance(left_step, right_step, left_size);
    }
    for (const Vector* key = keys; key != keys + 2 * task.rounds; key += 4) {
      feistel<Lanes, kVectors>(left, right, key, left_size);
      feistel<Lanes, kVectors>(right, left, key + 2, right_size);
    }
    for (std::size_t v = 0; v < kVectors; ++v)
      Lanes::store_sums(out + done + v * kLanes, right[v], left_size, left[v]);
  }
  return done;
}

template <class Lanes>
std::size_t permute_lanes(const PermuteTask& task, std::int64_t* out, std::size_t count) {
  using Vector = typename Lanes::Vector;
  if (count < 2 * Lanes::kCount) return 0;
  Vector keys[2 * kMostRounds];
  for (std::size_t i = 0; i < 2 * task.rounds; ++i) keys[i] = Lanes::all32(task.keys[i]);
  const std::size_t done = permute_together<Lanes, 6>(task, keys, out, 0, count);
  return permute_together<Lanes, 1>(task, keys, out, done, count);
}

}  // namespace longtail::sampling
