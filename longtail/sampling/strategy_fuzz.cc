// Any text is a strategy or an Error; a strategy is read back unchanged from its name and gives
// probabilities.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <string_view>

#include "longtail/base/error.h"
#include "longtail/sampling/strategy.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace longtail;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  std::unique_ptr<sampling::Strategy> strategy;
  try {
    strategy = sampling::make_strategy(text);
  } catch (const base::Error&) {
    return 0;
  }
  // From here on an Error is a mistake and ends the program.
  const std::string name = strategy->name();
  if (sampling::canonical_strategy(name) != name) std::abort();
  const std::vector<std::int64_t> counts = {500, 0, 20, 1};
  const std::vector<double> accuracy = {100, std::nan(""), 50, 0};
  const auto p = strategy->probabilities(counts, {3, 10, {accuracy, accuracy, accuracy}});
  const double sum = std::accumulate(p.begin(), p.end(), 0.0);
  if (!(sum > 0.999999 && sum < 1.000001) || p[1] != 0) std::abort();
  return 0;
}
