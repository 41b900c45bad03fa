// Single values of a log's JSON; every Error names the key. For run_log.cc.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "longtail/base/error.h"
#include "longtail/base/quote.h"

namespace longtail::train {

inline constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

inline const nlohmann::json& need(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end()) base::fail("the key `{}` is missing", key);
  return *found;
}

inline double number(const nlohmann::json& value, const char* key) {
  if (value.is_null()) return kUnknown;
  if (!value.is_number()) base::fail("the key `{}` is {}, not a number", key, value.type_name());
  return value.get<double>();
}

inline std::int64_t integer(const nlohmann::json& value, const char* key) {
  if (value.is_number_integer()) return value.get<std::int64_t>();
  const double real = value.is_number() ? value.get<double>() : kUnknown;
  if (!(std::abs(real) < 9e15) || real != std::floor(real))
    base::fail("the key `{}` is not a whole number", key);
  return static_cast<std::int64_t>(real);
}

inline std::string text(const nlohmann::json& value, const char* key) {
  if (!value.is_string()) base::fail("the key `{}` is {}, not text", key, value.type_name());
  base::require_plain(fmt::format("the key `{}`", key), value.get_ref<const std::string&>());
  return value.get<std::string>();
}

// The elements of a list, or of an object {"0": ..., "1": ...} as Python writes a dict by class.
inline std::vector<nlohmann::json> elements(const nlohmann::json& value, const char* key) {
  if (value.is_array()) return value.get<std::vector<nlohmann::json>>();
  if (!value.is_object()) base::fail("the key `{}` is {}, not a list", key, value.type_name());
  std::vector<nlohmann::json> list;
  for (std::size_t i = 0; i < value.size(); ++i) {
    const auto found = value.find(std::to_string(i));
    if (found == value.end()) base::fail("the key `{}` has no entry {}", key, i);
    list.push_back(*found);
  }
  return list;
}

inline std::vector<double> numbers(const nlohmann::json& value, const char* key) {
  std::vector<double> list;
  for (const nlohmann::json& element : elements(value, key)) list.push_back(number(element, key));
  return list;
}

inline std::vector<std::int64_t> counts(const nlohmann::json& value, const char* key) {
  std::vector<std::int64_t> list;
  for (const nlohmann::json& element : elements(value, key)) {
    list.push_back(integer(element, key));
    if (list.back() < 0) base::fail("the key `{}` has the negative count {}", key, list.back());
  }
  return list;
}

inline std::vector<std::string> texts(const nlohmann::json& value, const char* key) {
  std::vector<std::string> list;
  for (const nlohmann::json& element : elements(value, key)) list.push_back(text(element, key));
  return list;
}

}  // namespace longtail::train
