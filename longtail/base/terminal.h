// What the program knows about the terminal it writes to.
#pragma once

#include <string>
#include <string_view>

namespace longtail::base {

// Columns of the terminal behind the file descriptor; without a terminal $COLUMNS, or else `otherwise`.
int terminal_width(int descriptor, int otherwise = 80);

// Whether to use colours there: a terminal that has them, and no NO_COLOR (no-color.org).
bool has_colours(int descriptor);

enum class Colour { kBold, kDim, kRed, kGreen, kYellow };
// The text between the escape codes of the colour.
std::string painted(std::string_view text, Colour colour);

// Breaks at spaces so that no line is longer than `width` (a longer word stays whole); every line but the
// first begins with `indent` spaces, and the first is taken to begin at column `first`.
std::string wrapped(std::string_view text, int width, int indent = 0, int first = 0);

}  // namespace longtail::base
