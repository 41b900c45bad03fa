#include "longtail/data/subset.h"

#include <algorithm>
#include <numeric>

#include "longtail/base/error.h"
#include "longtail/base/file.h"
#include "longtail/base/hash.h"
#include "longtail/base/philox.h"
#include "longtail/base/text.h"
#include "longtail/data/groups.h"
#include "longtail/data/numpy_random.h"
#include "longtail/data/profile.h"
#include "longtail/data/published.h"

namespace longtail::data {
namespace {

using base::fail;

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

// The labels in an order drawn from the seed (Fisher-Yates).
std::vector<std::int64_t> shuffled_order(int classes, std::int64_t seed) {
  std::vector<std::int64_t> order(at(classes));
  std::iota(order.begin(), order.end(), 0);
  const base::Stream stream{static_cast<std::uint64_t>(seed), base::Purpose::kClassOrder, 0};
  for (std::size_t i = order.size(); i-- > 1;) {
    const base::Block block = stream.block(i);
    std::swap(order[i], order[base::scale(base::join(block[0], block[1]), i + 1)]);
  }
  return order;
}

std::vector<std::int64_t> order_from_file(const std::string& path, int classes) {
  std::vector<std::int64_t> order = read_numbers(path);
  std::vector<bool> seen(at(classes));
  for (const std::int64_t label : order) {
    if (label < 0 || label >= classes) fail("{}: label {} is not in 0 ... {}", path, label, classes - 1);
    if (seen[at(label)]) fail("{}: label {} is there twice; every class must be there once", path, label);
    seen[at(label)] = true;
  }
  if (order.size() != at(classes)) {
    fail("{}: {} labels; the order of {} classes needs each of them once", path, order.size(), classes);
  }
  return order;
}

// The labels, largest class first.
std::vector<std::int64_t> class_order(const std::string& text, int classes, std::int64_t seed) {
  if (text == "label") {
    std::vector<std::int64_t> order(at(classes));
    std::iota(order.begin(), order.end(), 0);
    return order;
  }
  if (text == "shuffled") return shuffled_order(classes, seed);
  if (text.starts_with("shuffled:")) {
    const auto own = base::parse_integer(text.substr(text.find(':') + 1));
    if (!own)
      fail<base::UsageError>(
          "`class_order` is `{}`; write a whole number after the colon, as in `shuffled:7`", text);
    return shuffled_order(classes, *own);
  }
  return order_from_file(text, classes);
}

std::vector<std::int64_t> counts_from_file(const std::string& path, int classes) {
  if (path.empty()) fail("the profile `counts` needs a file of counts; give `counts_file`");
  std::vector<std::int64_t> counts = read_numbers(path);
  if (counts.size() != at(classes)) {
    fail("{}: {} counts for {} classes; write one number per line, in label order", path, counts.size(),
         classes);
  }
  for (std::size_t k = 0; k < counts.size(); ++k) {
    if (counts[k] < 0) fail("{}: class {} has the count {}; a count cannot be negative", path, k, counts[k]);
  }
  if (std::accumulate(counts.begin(), counts.end(), std::int64_t{0}) == 0) fail("{}: every count is 0", path);
  return counts;
}

std::int64_t largest_class(const SubsetConfig& config, std::span<const std::int64_t> available) {
  if (config.n_max > 0) return config.n_max;
  const auto smallest = std::min_element(available.begin(), available.end());
  if (*smallest == 0) {
    fail(
        "class {} has no images, so `n_max` cannot be taken from the smallest class; use the profile "
        "`natural`, or "
        "`counts` with 0 for that class",
        smallest - available.begin());
  }
  return *smallest;
}

std::vector<std::int64_t> by_label(std::span<const std::int64_t> by_rank,
                                   std::span<const std::int64_t> order) {
  std::vector<std::int64_t> counts(by_rank.size());
  for (std::size_t rank = 0; rank < by_rank.size(); ++rank) counts[at(order[rank])] = by_rank[rank];
  return counts;
}

// "`natural` (the default for your own data)".
std::string profile_words(const SubsetConfig& decided, std::string_view dataset) {
  const bool own = decided.profile == "natural" && !find_published(dataset);
  return fmt::format("`{}`{}", decided.profile, own ? " (the default for your own data)" : "");
}

void check_available(std::span<const std::int64_t> counts, std::span<const std::int64_t> available) {
  for (std::size_t k = 0; k < counts.size(); ++k) {
    if (counts[k] <= available[k]) continue;
    fail("class {} has {} images, but the profile asks for {}; lower `n_max` or the count of that class", k,
         available[k], counts[k]);
  }
}

}  // namespace

base::ParamTable<SubsetConfig> subset_params() {
  base::ParamTable<SubsetConfig> table("data");
  table
      .add("profile", &SubsetConfig::profile,
           "Class sizes: exponential as in the paper, a step, all images as they are (natural), or counts "
           "from a file; default is exp for the published data sets and natural for your own.")
      .one_of({"default", "exp", "step", "natural", "counts"});
  table.add("rho", &SubsetConfig::rho, "Imbalance ratio: the largest class over the smallest (exp and step).")
      .at_least(1);
  table
      .add("n_max", &SubsetConfig::n_max,
           "Images in the largest class (exp and step); 0 takes as many as the smallest class of the data "
           "set has.")
      .at_least(0);
  table.add("counts_file", &SubsetConfig::counts_file,
            "For the profile counts: a file with the number of images of each class, one per line, in label "
            "order.");
  table
      .add("class_order", &SubsetConfig::class_order,
           "Which class is the largest (exp and step): label order, shuffled by the run's seed, by a seed of "
           "its own (shuffled:7), or a file of labels, largest class first.")
      .check("label | shuffled | shuffled:SEED | FILE", [](const std::string& text) {
        if (text.empty())
          fail("`class_order` is empty; write label, shuffled, shuffled:SEED or the name of a file");
      });
  table
      .add("groups", &SubsetConfig::groups,
           "Head, medium and tail by class size: paper (>100, 21..100, <=20), field (>100, 20..100, <20) or "
           "two thresholds A,B (head above A, tail up to B), or auto (thirds of the classes by size); "
           "default is "
           "paper for the published data sets and auto for your own.")
      .check("default | paper | field | auto | A,B", [](const std::string& text) {
        if (text != "default") Groups::parse(text);
      });
  return table;
}

std::string Subset::hash() const {
  base::Hasher hasher(base::Hasher::kSha256);
  hasher.add(std::span<const std::int32_t>(indices));
  return hasher.hex();
}

SubsetConfig decided(const SubsetConfig& config, std::string_view dataset) {
  const bool published = find_published(dataset) != nullptr;
  SubsetConfig result = config;
  if (result.profile == "default") result.profile = published ? "exp" : "natural";
  if (result.groups == "default") result.groups = published ? "paper" : "auto";
  return result;
}

void refuse_idle_ratio(const SubsetConfig& decided, std::string_view dataset) {
  if (takes_ratio(decided)) return;
  fail<base::UsageError>(
      "`rho` cuts the classes to a ratio, but the profile {} takes none; leave `rho` out, or choose the "
      "profile `exp` or `step`",
      profile_words(decided, dataset));
}

void refuse_idle_cut(const SubsetConfig& decided, std::string_view dataset, bool ratio_given) {
  if (ratio_given) refuse_idle_ratio(decided, dataset);
  const SubsetConfig initial;
  const std::string idle = decided.n_max != initial.n_max               ? "n_max"
                           : decided.class_order != initial.class_order ? "class_order"
                                                                        : "";
  if (takes_ratio(decided) || idle.empty()) return;
  fail<base::UsageError>(
      "`{0}` says how classes are cut, but the profile {1} does not cut them so; leave `{0}` out, or choose "
      "the profile `exp` or `step`",
      idle, profile_words(decided, dataset));
}

bool takes_ratio(const SubsetConfig& config) {
  return config.profile == "exp" || config.profile == "step" || config.profile == "default";
}

bool is_order_file(std::string_view class_order) {
  return class_order != "label" && class_order != "shuffled" && !class_order.starts_with("shuffled:");
}

std::string severity(const SubsetConfig& config) {
  return takes_ratio(config) ? fmt::format("rho {:g}", config.rho) : config.profile;
}

std::vector<std::int64_t> profile_counts(const SubsetConfig& config, std::span<const std::int64_t> available,
                                         std::int64_t seed) {
  if (available.empty()) fail("a data set without classes has no long-tailed subset");
  const base::ParamTable<SubsetConfig> table = subset_params();
  for (const auto& entry : table.entries()) {
    for (const auto& test : entry.checks) test(config);
  }
  if (!config.counts_file.empty() && config.profile != "counts") {
    fail("`counts_file` is `{}`, but the profile is `{}`; choose the profile `counts` or leave the file out",
         config.counts_file, config.profile);
  }
  const int classes = static_cast<int>(available.size());
  std::vector<std::int64_t> counts;
  if (config.profile == "natural") {
    counts.assign(available.begin(), available.end());
  } else if (config.profile == "counts") {
    counts = counts_from_file(config.counts_file, classes);
  } else {
    const std::int64_t n_max = largest_class(config, available);
    counts = by_label(config.profile == "step" ? step_profile(classes, n_max, config.rho)
                                               : exponential_profile(classes, n_max, config.rho),
                      class_order(config.class_order, classes, seed));
  }
  check_available(counts, available);
  return counts;
}

std::vector<std::int64_t> count_labels(std::span<const std::int32_t> labels, int classes) {
  std::vector<std::int64_t> counts(at(classes));
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] < 0 || labels[i] >= classes) {
      fail("image {} has the label {}; labels must be in 0 ... {}", i, labels[i], classes - 1);
    }
    ++counts[at(labels[i])];
  }
  return counts;
}

Subset make_subset(const SubsetConfig& config, std::span<const std::int32_t> labels, int classes,
                   std::int64_t seed) {
  const std::vector<std::int64_t> available = count_labels(labels, classes);
  Subset subset;
  subset.counts = profile_counts(config, available, seed);
  std::vector<std::vector<std::int32_t>> images(at(classes));
  for (std::size_t i = 0; i < labels.size(); ++i)
    images[at(labels[i])].push_back(static_cast<std::int32_t>(i));
  NumpyRandomState random(seed);
  for (std::size_t k = 0; k < images.size(); ++k) {
    // Shuffled even when all are kept: which images a class gets must not depend on how many the classes
    // before it keep.
    if (config.profile != "natural") random.shuffle(std::span(images[k]));
    subset.first.push_back(subset.size());
    subset.indices.insert(subset.indices.end(), images[k].begin(), images[k].begin() + subset.counts[k]);
  }
  return subset;
}

CountStatistics count_statistics(std::span<const std::int64_t> counts) {
  if (counts.empty()) return {};
  std::vector<std::int64_t> sorted(counts.begin(), counts.end());
  std::sort(sorted.begin(), sorted.end());
  const std::size_t n = sorted.size();
  const double median = (static_cast<double>(sorted[(n - 1) / 2]) + static_cast<double>(sorted[n / 2])) / 2;
  return {std::accumulate(sorted.begin(), sorted.end(), std::int64_t{0}), sorted.back(), sorted.front(),
          median};
}

std::vector<std::int64_t> read_numbers(const std::filesystem::path& path) {
  const std::string text = base::read_text(path);
  std::vector<std::int64_t> numbers;
  int line_number = 0;
  for (const std::string& line : base::split(base::without_mark(text), '\n')) {
    ++line_number;
    const std::string_view value = base::trim(std::string_view(line).substr(0, line.find('#')));
    if (value.empty()) continue;
    const auto number = base::parse_integer(value);
    if (!number) fail("{}:{}: `{}` is not a whole number", path.string(), line_number, value);
    numbers.push_back(*number);
  }
  return numbers;
}

}  // namespace longtail::data
