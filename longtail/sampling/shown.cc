#include "longtail/sampling/shown.h"

#include <algorithm>
#include <cctype>
#include <cstdint>

#include "longtail/base/gnuplot.h"

namespace longtail::sampling {
namespace {

// Indices into base::kOkabeIto: the colours of the paper's strategies, and those left for other strategies
// (yellow is too pale for lines).
constexpr std::array<std::size_t, kPaperStrategies.size()> kColours = {5, 6, 3, 7};
constexpr std::array<std::size_t, 3> kOtherColours = {1, 2, 0};

}  // namespace

std::vector<std::string> paper_strategies() { return {kPaperStrategies.begin(), kPaperStrategies.end()}; }

std::string_view strategy_name(std::string_view text) { return text.substr(0, text.find_first_of(" :(")); }

std::size_t strategy_place(std::string_view text) {
  return static_cast<std::size_t>(
      std::find(kPaperStrategies.begin(), kPaperStrategies.end(), strategy_name(text)) -
      kPaperStrategies.begin());
}

std::string strategy_title(std::string_view text) {
  std::string title;
  bool start = true;
  for (const char c : strategy_name(text)) {
    title += c == '_' ? '-' : start ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
    start = c == '_';
  }
  return title;
}

std::string_view strategy_colour(std::string_view text) {
  const std::size_t place = strategy_place(text);
  if (place < kColours.size()) return base::kOkabeIto[kColours[place]];
  std::uint32_t sum = 0;
  for (const char letter : text) sum = sum * 31 + static_cast<unsigned char>(letter);
  return base::kOkabeIto[kOtherColours[sum % kOtherColours.size()]];
}

}  // namespace longtail::sampling
