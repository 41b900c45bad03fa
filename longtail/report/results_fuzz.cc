// Any text is a table of results, with warnings, or an Error; accepted rows can be arranged into the grid of
// a report.
#include <cstdint>
#include <string_view>

#include "longtail/base/error.h"
#include "longtail/report/results.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace longtail;
  try {
    std::vector<std::string> warnings;
    auto runs = report::read_csv({reinterpret_cast<const char*>(data), size}, "input.csv", warnings);
    report::detail::arrange(std::move(runs), std::move(warnings), {});
  } catch (const base::Error&) {
  }
  return 0;
}
