#include "longtail/train/fuzz_entries.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  longtail::train::fuzz_safetensors({bytes, size});
  return 0;
}
