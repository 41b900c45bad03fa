#include "longtail/base/params.h"

#include <algorithm>
#include <limits>

namespace longtail::base {

std::string ParamInfo::flag() const {
  std::string text = "--" + name;
  std::replace(text.begin(), text.end(), '_', '-');
  return text;
}

namespace detail {

std::string type_name(const int*) { return "integer"; }
std::string type_name(const std::int64_t*) { return "integer"; }
std::string type_name(const double*) { return "real"; }
std::string type_name(const bool*) { return "switch"; }
std::string type_name(const std::string*) { return "text"; }
std::string type_name(const std::vector<int>*) { return "integers"; }

void parse(std::string_view name, std::string_view text, std::int64_t& out) {
  const auto value = parse_integer(text);
  if (!value) fail("`{}` is `{}`; it must be a whole number", name, text);
  out = *value;
}

void parse(std::string_view name, std::string_view text, int& out) {
  std::int64_t wide = 0;
  parse(name, text, wide);
  if (wide < std::numeric_limits<int>::min() || wide > std::numeric_limits<int>::max()) {
    fail("`{}` is `{}`; that is too large", name, text);
  }
  out = static_cast<int>(wide);
}

void parse(std::string_view name, std::string_view text, double& out) {
  const auto value = parse_real(text);
  if (!value) fail("`{}` is `{}`; it must be a number", name, text);
  out = *value;
}

void parse(std::string_view name, std::string_view text, bool& out) {
  if (text == "true" || text == "1" || text == "on" || text == "yes") {
    out = true;
  } else if (text == "false" || text == "0" || text == "off" || text == "no") {
    out = false;
  } else {
    fail("`{}` is `{}`; it must be true or false", name, text);
  }
}

void parse(std::string_view, std::string_view text, std::string& out) { out = text; }

void parse(std::string_view name, std::string_view text, std::vector<int>& out) {
  std::vector<int> values;
  if (!trim(text).empty()) {
    for (const std::string& part : split(text, ',')) {
      int value = 0;
      parse(name, trim(part), value);
      values.push_back(value);
    }
  }
  out = std::move(values);
}

std::string print(int value) { return fmt::format("{}", value); }
std::string print(std::int64_t value) { return fmt::format("{}", value); }
std::string print(double value) { return fmt::format("{}", value + 0.0); }  // -0 is 0
std::string print(bool value) { return value ? "true" : "false"; }
std::string print(const std::string& value) { return value; }
std::string print(const std::vector<int>& value) { return fmt::format("{}", fmt::join(value, ",")); }

std::string range_words(double low, bool open, double high) {
  if (high >= kInfinity) return fmt::format("{} {}", open ? "above" : "at least", low);
  return fmt::format(fmt::runtime(open ? "above {} and at most {}" : "from {} to {}"), low, high);
}

void check_bounds(const ParamInfo& info, std::string_view text, double low, bool open, double high) {
  for (const std::string& part : split(text, ',')) {
    if (trim(part).empty() && info.type == "integers") continue;
    const double value = parse_real(part).value_or(0);
    if (value < low || (open && value == low) || value > high) {
      fail("`{}` is `{}`; it must be {}{}", info.name, text, range_words(low, open, high),
           value > low && high >= kInfinity ? fmt::format(" and at most {}", high) : "");
    }
  }
}

void check_choice(const ParamInfo& info, const std::string& text, const std::vector<std::string>& choices) {
  if (std::find(choices.begin(), choices.end(), text) != choices.end()) return;
  fail("`{}` is `{}`; it must be one of {}{}", info.name, text, join(choices, ", "),
       did_you_mean(text, choices));
}

}  // namespace detail
}  // namespace longtail::base
