// What the fuzzers of this module feed (log_fuzz.cc, checkpoint_fuzz.cc, fuzz_test.cc): a log and a
// checkpoint as bytes. An entry may throw base::Error and nothing else gets out.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>

#include "longtail/base/error.h"
#include "longtail/base/hash.h"
#include "longtail/train/checkpoint.h"
#include "longtail/train/run_log.h"

namespace longtail::train {

// A log that is taken is written and read again as itself.
inline void fuzz_log(std::span<const std::uint8_t> input) {
  try {
    const RunLog log = log_of({reinterpret_cast<const char*>(input.data()), input.size()}, "input");
    if (log.schema == 0) return;
    const std::string text = log_text(log);
    const RunLog again = log_of(text, "again");
    if (!again.verified || log_text(again) != text) std::abort();
  } catch (const base::Error&) {
  }
}

// As it is, and with a right checksum, so that what is behind it is read too.
inline void fuzz_checkpoint(std::span<const std::uint8_t> input) {
  std::string bytes(reinterpret_cast<const char*>(input.data()), input.size());
  for (const bool mended : {false, true}) {
    if (mended && bytes.size() < 64) return;
    if (mended)
      bytes.replace(bytes.size() - 64, 64,
                    base::sha256(std::string_view(bytes).substr(0, bytes.size() - 64)));
    try {
      checkpoint_of(bytes, "input");
    } catch (const base::Error&) {
    }
  }
}

}  // namespace longtail::train
