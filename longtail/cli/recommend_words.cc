#include "longtail/cli/recommend_words.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "longtail/base/text.h"
#include "longtail/data/subset.h"

namespace longtail::cli {
namespace {

constexpr std::size_t kMostBars = 30;
constexpr std::size_t kLongestName = 24;

struct Bar {
  std::string label;
  double images = 0;
};

// Cuts the name without splitting a UTF-8 character.
std::string shortened(const std::string& name) {
  if (name.size() <= kLongestName) return name;
  std::size_t end = kLongestName - 3;
  while (end > 0 && (static_cast<unsigned char>(name[end]) & 0xC0) == 0x80) --end;
  return name.substr(0, end) + "...";
}

std::size_t letters(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

std::vector<Bar> bars_of(std::span<const std::int64_t> counts, std::span<const std::string> names) {
  std::vector<std::size_t> order(counts.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return counts[a] > counts[b]; });
  const std::size_t bars = std::min(kMostBars, order.size());
  std::vector<Bar> result;
  for (std::size_t i = 0; i < bars; ++i) {
    const std::size_t from = i * order.size() / bars, to = (i + 1) * order.size() / bars;
    double sum = 0;
    for (std::size_t j = from; j < to; ++j) sum += static_cast<double>(counts[order[j]]);
    const std::string label =
        to - from == 1 ? shortened(names[order[from]])
                       : fmt::format("{} and {} more", shortened(names[order[from]]), to - from - 1);
    result.push_back({label, sum / static_cast<double>(to - from)});
  }
  return result;
}

}  // namespace

double gini(std::span<const std::int64_t> counts) {
  std::vector<std::int64_t> sorted(counts.begin(), counts.end());
  std::sort(sorted.begin(), sorted.end());
  double sum = 0, weighted = 0;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    sum += static_cast<double>(sorted[i]);
    weighted += static_cast<double>(i + 1) * static_cast<double>(sorted[i]);
  }
  const auto n = static_cast<double>(sorted.size());
  return sum > 0 ? 2 * weighted / (n * sum) - (n + 1) / n : 0;
}

std::string class_picture(std::span<const std::int64_t> counts, std::span<const std::string> names,
                          int width) {
  const std::vector<Bar> bars = bars_of(counts, names);
  std::size_t longest = 0;
  for (const Bar& bar : bars) longest = std::max(longest, letters(bar.label));
  const auto room = static_cast<double>(std::max<int>(width - static_cast<int>(longest) - 12, 10));
  const double largest = bars.empty() ? 1 : std::max(1.0, bars.front().images);
  std::string text;
  for (const Bar& bar : bars) {
    const auto length = static_cast<std::size_t>(std::max(1.0, std::round(room * bar.images / largest)));
    text += fmt::format("  {}{}  {} {}\n", bar.label, std::string(longest - letters(bar.label), ' '),
                        std::string(bar.images > 0 ? length : 0, '#'),
                        base::with_commas(std::llround(bar.images)));
  }
  return text;
}

std::string class_words(std::span<const std::int64_t> counts) {
  const data::CountStatistics sizes = data::count_statistics(counts);
  const double ratio =
      static_cast<double>(sizes.max) / static_cast<double>(std::max<std::int64_t>(sizes.min, 1));
  return fmt::format(
      "{} classes, {} training images: {} to {} each, ratio {:.3g}, Gini {:.2f} (0 is balanced).",
      base::with_commas(static_cast<std::int64_t>(counts.size())), base::with_commas(sizes.total),
      base::with_commas(sizes.max), base::with_commas(sizes.min), ratio, gini(counts));
}

std::string size_words(const RecommendPlan& plan) {
  if (plan.picture_side <= plan.config.image_size) return "";
  return fmt::format(
      "The answer is about images of {0}x{0} pixels: the pictures were averaged down to that, and half of "
      "them are {1} or more at the shorter side. With larger images it may be another.",
      plan.config.image_size, plan.picture_side);
}

std::string look_words(const report::Race& race, const std::vector<std::string>& words, int seeds) {
  const auto list = [&](const std::vector<std::size_t>& rows) {
    std::vector<std::string> names;
    names.reserve(rows.size());
    for (const std::size_t row : rows) names.push_back(words[row]);
    return base::join(names, ", ");
  };
  const std::string out =
      race.dropped.empty() ? "none is ruled out" : fmt::format("ruled out: {}", list(race.dropped));
  return fmt::format("After {} seeds {}; {}: {}.", seeds, out,
                     race.still_in.size() == 1 ? "the best is" : "may be the best", list(race.still_in));
}

}  // namespace longtail::cli
