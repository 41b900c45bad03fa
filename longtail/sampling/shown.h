// How strategies are shown: one order, one title and one colour for each, in tables, figures and pages alike.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace longtail::sampling {

// The paper's four, in its order: what commands compare by default.
inline constexpr std::array<std::string_view, 4> kPaperStrategies = {"uniform", "class_balanced",
                                                                     "square_root", "progressive"};
// The same as strings.
std::vector<std::string> paper_strategies();

// "progressive:gamma=2" -> "progressive".
std::string_view strategy_name(std::string_view text);
// The place of a strategy in the order: the paper's first, all others after them. Parameters do not matter.
std::size_t strategy_place(std::string_view text);
// "class_balanced" -> "Class-Balanced"; parameters are left out.
std::string strategy_title(std::string_view text);
// The colour that a strategy has everywhere: uniform blue, class_balanced vermilion, square_root bluish
// green, progressive reddish purple, whatever the parameters. Any other strategy gets one of the remaining
// colours, chosen by its whole text.
std::string_view strategy_colour(std::string_view text);

}  // namespace longtail::sampling
