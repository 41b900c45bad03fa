#include "longtail/data/fuzz_entries.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  longtail::data::fuzz_picture({bytes, size});
  return 0;
}
