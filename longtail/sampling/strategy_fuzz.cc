// Any text is a strategy or an Error; a strategy is read back from its name unchanged and gives
// probabilities.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <string_view>

#include "longtail/base/error.h"
#include "longtail/sampling/strategy.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace longtail;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const auto strategy = sampling::make_strategy(text);
    const std::string name = strategy->name();
    if (sampling::canonical_strategy(name) != name) std::abort();
    const std::vector<std::int64_t> counts = {500, 0, 20, 1};
    const auto p = strategy->probabilities(counts, {3, 10});
    const double sum = std::accumulate(p.begin(), p.end(), 0.0);
    if (!(sum > 0.999999 && sum < 1.000001) || p[1] != 0) std::abort();
  } catch (const base::Error&) {
  }
  return 0;
}
