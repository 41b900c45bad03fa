// Small text helpers: splitting, numbers that must parse completely, "did you mean".
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace longtail::base {

std::string_view trim(std::string_view text);
// A file without the mark (EF BB BF) that Excel and Windows put in front of UTF-8.
std::string_view without_mark(std::string_view file);
std::vector<std::string> split(std::string_view text, char separator);
std::string join(std::span<const std::string> parts, std::string_view separator);

// Whether the text is UTF-8 as JSON requires: no overlong forms, no surrogates.
bool is_utf8(std::string_view text);
// The text itself if it is UTF-8; otherwise its bytes read as Latin-1, which old file names use.
std::string to_utf8(std::string_view text);

// "a", "a and b", "a, b and c".
std::string listed(std::vector<std::string> words);

// The whole text as a number, or nothing.
std::optional<std::int64_t> parse_integer(std::string_view text);
std::optional<double> parse_real(std::string_view text);

// 10847 -> "10,847".
std::string with_commas(std::int64_t value);

// 5025 s -> "1 h 24 min", 93 s -> "1 min 33 s", 4.2 s -> "4.2 s".
std::string duration(double seconds);

// How many letters to insert, delete, replace or swap with their neighbour; and the candidate nearest to
// `word` if it is near enough to be what was meant.
int edit_distance(std::string_view a, std::string_view b);
std::optional<std::string> nearest(std::string_view word, std::span<const std::string> candidates);

// "; did you mean `epochs`?" or "".
std::string did_you_mean(std::string_view word, std::span<const std::string> candidates);

}  // namespace longtail::base
