#include "longtail/report/names.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "longtail/base/error.h"
#include "longtail/base/quote.h"
#include "longtail/base/text.h"

namespace longtail::report {

void call_by_name(std::span<Series> series, const Names& names, std::vector<std::string>& warnings) {
  for (const auto& [known, name] : names) {
    for (const std::string& text : {known, name}) base::require_plain("a name of a series", text);
    if (name.empty()) base::fail<base::UsageError>("the name of `{}` is empty", known);
  }
  std::set<std::string> used;
  for (Series& one : series) {
    for (const std::string& known : {one.title(), one.text()}) {
      const auto found = names.find(known);
      if (found == names.end()) continue;
      used.insert(known);
      one.call(found->second);
      break;
    }
  }
  for (const auto& entry : names) {
    const auto called = [&](const Series& one) { return one.title() == entry.second; };
    if (used.contains(entry.first) && std::count_if(series.begin(), series.end(), called) > 1)
      base::fail<base::UsageError>("two series would be called `{}`; give `{}` another name", entry.second,
                                   entry.first);
  }
  std::vector<std::string> unknown;
  for (const auto& [known, name] : names) {
    if (!used.contains(known)) unknown.push_back(fmt::format("`{}`", known));
  }
  if (unknown.empty()) return;
  const std::size_t count = unknown.size();
  if (count > 3) {
    unknown.resize(3);
    unknown.push_back(fmt::format("{} more", count - 3));
  }
  warnings.push_back(
      fmt::format("No series for {} of {} names: {}. A name is given to a series as the tables write it.",
                  count, names.size(), base::join(unknown, ", ")));
}

}  // namespace longtail::report
