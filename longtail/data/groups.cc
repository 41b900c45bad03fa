#include "longtail/data/groups.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "longtail/base/error.h"
#include "longtail/base/spec.h"
#include "longtail/base/text.h"

namespace longtail::data {

namespace {

// What a definition of groups decides.
struct Cut : base::Chosen {
  std::int64_t head_above = 100, tail_up_to = 20;
  bool thirds = false;
  bool by_thresholds = false;
};
struct Thresholds {
  std::int64_t head = 100, tail = 20;
};

struct Paper final : Cut {
  explicit Paper(const base::NoParameters&) {}
};
struct Field final : Cut {
  explicit Field(const base::NoParameters&) { tail_up_to = 19; }
};
struct Thirds final : Cut {
  explicit Thirds(const base::NoParameters&) { thirds = true; }
};
struct ByThresholds final : Cut {
  explicit ByThresholds(const Thresholds& given) {
    head_above = given.head;
    tail_up_to = given.tail;
    by_thresholds = true;
    if (tail_up_to > head_above) {
      base::fail(
          "the groups `{},{}` overlap; the first threshold (head above it) must not be below the second "
          "(tail up to it)",
          head_above, tail_up_to);
    }
  }
};

const base::Family<Cut()>& family() {
  static const base::Family<Cut()> all = [] {
    base::ParamTable<Thresholds> table;
    table.add("head", &Thresholds::head, "Head classes have more images than this.").at_least(0);
    table.add("tail", &Thresholds::tail, "Tail classes have at most so many images.").at_least(0);
    return base::Family<Cut()>(
        "definition of groups",
        {base::variant<Cut(), Paper>("paper", "Head n > 100, medium 20 < n <= 100, tail n <= 20."),
         base::variant<Cut(), Field>("field", "Head n > 100, medium 20 <= n <= 100, tail n < 20."),
         base::variant<Cut(), Thirds>("auto",
                                      "Thirds of the classes by size; classes of one size are never parted."),
         base::variant<Cut(), ByThresholds>("thresholds", "Two thresholds, also written A,B.", table)});
  }();
  return all;
}

// `100,20` is short for `thresholds:head=100,tail=20`.
std::string written_out(std::string_view text) {
  const auto parts = base::split(text, ',');
  if (parts.size() == 2 && base::parse_integer(parts[0]) && base::parse_integer(parts[1]))
    return fmt::format("thresholds:head={},tail={}", base::trim(parts[0]), base::trim(parts[1]));
  if (text.find_first_not_of("0123456789-, ") == std::string_view::npos) {
    base::fail(
        "`{}` is no definition of groups; write `paper`, `field`, `auto`, or two thresholds such as `100,20` "
        "(head above 100 images, tail up to 20)",
        text);
  }
  return std::string(text);
}

}  // namespace

Groups Groups::parse(std::string_view text) {
  text = base::trim(text);
  const auto cut = family().make(written_out(text == "default" ? "paper" : text));  // default: undecided
  Groups groups;
  groups.head_above_ = cut->head_above;
  groups.tail_up_to_ = cut->tail_up_to;
  groups.undecided_ = cut->thirds;
  groups.name_ = cut->by_thresholds ? fmt::format("{},{}", cut->head_above, cut->tail_up_to) : cut->name();
  return groups;
}

namespace {

// The number of classes in head, and in head and medium together. Of all cuts between two sizes it takes the
// two that are together nearest to thirds, and in a tie those with fewer classes above. With only one cut
// medium is empty; without any (all classes have one size) all are head.
std::pair<std::size_t, std::size_t> cut_in_thirds(std::span<const std::int64_t> descending) {
  std::vector<std::size_t> cuts;
  for (std::size_t cut = 1; cut < descending.size(); ++cut) {
    if (descending[cut] < descending[cut - 1]) cuts.push_back(cut);
  }
  if (cuts.empty()) return {descending.size(), descending.size()};
  if (cuts.size() == 1) return {cuts[0], cuts[0]};
  // Three times the distance of a cut from that many thirds.
  const auto off = [&](std::size_t cut, std::size_t thirds) {
    const std::size_t here = 3 * cut, wanted = thirds * descending.size();
    return here > wanted ? here - wanted : wanted - here;
  };
  std::size_t first = cuts[0];  // the best first cut above cuts[i]
  std::pair best{cuts[0], cuts[1]};
  for (std::size_t i = 1; i < cuts.size(); ++i) {
    if (off(first, 1) + off(cuts[i], 2) < off(best.first, 1) + off(best.second, 2)) best = {first, cuts[i]};
    if (off(cuts[i], 1) < off(first, 1)) first = cuts[i];
  }
  return best;
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
  const auto [head, upper] = cut_in_thirds(sizes);
  groups.head_above_ = sizes[head - 1] - 1;
  groups.tail_up_to_ = sizes[upper - 1] - 1;
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
