#include "longtail/sampling/alias.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "longtail/base/error.h"

namespace longtail::sampling {
namespace {

using Fixed = unsigned __int128;  // in units of 2^-64 of a slot
constexpr Fixed kSlot = Fixed{1} << 64;

// The probabilities as integers that fill the slots exactly, so that the rest of the construction has no
// rounding.
std::vector<Fixed> weights_of(std::span<const double> probabilities) {
  const long double sum = std::accumulate(probabilities.begin(), probabilities.end(), 0.0L);
  if (!(sum > 0) || !std::isfinite(sum))
    base::fail("probabilities must have a finite sum above 0, not {}", static_cast<double>(sum));
  const auto classes = static_cast<long double>(probabilities.size());
  std::vector<Fixed> weights;
  for (const double p : probabilities) weights.push_back(static_cast<Fixed>(p / sum * classes * 0x1.0p64L));
  // What rounding leaves over, about 2^-64 per class, goes to the largest.
  const Fixed whole = kSlot * probabilities.size();
  *std::max_element(weights.begin(), weights.end()) +=
      whole - std::accumulate(weights.begin(), weights.end(), Fixed{0});
  return weights;
}

}  // namespace

AliasTable::AliasTable(std::span<const double> probabilities) {
  std::vector<Fixed> left = weights_of(probabilities);
  std::vector<std::int32_t> small, large;
  for (std::size_t k = 0; k < left.size(); ++k)
    (left[k] < kSlot ? small : large).push_back(static_cast<std::int32_t>(k));
  // A slot that is its own alias is full whatever its threshold.
  thresholds_.assign(left.size(), ~std::uint64_t{0});
  aliases_.resize(left.size());
  std::iota(aliases_.begin(), aliases_.end(), 0);
  while (!small.empty()) {
    const auto poor = static_cast<std::size_t>(small.back());
    const auto rich = static_cast<std::size_t>(large.back());
    small.pop_back();
    thresholds_[poor] = static_cast<std::uint64_t>(left[poor]);
    aliases_[poor] = static_cast<std::int32_t>(rich);
    left[rich] -= kSlot - left[poor];
    if (left[rich] < kSlot) {
      large.pop_back();
      small.push_back(static_cast<std::int32_t>(rich));
    }
  }
}

}  // namespace longtail::sampling
