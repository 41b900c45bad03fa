#include "longtail/data/groups.h"

#include <algorithm>
#include <iterator>

#include "longtail/base/error.h"
#include "longtail/base/text.h"

namespace longtail::data {

Groups Groups::parse(std::string_view text) {
  Groups groups;
  text = base::trim(text);
  groups.name_ = text;
  if (text == "paper") return groups;
  if (text == "default") {  // undecided
    groups.name_ = "paper";
    return groups;
  }
  if (text == "field") {
    groups.tail_up_to_ = 19;
    return groups;
  }
  if (text == "auto") {
    groups.undecided_ = true;
    return groups;
  }
  const auto parts = base::split(text, ',');
  const auto head = base::parse_integer(parts[0]);
  const auto tail = parts.size() == 2 ? base::parse_integer(parts[1]) : std::nullopt;
  if (!head || !tail) {
    const std::vector<std::string> names = {"paper", "field", "auto"};
    base::fail(
        "`{}` is no definition of groups; write `paper`, `field`, `auto`, or two thresholds such as `100,20` "
        "(head "
        "above 100 "
        "images, tail up to 20){}",
        text, base::did_you_mean(text, names));
  }
  if (*tail < 0 || *head < *tail) {
    base::fail(
        "the groups `{}` overlap; the first threshold (head above it) must not be below the second (tail up "
        "to it)",
        text);
  }
  groups.head_above_ = *head;
  groups.tail_up_to_ = *tail;
  groups.name_ = fmt::format("{},{}", *head, *tail);
  return groups;
}

namespace {

// The number of images from which on a class belongs above the cut: the cut between two sizes that is nearest
// to `wanted` classes above, the one with fewer above if two are as near.
std::int64_t cut_below(std::span<const std::int64_t> descending, std::size_t wanted) {
  std::size_t best = 0;
  const auto distance = [&](std::size_t cut) { return cut > wanted ? cut - wanted : wanted - cut; };
  for (std::size_t cut = 1; cut < descending.size(); ++cut) {
    if (descending[cut] < descending[cut - 1] && (best == 0 || distance(cut) < distance(best))) best = cut;
  }
  // Without a cut all classes have one size: they are all above.
  return best == 0 ? descending.back() : descending[best - 1];
}

}  // namespace

Groups Groups::decided(std::span<const std::int64_t> counts) const {
  if (!undecided_) return *this;
  std::vector<std::int64_t> sizes;
  std::copy_if(counts.begin(), counts.end(), std::back_inserter(sizes), [](std::int64_t n) { return n > 0; });
  std::sort(sizes.rbegin(), sizes.rend());
  Groups groups = *this;
  groups.undecided_ = false;
  if (sizes.empty()) return groups;
  groups.head_above_ = cut_below(sizes, (sizes.size() + 1) / 3) - 1;
  groups.tail_up_to_ = std::min(cut_below(sizes, (2 * sizes.size() + 1) / 3) - 1, groups.head_above_);
  return groups;
}

Group Groups::of(std::int64_t count) const {
  if (undecided_) base::fail("the groups `auto` are thirds of classes that are not known here");
  if (count > head_above_) return Group::kHead;
  return count > tail_up_to_ ? Group::kMedium : Group::kTail;
}

std::vector<Group> Groups::of(std::span<const std::int64_t> counts) const {
  const Groups known = decided(counts);
  std::vector<Group> groups;
  for (const std::int64_t count : counts) groups.push_back(known.of(count));
  return groups;
}

std::array<int, 3> Groups::sizes(std::span<const std::int64_t> counts) const {
  std::array<int, 3> sizes{};
  for (const Group group : of(counts)) ++sizes[static_cast<std::size_t>(group)];
  return sizes;
}

std::array<int, 3> Groups::trained_sizes(std::span<const std::int64_t> counts,
                                         std::span<const std::int64_t> tested) const {
  std::array<int, 3> sizes{};
  const std::vector<Group> groups = of(counts);
  for (std::size_t k = 0; k < counts.size(); ++k) {
    if (counts[k] > 0 && (tested.empty() || tested[k] > 0)) ++sizes[static_cast<std::size_t>(groups[k])];
  }
  return sizes;
}

}  // namespace longtail::data
