// The alias table of Walker and Vose: a draw from K classes with given probabilities from 64 random bits, in
// constant time. The table is built from integers: a class is drawn with its probability to the precision of
// a double.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace longtail::sampling {

class AliasTable {
 public:
  AliasTable() = default;
  // Probabilities need not sum to 1 exactly; their sum must be above 0. A class of probability 0 is never
  // drawn.
  explicit AliasTable(std::span<const double> probabilities);

  // The high part of bits * K chooses a slot; the low part is a fresh fraction that chooses between the
  // slot's class and its alias.
  std::int32_t draw(std::uint64_t bits) const {
    const auto product = static_cast<unsigned __int128>(bits) * thresholds_.size();
    const auto slot = static_cast<std::size_t>(product >> 64);
    return static_cast<std::uint64_t>(product) < thresholds_[slot] ? static_cast<std::int32_t>(slot)
                                                                   : aliases_[slot];
  }

  std::span<const std::uint64_t> thresholds() const { return thresholds_; }
  std::span<const std::int32_t> aliases() const { return aliases_; }

 private:
  std::vector<std::uint64_t> thresholds_;  // below: the slot's own class, else the alias
  std::vector<std::int32_t> aliases_;
};

}  // namespace longtail::sampling
