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
