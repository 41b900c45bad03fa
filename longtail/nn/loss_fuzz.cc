// Any text is a loss or an Error.
#include <array>
#include <cstdint>
#include <string_view>

#include "longtail/base/error.h"
#include "longtail/nn/loss.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace longtail;
  try {
    const std::array<std::int64_t, 3> counts = {500, 20, 1};
    nn::make_loss({reinterpret_cast<const char*>(data), size}, counts);
  } catch (const base::Error&) {
  }
  return 0;
}
