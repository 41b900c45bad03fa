#include "longtail/report/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "longtail/base/quote.h"

namespace longtail::report {
namespace {

using base::quote::markdown;

std::string latex(const Cell& cell) {
  if (cell.kind == Cell::Kind::kText) {
    const std::string words = latex_escape(cell.text);
    return cell.bold && !words.empty() ? "\\textbf{" + words + "}" : words;
  }
  if (!std::isfinite(cell.value)) return "n/a";
  std::string words = fixed(cell.value, cell.decimals, cell.sign);
  if (std::isfinite(cell.spread)) words += " \\pm " + fixed(cell.spread, cell.decimals);
  return cell.bold ? "$\\mathbf{" + words + "}$" : "$" + words + "$";
}

// True where row `r` starts a new group: a grouping column differs from the row above.
bool starts_group(const Table& table, std::size_t r) {
  if (r == 0) return false;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    if (table.columns[c].grouping && printed(table.rows[r][c]) != printed(table.rows[r - 1][c])) return true;
  }
  return false;
}

// A grouping cell that repeats the one above is left blank, as long as every grouping column before it
// repeats too.
bool repeats(const Table& table, std::size_t r, std::size_t column) {
  if (r == 0 || !table.columns[column].grouping) return false;
  for (std::size_t c = 0; c <= column; ++c) {
    if (table.columns[c].grouping && printed(table.rows[r][c]) != printed(table.rows[r - 1][c])) return false;
  }
  return true;
}

std::string padded(const std::string& words, int width, bool left) {
  const std::string space(static_cast<std::size_t>(std::max(0, width - display_width(words))), ' ');
  return left ? words + space : space + words;
}

bool has_spread(const Table& table, std::size_t column) {
  return std::any_of(table.rows.begin(), table.rows.end(),
                     [&](const auto& row) { return std::isfinite(row[column].spread); });
}

// How many decimals a bound needs (fixed_bound).
int telling_decimals(double value, int decimals) {
  constexpr int kMore = 4;
  if (!std::isfinite(value)) return decimals;
  for (int more = 0; more <= kMore; ++more) {
    if (fixed(value, decimals + more).find_first_of("123456789") != std::string::npos) return decimals + more;
  }
  return decimals;
}

std::string csv_number(double value) { return std::isfinite(value) ? fixed(value, 4) : ""; }

}  // namespace

std::string printed(const Cell& cell) {
  if (cell.kind == Cell::Kind::kText) return cell.text;
  std::string words = fixed(cell.value, cell.decimals, cell.sign);
  if (std::isfinite(cell.value) && std::isfinite(cell.spread))
    words += " ± " + fixed(cell.spread, cell.decimals);
  return words;
}

Cell text(std::string words) {
  Cell cell;
  cell.text = std::move(words);
  return cell;
}

Cell number(double value, int decimals) { return number(value, kMissing, decimals); }

Cell number(double value, double spread, int decimals) {
  Cell cell;
  cell.kind = Cell::Kind::kNumber;
  cell.value = value;
  cell.spread = spread;
  cell.decimals = decimals;
  return cell;
}

Cell difference(double value, int decimals) {
  Cell cell = number(value, decimals);
  cell.sign = true;
  return cell;
}

Cell bound(double value, int decimals) { return difference(value, telling_decimals(value, decimals)); }

Cell bold(Cell cell) {
  cell.bold = true;
  return cell;
}

std::string fixed(double value, int decimals, bool sign) {
  if (!std::isfinite(value)) return "n/a";
  std::string words = fmt::format("{:.{}f}", value, decimals);
  if (words[0] == '-' && words.find_first_of("123456789") == std::string::npos) words.erase(0, 1);
  if (sign && words[0] != '-') words.insert(0, "+");
  return words;
}

std::string fixed_bound(double value, int decimals, bool sign) {
  return fixed(value, telling_decimals(value, decimals), sign);
}

int display_width(std::string_view words) {
  return static_cast<int>(std::count_if(
      words.begin(), words.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

std::string html_escape(std::string_view words) { return base::quote::html(words); }
std::string csv_escape(std::string_view words) { return base::quote::csv(words); }
std::string latex_escape(std::string_view words) { return base::quote::latex(words); }

std::string to_markdown(const Table& table) {
  std::vector<int> widths;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    int width = std::max(4, display_width(markdown(table.columns[c].title)));
    for (const auto& row : table.rows)
      width = std::max(width, display_width(markdown(printed(row[c]))) + (row[c].bold ? 4 : 0));
    widths.push_back(width);
  }
  std::string out = "**" + markdown(table.caption) + "**\n\n|";
  for (std::size_t c = 0; c < widths.size(); ++c) {
    out += " " + padded(markdown(table.columns[c].title), widths[c], table.columns[c].left) + " |";
  }
  out += "\n|";
  for (std::size_t c = 0; c < widths.size(); ++c) {
    const std::string dashes(static_cast<std::size_t>(widths[c]) + 1, '-');
    out += table.columns[c].left ? ":" + dashes + "|" : dashes + ":|";
  }
  out += '\n';
  for (std::size_t r = 0; r < table.rows.size(); ++r) {
    out += '|';
    for (std::size_t c = 0; c < widths.size(); ++c) {
      std::string words = repeats(table, r, c) ? "" : markdown(printed(table.rows[r][c]));
      if (table.rows[r][c].bold && !words.empty()) words.insert(0, "**").append("**");
      out += " " + padded(words, widths[c], table.columns[c].left) + " |";
    }
    out += '\n';
  }
  for (const std::string& note : table.notes) out += "\n" + markdown(note) + "\n";
  return out;
}

namespace {

constexpr std::size_t kRowsOfAPage = 50;

// One float with the rows from `from` to `to`.
std::string latex_part(const Table& table, std::size_t from, std::size_t to, const std::string& caption,
                       const std::string& label) {
  std::string spec;
  int width = 0;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    spec += table.columns[c].left ? 'l' : 'c';
    int widest = display_width(table.columns[c].title);
    for (const auto& row : table.rows) widest = std::max(widest, display_width(printed(row[c])));
    width += widest + 3;
  }
  const bool wide = width > 90;  // about the text width of an article at ten points
  std::string out = "\\begin{table}[htbp]\n  \\centering\n  \\caption{" + latex_escape(caption) +
                    "}\n  \\label{tab:" + label + "}\n";
  if (wide) out += "  \\resizebox{\\textwidth}{!}{%\n";
  out += "  \\begin{tabular}{" + spec + "}\n    \\toprule\n    ";
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    out += (c ? " & " : "") + ("\\textbf{" + latex_escape(table.columns[c].title)) + "}";
  }
  out += " \\\\\n    \\midrule\n";
  for (std::size_t r = from; r < to; ++r) {
    if (r > from && starts_group(table, r)) out += "    \\midrule\n";
    out += "    ";
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
      out += (c ? " & " : "") + (r > from && repeats(table, r, c) ? "" : latex(table.rows[r][c]));
    }
    out += " \\\\\n";
  }
  out += "    \\bottomrule\n  \\end{tabular}" + std::string(wide ? "%\n  }\n" : "\n");
  for (const std::string& note : table.notes) {
    out += "  \\par\\smallskip\\begin{minipage}{0.95\\textwidth}\\footnotesize " + latex_escape(note) +
           "\\end{minipage}\n";
  }
  return out + "\\end{table}\n";
}

// A table with more rows than fit on a page is split over several.
std::size_t latex_parts(const Table& table) {
  return std::max<std::size_t>(1, (table.rows.size() + kRowsOfAPage - 1) / kRowsOfAPage);
}

}  // namespace

std::string to_latex(const Table& table) {
  const std::size_t parts = latex_parts(table);
  if (parts == 1) return latex_part(table, 0, table.rows.size(), table.caption, table.id);
  std::string out;
  for (std::size_t p = 0; p < parts; ++p) {
    out += latex_part(table, p * kRowsOfAPage, std::min(table.rows.size(), (p + 1) * kRowsOfAPage),
                      fmt::format("{} Part {} of {}.", table.caption, p + 1, parts),
                      p == 0 ? table.id : fmt::format("{}-{}", table.id, p + 1));
  }
  return out;
}

std::string latex_document(const std::vector<Table>& tables) {
  std::string out =
      "% Every table of the report; `pdflatex all.tex` in this folder.\n"
      "\\documentclass{article}\n\\usepackage[utf8]{inputenc}\n"
      "\\usepackage[margin=2.5cm]{geometry}\n\\usepackage{booktabs}\n\\usepackage{graphicx}\n\\begin{"
      "document}\n";
  std::size_t waiting = 0;
  for (const Table& table : tables) {
    out += "\\input{" + table.id + ".tex}\n";
    waiting += latex_parts(table);
    if (waiting < 6) continue;
    out += "\\clearpage\n";  // LaTeX can hold only so many pending floats
    waiting = 0;
  }
  return out + "\\end{document}\n";
}

std::string to_csv(const Table& table) {
  std::string out;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    if (c) out += ',';
    out += csv_escape(table.columns[c].title);
    if (has_spread(table, c))
      out += ',' + csv_escape(fmt::format("{} {}", table.columns[c].title, table.columns[c].spread));
  }
  out += '\n';
  for (const auto& row : table.rows) {
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
      if (c) out += ',';
      out += row[c].kind == Cell::Kind::kText ? csv_escape(row[c].text) : csv_number(row[c].value);
      if (has_spread(table, c)) out += ',' + csv_number(row[c].spread);
    }
    out += '\n';
  }
  return out;
}

std::string to_html(const Table& table) {
  std::string out = fmt::format(
      "<figure class=\"table\" id=\"table-{}\"><figcaption>{}</figcaption><div class=\"scroll\">"
      "<table><thead><tr>",
      html_escape(table.id), html_escape(table.caption));
  for (const Column& column : table.columns) {
    out += fmt::format("<th scope=\"col\"{}>{}</th>", column.left ? " class=\"left\"" : "",
                       html_escape(column.title));
  }
  out += "</tr></thead><tbody>";
  for (std::size_t r = 0; r < table.rows.size(); ++r) {
    out += starts_group(table, r) ? "<tr class=\"rule\">" : "<tr>";
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
      const Cell& cell = table.rows[r][c];
      std::string words = repeats(table, r, c) ? "" : html_escape(printed(cell));
      if (cell.bold && !words.empty()) words.insert(0, "<b>").append("</b>");
      // A sentence may wrap, a number never.
      const bool sentence = table.columns[c].left && display_width(cell.text) > 32;
      out += fmt::format("<td{}>{}</td>",
                         sentence                ? " class=\"left sentence\""
                         : table.columns[c].left ? " class=\"left\""
                                                 : "",
                         words);
    }
    out += "</tr>";
  }
  out += "</tbody></table></div>";
  for (const std::string& note : table.notes) out += "<p class=\"note\">" + html_escape(note) + "</p>";
  return out + "</figure>\n";
}

std::string to_text(const Table& table) {
  // A star marks what is bold elsewhere; other numbers get a blank so that digits stay aligned.
  const auto words_of = [&](std::size_t r, std::size_t c) {
    const Cell& cell = table.rows[r][c];
    if (repeats(table, r, c)) return std::string();
    return printed(cell) + (cell.bold ? "*" : table.columns[c].left ? "" : " ");
  };
  std::vector<int> widths;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    int width = display_width(table.columns[c].title) + (table.columns[c].left ? 0 : 1);
    for (std::size_t r = 0; r < table.rows.size(); ++r)
      width = std::max(width, display_width(words_of(r, c)));
    widths.push_back(width);
  }
  const auto line = [&](auto&& words) {
    std::string out;
    for (std::size_t c = 0; c < widths.size(); ++c)
      out += "  " + padded(words(c), widths[c], table.columns[c].left);
    return out.substr(0, out.find_last_not_of(' ') + 1) + "\n";
  };
  std::string out = table.caption + "\n";
  out += line([&](std::size_t c) { return table.columns[c].title + (table.columns[c].left ? "" : " "); });
  for (std::size_t r = 0; r < table.rows.size(); ++r) {
    if (starts_group(table, r)) out += '\n';
    out += line([&](std::size_t c) { return words_of(r, c); });
  }
  for (const std::string& note : table.notes) out += "  " + note + "\n";
  return out;
}

}  // namespace longtail::report
