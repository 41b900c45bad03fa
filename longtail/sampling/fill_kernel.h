// The vector code of fill.h, written once over `Lanes`: how a CPU does it (fill_avx2.cc, fill_avx512.cc).
// Included only there, and includes nothing with code of its own: those files are compiled for CPUs that not
// everyone has.
#pragma once

#include "longtail/sampling/fill.h"

namespace longtail::sampling {

// Philox 4x32-10 in 64-bit lanes. Only the low half of a lane counts; multiplying ignores the rest, so what
// the rounds leave in the high halves is never cleared.
template <class Lanes>
struct PhiloxLanes {
  using Vector = typename Lanes::Vector;
  Vector word[4];

  void rounds(std::uint64_t seed) {
    auto key0 = static_cast<std::uint32_t>(seed), key1 = static_cast<std::uint32_t>(seed >> 32);
    const Vector a_factor = Lanes::all(0xD2511F53), b_factor = Lanes::all(0xCD9E8D57);
    for (int round = 0; round < 10; ++round) {
      const Vector a = Lanes::multiply(word[0], a_factor);
      const Vector b = Lanes::multiply(word[2], b_factor);
      word[0] = Lanes::exclusive_or(Lanes::high_down(b), word[1], Lanes::all(key0));
      word[1] = b;
      word[2] = Lanes::exclusive_or(Lanes::high_down(a), word[3], Lanes::all(key1));
      word[3] = a;
      key0 += 0x9E3779B9;
      key1 += 0xBB67AE85;
    }
  }
};

template <class Lanes>
std::size_t draw_lanes(const DrawTask& task, std::int64_t* out, std::size_t count) {
  using Vector = typename Lanes::Vector;
  constexpr std::size_t kLanes = Lanes::kCount;
  const std::size_t whole = count / kLanes * kLanes;
  const Vector classes = Lanes::all(task.classes), low_half = Lanes::all(0xffffffff);
  Vector position = Lanes::ramp(task.position, task.stride);
  const Vector step = Lanes::all(task.stride * kLanes);
  for (std::size_t i = 0; i < whole; i += kLanes) {
    PhiloxLanes<Lanes> philox{
        {position, Lanes::high_down(position), Lanes::all(task.epoch), Lanes::all(task.purpose)}};
    philox.rounds(task.seed);
    position = Lanes::add(position, step);
    // Words 0 and 1 times the classes: the part above 2^64 is the slot, the part below the fraction.
    const Vector low = Lanes::multiply(philox.word[0], classes);
    const Vector high = Lanes::add(Lanes::multiply(philox.word[1], classes), Lanes::shift_down(low));
    const Vector slot = Lanes::shift_down(high);
    const Vector fraction = Lanes::either(Lanes::shift_up(high), Lanes::both(low, low_half));
    const Vector threshold = Lanes::gather(task.thresholds, slot);
    const Vector side = Lanes::at_least(fraction, threshold);
    const Vector place = Lanes::gather(task.places, Lanes::add(Lanes::add(slot, slot), side));
    // Words 2 and 3 times the images of the class: the part above 2^64 is the instance.
    const Vector images = Lanes::shift_down(place);
    const Vector below = Lanes::shift_down(Lanes::multiply(philox.word[2], images));
    const Vector instance = Lanes::shift_down(Lanes::add(Lanes::multiply(philox.word[3], images), below));
    Lanes::store(out + i, Lanes::add(Lanes::both(place, low_half), instance));
  }
  return whole;
}

// Permutation::round over 32-bit lanes, twice as many as 64-bit ones.
template <class Lanes>
typename Lanes::Vector feistel(typename Lanes::Vector half, typename Lanes::Vector other,
                               const std::uint32_t* key, typename Lanes::Vector bound) {
  using Vector = typename Lanes::Vector;
  Vector x = Lanes::add32(other, Lanes::all32(key[0]));
  x = Lanes::low32(Lanes::exclusive_or(x, Lanes::template down32<16>(x)), Lanes::all32(0x7feb352d));
  x = Lanes::exclusive_or(x, Lanes::all32(key[1]));
  x = Lanes::low32(Lanes::exclusive_or(x, Lanes::template down32<15>(x)), Lanes::all32(0x846ca68b));
  x = Lanes::exclusive_or(x, Lanes::template down32<16>(x));
  const Vector sum = Lanes::add32(half, Lanes::high32(x, bound));
  return Lanes::min32(
      sum, Lanes::sub32(sum, bound));  // below the bound already: the difference wraps and is larger
}

template <class Lanes>
std::size_t permute_lanes(const PermuteTask& task, std::int64_t* out, std::size_t count) {
  using Vector = typename Lanes::Vector;
  constexpr std::size_t kLanes = 2 * Lanes::kCount;
  const std::size_t whole = count / kLanes * kLanes;
  if (whole == 0) return 0;
  std::uint32_t left_start[kLanes], right_start[kLanes];
  for (std::size_t i = 0; i < kLanes; ++i) {
    const std::uint64_t position = task.position + i * task.stride;
    left_start[i] = static_cast<std::uint32_t>(position % task.left_size);
    right_start[i] = static_cast<std::uint32_t>(position / task.left_size);
  }
  Vector next_left = Lanes::load32(left_start), next_right = Lanes::load32(right_start);
  const std::uint64_t step = task.stride * kLanes;
  const Vector left_step = Lanes::all32(static_cast<std::uint32_t>(step % task.left_size));
  const Vector right_step = Lanes::all32(static_cast<std::uint32_t>(step / task.left_size));
  const Vector left_size = Lanes::all32(task.left_size), right_size = Lanes::all32(task.right_size);
  for (std::size_t i = 0; i < whole; i += kLanes) {
    Vector left = next_left, right = next_right;
    const Vector moved = Lanes::add32(next_left, left_step);
    next_left = Lanes::min32(moved, Lanes::sub32(moved, left_size));
    next_right = Lanes::add_carry32(Lanes::add32(next_right, right_step), moved, next_left);
    for (std::size_t round = 0; round < task.rounds; round += 2) {
      left = feistel<Lanes>(left, right, task.keys + 2 * round, left_size);
      right = feistel<Lanes>(right, left, task.keys + 2 * round + 2, right_size);
    }
    Lanes::store_sums(out + i, right, left_size, left);
  }
  return whole;
}

}  // namespace longtail::sampling
