#include "longtail/sampling/strategy.h"

#include <algorithm>
#include <numeric>

#include "longtail/base/error.h"
#include "longtail/base/text.h"
#include "longtail/sampling/kind.h"

namespace longtail::sampling {
namespace {

const std::vector<Kind>& kinds() {
  static const std::vector<Kind> all = {uniform(), class_balanced(),   square_root(),   progressive(),
                                        power(),   effective_number(), repeat_factor(), deferred()};
  return all;
}

constexpr int kDeepest = 16;  // brackets inside brackets; more is a mistake

// Splits at commas that are outside brackets.
std::vector<std::string> split_arguments(std::string_view whole, std::string_view text) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (const char c : text) {
    depth += (c == '(') - (c == ')');
    if (depth > kDeepest) base::fail("a strategy has more than {} strategies inside each other", kDeepest);
    if (depth < 0) break;
    if (c == ',' && depth == 0) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  if (depth != 0) base::fail("strategy `{}`: its brackets do not match", whole);
  return parts;
}

Arguments parse_arguments(std::string_view whole, std::string_view text) {
  Arguments arguments;
  for (const std::string& part : split_arguments(whole, text)) {
    const auto equals = part.find('=');
    const std::string key(base::trim(std::string_view(part).substr(0, equals)));
    if (equals == std::string::npos || key.empty()) {
      base::fail("strategy `{}`: `{}` is not `key=value`; write for example `progressive:gamma=2`", whole,
                 part);
    }
    for (const auto& [other, value] : arguments) {
      if (other == key) base::fail("strategy `{}`: `{}` is given twice", whole, key);
    }
    arguments.emplace_back(key, base::trim(std::string_view(part).substr(equals + 1)));
  }
  return arguments;
}

}  // namespace

std::unique_ptr<Strategy> make_strategy(std::string_view text) {
  const std::string_view whole = base::trim(text);
  const auto end = whole.find_first_of(":(");
  const std::string name(base::trim(whole.substr(0, end)));
  std::vector<std::string> names;
  for (const Kind& kind : kinds()) names.push_back(kind.info.name);
  const auto kind =
      std::find_if(kinds().begin(), kinds().end(), [&](const Kind& k) { return k.info.name == name; });
  if (kind == kinds().end()) {
    base::fail("unknown strategy `{}`; there are {}{}", name, base::join(names, ", "),
               base::did_you_mean(name, names));
  }
  Arguments arguments;
  if (end != std::string_view::npos) {
    std::string_view inside = whole.substr(end + 1);
    if (whole[end] == '(') {
      if (!inside.ends_with(')')) base::fail("strategy `{}`: its brackets do not match", whole);
      inside.remove_suffix(1);
    }
    arguments = parse_arguments(whole, inside);
  }
  return kind->make(arguments);
}

std::string canonical_strategy(std::string_view text) { return make_strategy(text)->name(); }

const std::vector<StrategyInfo>& strategies() {
  static const std::vector<StrategyInfo> all = [] {
    std::vector<StrategyInfo> infos;
    for (const Kind& kind : kinds()) infos.push_back(kind.info);
    return infos;
  }();
  return all;
}

std::int64_t images_of(std::span<const std::int64_t> counts) {
  return std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
}

std::int64_t classes_with_images(std::span<const std::int64_t> counts) {
  return std::count_if(counts.begin(), counts.end(), [](std::int64_t count) { return count > 0; });
}

}  // namespace longtail::sampling
