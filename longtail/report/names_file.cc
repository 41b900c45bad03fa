// Separate from names.cc: Python gives names as a dictionary and needs no TOML.
#include <fmt/format.h>
#include <toml++/toml.h>

#include "longtail/base/error.h"
#include "longtail/base/file.h"
#include "longtail/base/text.h"
#include "longtail/report/names.h"

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

}  // namespace longtail::report
