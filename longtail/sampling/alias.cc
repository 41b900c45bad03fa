#include "longtail/sampling/alias.h"

#include <numeric>

namespace longtail::sampling {

AliasTable::AliasTable(std::span<const double> probabilities) {
  const std::size_t classes = probabilities.size();
  const double sum = std::accumulate(probabilities.begin(), probabilities.end(), 0.0);
  // In units of a slot: 1 fills one.
  std::vector<double> left;
  std::vector<std::int32_t> small, large;
  for (std::size_t k = 0; k < classes; ++k) {
    left.push_back(probabilities[k] / sum * static_cast<double>(classes));
    (left[k] < 1 ? small : large).push_back(static_cast<std::int32_t>(k));
  }
  // A slot that is its own alias is full whatever its threshold: what rounding leaves over at the end.
  thresholds_.assign(classes, ~std::uint64_t{0});
  aliases_.resize(classes);
  std::iota(aliases_.begin(), aliases_.end(), 0);
  while (!small.empty() && !large.empty()) {
    const auto poor = static_cast<std::size_t>(small.back());
    const auto rich = static_cast<std::size_t>(large.back());
    small.pop_back();
    thresholds_[poor] = static_cast<std::uint64_t>(left[poor] * 0x1.0p64);
    aliases_[poor] = static_cast<std::int32_t>(rich);
    left[rich] = (left[rich] + left[poor]) - 1;
    if (left[rich] < 1) {
      large.pop_back();
      small.push_back(static_cast<std::int32_t>(rich));
    }
  }
}

}  // namespace longtail::sampling
