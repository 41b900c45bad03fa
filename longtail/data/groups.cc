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
  if (text == "field") {
    groups.tail_up_to_ = 19;
    return groups;
  }
  const auto parts = base::split(text, ',');
  const auto head = base::parse_integer(parts[0]);
  const auto tail = parts.size() == 2 ? base::parse_integer(parts[1]) : std::nullopt;
  if (!head || !tail) {
    const std::vector<std::string> names = {"paper", "field"};
    base::fail(
        "`{}` is no definition of groups; write `paper`, `field`, or two thresholds such as `100,20` (head "
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

Group Groups::of(std::int64_t count) const {
  if (count > head_above_) return Group::kHead;
  return count > tail_up_to_ ? Group::kMedium : Group::kTail;
}

std::vector<Group> Groups::of(std::span<const std::int64_t> counts) const {
  std::vector<Group> groups;
  for (const std::int64_t count : counts) groups.push_back(of(count));
  return groups;
}

std::array<int, 3> Groups::sizes(std::span<const std::int64_t> counts) const {
  std::array<int, 3> sizes{};
  for (const std::int64_t count : counts) ++sizes[static_cast<std::size_t>(of(count))];
  return sizes;
}

std::array<int, 3> Groups::trained_sizes(std::span<const std::int64_t> counts) const {
  std::vector<std::int64_t> trained;
  std::copy_if(counts.begin(), counts.end(), std::back_inserter(trained),
               [](std::int64_t n) { return n > 0; });
  return sizes(trained);
}

}  // namespace longtail::data
