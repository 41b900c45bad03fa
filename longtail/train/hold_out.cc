#include "longtail/train/hold_out.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "longtail/base/error.h"
#include "longtail/base/philox.h"

namespace longtail::train {

std::int64_t held_out_count(std::int64_t count, double fraction) {
  const std::int64_t wanted = std::llround(fraction * static_cast<double>(count));
  return std::clamp<std::int64_t>(wanted, 0, std::max<std::int64_t>(count - 1, 0));
}

double decided_fraction(double fraction, std::span<const std::int64_t> counts,
                        std::span<const data::Group> groups) {
  constexpr double kTenth = 0.1;
  constexpr std::int64_t kEnough = 10;
  if (fraction >= 0) return fraction;
  std::array<std::int64_t, 3> images{}, classes{};
  for (std::size_t k = 0; k < counts.size(); ++k) {
    const auto group = static_cast<std::size_t>(groups[k]);
    images[group] += held_out_count(counts[k], kTenth);
    classes[group] += counts[k] > 0;
  }
  for (std::size_t g = 0; g < images.size(); ++g) {
    if (classes[g] > 0 && images[g] < kEnough) return 0;
  }
  return kTenth;
}

HeldOut hold_out(const data::Subset& subset, double fraction, std::int64_t seed) {
  const base::Stream stream{.seed = static_cast<std::uint64_t>(seed), .purpose = base::Purpose::kHoldOut};
  HeldOut result;
  for (std::size_t k = 0; k < subset.counts.size(); ++k) {
    const std::int64_t count = subset.counts[k];
    const std::int64_t out = held_out_count(count, fraction);
    // The images with the smallest draws are held out; both parts keep the order of the subset.
    std::vector<std::pair<std::uint64_t, std::int64_t>> draws;
    for (std::int64_t i = 0; i < count; ++i) {
      const base::Block block = stream.block(static_cast<std::uint64_t>(subset.first[k] + i));
      draws.emplace_back(base::join(block[0], block[1]), i);
    }
    std::sort(draws.begin(), draws.end());
    std::vector<bool> chosen(static_cast<std::size_t>(count));
    for (std::int64_t i = 0; i < out; ++i)
      chosen[static_cast<std::size_t>(draws[static_cast<std::size_t>(i)].second)] = true;
    for (data::Subset* part : {&result.training, &result.validation}) {
      part->first.push_back(part->size());
      part->counts.push_back(part == &result.validation ? out : count - out);
    }
    for (std::int64_t i = 0; i < count; ++i) {
      data::Subset& part = chosen[static_cast<std::size_t>(i)] ? result.validation : result.training;
      part.indices.push_back(subset.indices[static_cast<std::size_t>(subset.first[k] + i)]);
    }
  }
  if (result.validation.indices.empty()) {
    base::fail("`val_fraction` is {}, which holds out no image of any class; use a larger fraction",
               fraction);
  }
  return result;
}

}  // namespace longtail::train
