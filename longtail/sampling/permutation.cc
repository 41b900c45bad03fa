#include "longtail/sampling/permutation.h"

#include <cmath>

#include "longtail/base/error.h"
#include "longtail/base/philox.h"

namespace longtail::sampling {

Permutation::Permutation(std::uint64_t n, std::uint64_t seed, std::uint32_t epoch)
    : n_(n), rounds_(n < kFew ? kRoundsOfFew : kRounds) {
  if (n < 1 || n > std::uint64_t{1} << 61)
    base::fail("cannot permute {} images; from 1 to 2^61 are possible", n);
  // An even side makes odd permutations as likely as even ones: rotations of an odd number of values are all
  // even.
  auto side = static_cast<std::uint64_t>(std::sqrt(static_cast<double>(n)));
  side += side % 2;
  left_size_ = static_cast<std::uint32_t>(side);
  right_size_ = static_cast<std::uint32_t>((n + side - 1) / side);
  const base::Stream stream{seed, base::Purpose::kPermutation, epoch};
  for (std::size_t i = 0; i < rounds_; i += 2) {
    const base::Block block = stream.block(i / 2);
    keys_[i] = {block[0], block[1]};
    keys_[i + 1] = {block[2], block[3]};
  }
}

}  // namespace longtail::sampling
