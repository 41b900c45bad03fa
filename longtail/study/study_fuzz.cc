// Any text must give a study or an Error. A study that is accepted must resolve to runs or an Error, never to
// a grid that fills the memory.
#include <algorithm>
#include <cstdint>
#include <string_view>

#include "longtail/base/error.h"
#include "longtail/study/grid.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace longtail;
  try {
    const study::StudyFile file =
        study::parse_study({reinterpret_cast<const char*>(data), size}, "input.toml");
    std::size_t runs = 1;
    for (const study::Setting& setting : file.settings)
      runs *= std::min<std::size_t>(setting.values.size(), 1000);
    if (runs <= 64) study::resolve(file, "reference");
  } catch (const base::Error&) {
  }
  return 0;
}
