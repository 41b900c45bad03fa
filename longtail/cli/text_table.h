// A table for the terminal: the first column left-aligned, the others right-aligned, a line under the header.
// A heading may have two lines ("share of\nlargest").
#pragma once

#include <unistd.h>

#include <algorithm>
#include <string>
#include <vector>

#include "longtail/base/terminal.h"

namespace longtail::cli {

// Text above a table, wrapped at the width of the terminal; lines after the first begin with `indent` spaces.
inline std::string sentences(const std::string& text, int indent = 0) {
  return base::wrapped(text, std::min(base::terminal_width(STDOUT_FILENO), 100), indent) + "\n";
}

class TextTable {
 public:
  explicit TextTable(const std::vector<std::string>& header) {
    std::vector<std::string> upper, lower;
    for (const std::string& cell : header) {
      const std::size_t cut = cell.find('\n');
      two_lines_ = two_lines_ || cut != std::string::npos;
      upper.push_back(cut == std::string::npos ? "" : cell.substr(0, cut));
      lower.push_back(cut == std::string::npos ? cell : cell.substr(cut + 1));
    }
    rows_ = {std::move(upper), std::move(lower)};
  }
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }

  std::string text() const {
    std::vector<std::size_t> widths;
    for (const auto& row : rows_) {
      widths.resize(std::max(widths.size(), row.size()));
      for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], row[c].size());
    }
    std::string out;
    for (std::size_t r = two_lines_ ? 0 : 1; r < rows_.size(); ++r) {
      for (std::size_t c = 0; c < rows_[r].size(); ++c) {
        const std::string pad(widths[c] - rows_[r][c].size(), ' ');
        out += c == 0 ? "  " + rows_[r][c] + pad : "  " + pad + rows_[r][c];
      }
      while (out.ends_with(' ')) out.pop_back();
      out += '\n';
      if (r != 1) continue;
      for (const std::size_t width : widths) out += "  " + std::string(width, '-');
      out += '\n';
    }
    return out;
  }

 private:
  std::vector<std::vector<std::string>> rows_;  // the first two are the header
  bool two_lines_ = false;
};

}  // namespace longtail::cli
