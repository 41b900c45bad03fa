// A table that keeps its numbers, and five ways of writing it: Markdown, LaTeX (booktabs), CSV, HTML and
// plain text for a terminal. Printed forms round; the CSV keeps four decimals and gives a deviation its own
// column.
#pragma once

#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace longtail::report {

inline constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

struct Cell {
  enum class Kind { kText, kNumber };
  Kind kind = Kind::kText;
  std::string text;
  double value = kMissing;   // a missing number is printed "n/a" and empty in CSV
  double spread = kMissing;  // +- after the value
  int decimals = 1;
  bool sign = false;  // print + too
  bool bold = false;
};

Cell text(std::string words);
Cell number(double value, int decimals);
Cell number(double value, double spread, int decimals);
Cell difference(double value, int decimals);  // with its sign
Cell bound(double value, int decimals);       // of an interval: a difference, printed by fixed_bound
Cell bold(Cell cell);

struct Column {
  std::string title{};
  bool left = false;      // words to the left, numbers to the right
  bool grouping = false;  // equal values that follow each other are printed once, with a rule between groups
  const char* spread = "std";  // name of the spread of its cells in CSV
};

struct Table {
  std::string id{};  // file name: "overall", "groups_rho100"
  std::string caption{};
  std::vector<Column> columns{};
  std::vector<std::vector<Cell>> rows{};
  std::vector<std::string> notes{};
};

// A number as people read it: "39.7", "+0.04", "n/a". Never "-0.0".
std::string fixed(double value, int decimals, bool sign = false);
// The same for a bound: a value other than 0 gets up to four more decimals, as many as it needs not to read
// as 0. Otherwise an interval from -0.04 on would seem to exclude 0.
std::string fixed_bound(double value, int decimals, bool sign = false);

// A cell as the printed forms show it: "39.7 ± 0.4", "n/a".
std::string printed(const Cell& cell);

std::string to_markdown(const Table& table);
std::string to_latex(const Table& table);
std::string to_csv(const Table& table);
std::string to_html(const Table& table);
std::string to_text(const Table& table);

// A whole LaTeX document that includes every table; it compiles as it is.
std::string latex_document(const std::vector<Table>& tables);

// Short for base/quote.h.
std::string html_escape(std::string_view words);
std::string csv_escape(std::string_view words);
std::string latex_escape(std::string_view words);
// Columns that a text takes on a terminal.
int display_width(std::string_view words);

}  // namespace longtail::report
