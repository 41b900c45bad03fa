#include "longtail/sampling/strata.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "longtail/base/error.h"
#include "longtail/base/philox.h"

namespace longtail::sampling {
namespace {

// The shares in units of the line, adding up to its length: what rounding leaves over goes to the longest.
std::vector<std::uint64_t> lengths_of(std::span<const double> probabilities, int batch) {
  std::vector<std::uint64_t> lengths;
  for (const double p : probabilities) {
    lengths.push_back(
        static_cast<std::uint64_t>(std::llround(p * batch * static_cast<double>(Strata::kUnit))));
  }
  const std::uint64_t sum = std::accumulate(lengths.begin(), lengths.end(), std::uint64_t{0});
  *std::max_element(lengths.begin(), lengths.end()) +=
      static_cast<std::uint64_t>(batch) * Strata::kUnit - sum;
  return lengths;
}

std::vector<int> shuffled(int classes, std::uint32_t number) {
  const base::Stream stream{0, base::Purpose::kStratum, number};
  std::vector<std::pair<std::uint64_t, int>> keys;
  for (int k = 0; k < classes; ++k) {
    const base::Block block = stream.block(static_cast<std::uint64_t>(k));
    keys.emplace_back(base::join(block[0], block[1]), k);
  }
  std::sort(keys.begin(), keys.end());
  std::vector<int> order;
  order.reserve(keys.size());
  for (const auto& [key, k] : keys) order.push_back(k);
  return order;
}

// Points u, kUnit + u, ... below `end`.
std::int64_t points_below(std::uint64_t end, std::uint64_t u) {
  return end <= u ? 0 : static_cast<std::int64_t>((end - u + Strata::kUnit - 1) / Strata::kUnit);
}

}  // namespace

std::int64_t Strata::Order::count(std::size_t i, std::uint64_t u) const {
  return points_below(ends[i], u) - (i == 0 ? 0 : points_below(ends[i - 1], u));
}

Strata::Strata(std::span<const double> probabilities, int batch) : batch_(batch) {
  if (batch < 1 || batch > (1 << 18)) {
    base::fail("stratified batches of {} images; the size of a batch must be known, from 1 to 262,144",
               batch);
  }
  const std::vector<std::uint64_t> lengths = lengths_of(probabilities, batch);
  for (int number = 0; number < kOrders; ++number) {
    Order& order = orders_[static_cast<std::size_t>(number)];
    order.classes = shuffled(static_cast<int>(lengths.size()), static_cast<std::uint32_t>(number));
    std::uint64_t end = 0;
    for (const int k : order.classes) order.ends.push_back(end += lengths[static_cast<std::size_t>(k)]);
  }
}

int Strata::draw(std::uint64_t seed, std::uint32_t epoch, std::uint64_t position) const {
  const auto batch = static_cast<std::uint64_t>(batch_);
  const base::Block block = base::Stream{seed, base::Purpose::kStratum, epoch}.block(position / batch);
  const Order& order = orders_[block[0] % kOrders];
  const std::uint64_t first = base::scale(base::join(block[0], block[1]), batch);
  const std::uint64_t point =
      (position % batch + first) % batch * kUnit + base::join(block[2], block[3]) % kUnit;
  const auto found = std::upper_bound(order.ends.begin(), order.ends.end(), point);
  return order.classes[static_cast<std::size_t>(found - order.ends.begin())];
}

double Strata::absence(std::span<const int> classes) const {
  double absent = 0;
  for (const Order& order : orders_) {
    // The values of u that put a point on one of the classes, as arcs of a circle of kUnit.
    std::vector<std::pair<std::uint64_t, std::uint64_t>> arcs;
    for (std::size_t i = 0; i < order.classes.size(); ++i) {
      if (std::find(classes.begin(), classes.end(), order.classes[i]) == classes.end()) continue;
      const std::uint64_t begin = i == 0 ? 0 : order.ends[i - 1], length = order.ends[i] - begin;
      if (length == 0) continue;
      const std::uint64_t from = begin % kUnit, to = from + std::min(length, kUnit);
      arcs.emplace_back(from, std::min(to, kUnit));
      if (to > kUnit) arcs.emplace_back(0, to - kUnit);
    }
    std::sort(arcs.begin(), arcs.end());
    std::uint64_t covered = 0, end = 0;
    for (const auto& [from, to] : arcs) {
      if (to > end) covered += to - std::max(from, end);
      end = std::max(end, to);
    }
    absent += 1 - static_cast<double>(covered) / static_cast<double>(kUnit);
  }
  return absent / kOrders;
}

}  // namespace longtail::sampling
