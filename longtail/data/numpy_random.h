// NumPy's legacy np.random.RandomState(seed), as far as choosing a subset needs it: the same numbers, bit for
// bit.
#pragma once

#include <cstdint>
#include <random>
#include <span>
#include <utility>

namespace longtail::data {

class NumpyRandomState {
 public:
  // An integer seed from 0 to 2^32 - 1, like NumPy; an Error otherwise.
  explicit NumpyRandomState(std::int64_t seed);

  // The next 32 and 64 random bits of the generator.
  std::uint32_t next32() { return static_cast<std::uint32_t>(engine_()); }
  std::uint64_t next64();

  // Uniform in [0, max], both included (random_interval): masked bits, again until one fits.
  std::uint64_t interval(std::uint64_t max);

  // RandomState.shuffle of a one-dimensional array: from the last element down.
  template <class T>
  void shuffle(std::span<T> values) {
    for (std::size_t i = values.size(); i-- > 1;) std::swap(values[i], values[interval(i)]);
  }

 private:
  std::mt19937 engine_;  // the standard's seeding by one integer is the one NumPy uses
};

}  // namespace longtail::data
