#include "longtail/base/quote.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "longtail/base/error.h"
#include "longtail/base/text.h"

namespace longtail::base {
namespace {

constexpr std::string_view kFormula = "=+-@";

// The length of the unwanted character at the beginning of `text`, or 0 if the first character is allowed.
// `utf8`: the text is known to be valid, so bytes above 0x7f belong to a character of several bytes.
std::size_t unwanted(std::string_view text, bool utf8) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  const unsigned first = byte(0);
  if (first < 0x20 || first == 0x7f) return 1;
  if (first < 0x80) return 0;
  if (!utf8) return 1;
  if (first == 0xc2 && byte(1) < 0xa0) return 2;  // U+0080 to U+009F: some control terminals
  if (first == 0xe2 && byte(1) == 0x80 && byte(2) >= 0xa8 && byte(2) <= 0xae) return 3;  // lines, directions
  if (first == 0xe2 && byte(1) == 0x81 && byte(2) >= 0xa6 && byte(2) <= 0xa9) return 3;  // more directions
  if (first == 0xef && byte(1) == 0xbb && byte(2) == 0xbf) return 3;                     // byte order mark
  return 0;
}

// The text with every unwanted character replaced.
template <class Replace>
std::string cleaned(std::string_view text, const Replace& replace) {
  const bool utf8 = is_utf8(text);
  std::string out;
  while (!text.empty()) {
    const std::size_t length = unwanted(text, utf8);
    if (length > 0) {
      out += replace(text.substr(0, length));
    } else {
      out += text.front();
    }
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return out;
}

std::string hexadecimal(std::string_view bytes) {
  std::string out;
  for (const char c : bytes) out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
  return out;
}

std::string blanked(std::string_view text) {
  return cleaned(text, [](std::string_view) { return " "; });
}

std::string replaced(std::string words, std::string_view what, std::string_view with) {
  for (std::size_t at = 0; (at = words.find(what, at)) != std::string::npos; at += with.size()) {
    words.replace(at, what.size(), with);
  }
  return words;
}

bool is_formula(std::string_view text) {
  while (text.starts_with('\'')) text.remove_prefix(1);  // so that csv_cells() undoes exactly what csv() did
  return !text.empty() && kFormula.find(text[0]) != std::string_view::npos && !parse_real(text);
}

}  // namespace

bool is_plain(std::string_view text) {
  if (!is_utf8(text)) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (unwanted(text.substr(i), true) > 0) return false;
  }
  return true;
}

void require_plain(std::string_view what, std::string_view text) {
  if (is_plain(text)) return;
  if (!is_utf8(text)) fail("{} is not UTF-8: `{}`", what, quote::terminal(text));
  fail("{} has a control character: `{}`; names are printable text", what, cleaned(text, hexadecimal));
}

namespace quote {

// In single quotes only the closing quote is special to gnuplot. It has an escape for that, but not
// everywhere: two at the beginning of a string end it. So an apostrophe becomes the typographic one.
std::string gnuplot(std::string_view text) { return "'" + replaced(blanked(text), "'", "’") + "'"; }

std::string gnuplot_tic(std::string_view text) { return gnuplot(replaced(std::string(text), "%", "%%")); }

std::string latex(std::string_view text) {
  std::string out;
  for (const char c : blanked(text)) {
    if (c == '\\') {
      out += "\\textbackslash{}";
    } else if (c == '~' || c == '^') {
      out += fmt::format("\\{}{{}}", c);
    } else if (c == '<' || c == '>') {
      out += fmt::format("${}$", c);
    } else if (std::string_view("&%$#_{}").find(c) != std::string_view::npos) {
      out += fmt::format("\\{}", c);
    } else {
      out += c;
    }
  }
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 10> kSymbols = {{
      {"ρ", "$\\rho$"},
      {"λ", "$\\lambda$"},
      {"±", "$\\pm$"},
      {"≤", "$\\leq$"},
      {"→", "$\\to$"},
      {"²", "$^2$"},
      {"−", "$-$"},
      {"×", "$\\times$"},
      {"–", "--"},
      {"γ", "$\\gamma$"},
  }};
  for (const auto& [symbol, macro] : kSymbols) out = replaced(std::move(out), symbol, macro);
  // After the \\ that ends the previous row, these two would be read as its arguments.
  const std::size_t first = out.find_first_not_of(' ');
  if (first != std::string::npos && (out[first] == '[' || out[first] == '*')) out.insert(0, "{}");
  return out;
}

std::string html(std::string_view text) {
  std::string out;
  for (const char c : blanked(text)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

// JSON has these characters only inside strings, where an escape means the same.
std::string json_in_html(std::string_view json) {
  std::string out = replaced(std::string(json), "<", "\\u003c");
  out = replaced(std::move(out), ">", "\\u003e");
  out = replaced(std::move(out), "\u2028", "\\u2028");
  return replaced(std::move(out), "\u2029", "\\u2029");
}

std::string markdown(std::string_view text) {
  std::string out;
  const std::string words = blanked(text);
  for (std::size_t i = 0; i < words.size(); ++i) {
    const char next = i + 1 < words.size() ? words[i + 1] : ' ';
    const bool tag = words[i] == '<' && (std::isalpha(static_cast<unsigned char>(next)) ||
                                         std::string_view("/!?").find(next) != std::string_view::npos);
    out += tag ? "&lt;" : std::string(1, words[i]);
  }
  out = replaced(std::move(out), "](", "]\\(");
  return replaced(std::move(out), "|", "\\|");
}

std::string csv(std::string_view text) {
  std::string out = blanked(text);
  const bool formula = is_formula(out);
  if (formula) out.insert(0, "'");
  if (!formula && out.find_first_of(",\"") == std::string::npos) return out;
  return '"' + replaced(std::move(out), "\"", "\"\"") + '"';
}

std::string argument(std::string_view word) {
  const auto harmless = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("/._-+=@:,").find(c) != std::string_view::npos;
  };
  return !word.empty() && std::all_of(word.begin(), word.end(), harmless) ? std::string(word) : shell(word);
}

std::string shell(std::string_view word) { return "'" + replaced(std::string(word), "'", "'\\''") + "'"; }

std::string terminal(std::string_view text) {
  return cleaned(text, [](std::string_view unwanted) {
    return unwanted == "\n" || unwanted == "\t" ? std::string(unwanted) : hexadecimal(unwanted);
  });
}

}  // namespace quote

std::vector<std::string> csv_cells(std::string_view line) {
  std::vector<std::string> cells(1);
  bool inside = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (inside && c == '"' && i + 1 < line.size() && line[i + 1] == '"') {
      cells.back() += line[++i];
    } else if (c == '"' && (inside || trim(cells.back()).empty())) {
      inside = !inside;
    } else if (c == ',' && !inside) {
      cells.emplace_back();
    } else {
      cells.back() += c;
    }
  }
  for (std::string& cell : cells) {
    if (cell.size() > 1 && cell[0] == '\'' && is_formula(std::string_view(cell).substr(1))) cell.erase(0, 1);
  }
  return cells;
}

}  // namespace longtail::base
