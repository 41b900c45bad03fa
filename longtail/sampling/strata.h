// Stratified batches: of the b draws of a batch, class k gets floor(b p_k) or one more, b p_k on average. The
// classes lie one after the other on a line of length b, each as long as its share b p_k; the draws of a
// batch are the points u, 1 + u, 2 + u, ... on that line (systematic sampling) with one random u. The order
// of the classes on the line is one of 16 fixed ones, chosen at random for each batch, so that any two
// classes can meet. Which point comes first is random too; the others follow cyclically. So every position
// has the probabilities of the strategy, and an incomplete batch is an unbiased part of a whole one.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace longtail::sampling {

class Strata {
 public:
  static constexpr int kOrders = 16;
  // Lengths are multiples of 1 / kUnit, so that a share that is a whole number gets exactly that many draws.
  static constexpr std::uint64_t kUnit = std::uint64_t{1} << 44;

  // One order of the classes. Class `classes[i]` ends at `ends[i]` on the line and begins where the one
  // before it ends.
  struct Order {
    std::vector<int> classes;
    std::vector<std::uint64_t> ends;

    // Draws that fall on classes[i] if the points are u, kUnit + u, ...
    std::int64_t count(std::size_t i, std::uint64_t u) const;
  };

  Strata() = default;
  Strata(std::span<const double> probabilities, int batch);

  // The class of a position of an epoch.
  int draw(std::uint64_t seed, std::uint32_t epoch, std::uint64_t position) const;
  int batch() const { return batch_; }
  const std::array<Order, kOrders>& orders() const { return orders_; }
  // The chance that a batch has no draw of these classes.
  double absence(std::span<const int> classes) const;

 private:
  int batch_ = 0;
  std::array<Order, kOrders> orders_;
};

}  // namespace longtail::sampling
