#include "longtail/report/names.h"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <set>

#include "longtail/base/error.h"
#include "longtail/base/file.h"
#include "longtail/base/quote.h"
#include "longtail/base/text.h"

namespace longtail::report {

Names read_names(const std::filesystem::path& path) {
  constexpr std::uint64_t kLargest = std::uint64_t{1} << 20;
  const auto place = [&](const toml::source_region& at) {
    return fmt::format("{}:{}", path.string(), at.begin.line);
  };
  toml::table document;
  try {
    document = toml::parse(base::read_text(path, kLargest));
  } catch (const toml::parse_error& error) {
    base::fail<base::UsageError>("{}: {}; a line is \"SERIES\" = \"NAME\", both in quotation marks",
                                 place(error.source()), error.description());
  }
  Names names;
  for (const auto& [key, node] : document) {
    const auto* name = node.as_string();
    if (name == nullptr)
      base::fail<base::UsageError>("{}: the name of `{}` is not a text; write it as \"SERIES\" = \"NAME\"",
                                   place(key.source()), key.str());
    names.emplace(key.str(), base::trim(name->get()));
  }
  return names;
}

void call_by_name(std::span<Series> series, const Names& names, std::vector<std::string>& warnings) {
  for (const auto& [known, name] : names) {
    base::require_plain("the name of a series", name);
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
  for (const auto& [known, name] : names) {
    const auto called = [&](const Series& one) { return one.title() == name; };
    if (used.contains(known) && std::count_if(series.begin(), series.end(), called) > 1)
      base::fail<base::UsageError>("two series would be called `{}`; give `{}` another name", name, known);
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
