// A table for the terminal: the first column to the left, the others to the right, a line under the header.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

namespace longtail::cli {

class TextTable {
 public:
  explicit TextTable(std::vector<std::string> header) : rows_{std::move(header)} {}
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }

  std::string text() const {
    std::vector<std::size_t> widths;
    for (const auto& row : rows_) {
      widths.resize(std::max(widths.size(), row.size()));
      for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], row[c].size());
    }
    std::string out;
    for (std::size_t r = 0; r < rows_.size(); ++r) {
      for (std::size_t c = 0; c < rows_[r].size(); ++c) {
        const std::string pad(widths[c] - rows_[r][c].size(), ' ');
        out += c == 0 ? "  " + rows_[r][c] + pad : "  " + pad + rows_[r][c];
      }
      while (out.ends_with(' ')) out.pop_back();
      out += '\n';
      if (r > 0) continue;
      for (const std::size_t width : widths) out += "  " + std::string(width, '-');
      out += '\n';
    }
    return out;
  }

 private:
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace longtail::cli
