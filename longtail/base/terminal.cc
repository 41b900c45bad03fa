#include "longtail/base/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>

#include "longtail/base/text.h"

namespace longtail::base {

int terminal_width(int descriptor, int otherwise) {
  winsize size{};
  if (ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  const char* columns = std::getenv("COLUMNS");
  const auto number = columns ? parse_integer(columns) : std::nullopt;
  return number && *number >= 20 && *number <= 1000 ? static_cast<int>(*number) : otherwise;
}

bool has_colours(int descriptor) {
  const char* refused = std::getenv("NO_COLOR");
  const char* kind = std::getenv("TERM");
  return (refused == nullptr || *refused == '\0') && kind != nullptr && std::string_view(kind) != "dumb" &&
         ::isatty(descriptor) != 0;
}

std::string painted(std::string_view text, Colour colour) {
  constexpr const char* kCodes[] = {"1", "2", "31", "32", "33"};
  return std::string("\x1b[") + kCodes[static_cast<std::size_t>(colour)] + "m" + std::string(text) +
         "\x1b[0m";
}

std::string wrapped(std::string_view text, int width, int indent, int first) {
  std::string out;
  int column = first;
  bool fresh = true;  // nothing on this line yet
  for (const std::string& word : split(text, ' ')) {
    if (word.empty()) continue;
    const int length = static_cast<int>(word.size());
    if (!fresh && column + 1 + length > width) {
      out += '\n' + std::string(static_cast<std::size_t>(indent), ' ');
      column = indent;
    } else if (!fresh) {
      out += ' ';
      ++column;
    }
    out += word;
    column += length;
    fresh = false;
  }
  return out;
}

}  // namespace longtail::base
