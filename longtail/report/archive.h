// The logs that a report was made from, packed, so that its page is also their archive.
#pragma once

#include <cstdint>
#include <string>

#include "longtail/report/results.h"

namespace longtail::report {

struct Archive {
  int logs = 0;
  std::uint64_t bytes = 0;  // of the logs, unpacked
  std::string packed{};     // a .tar.gz of them; empty: none, or too many
  std::string remark{};     // a sentence: what is not in it and why; may be empty
};

inline constexpr std::uint64_t kLargestArchive = std::uint64_t{32} << 20;

// Every log, byte for byte as on the disk, under the name of its run. A log that has changed since the report
// read it is left out, and the remark says so. The same logs give the same archive; one that would exceed
// `limit` bytes is dropped.
Archive pack_logs(const Results& results, std::uint64_t limit = kLargestArchive);

std::string base64(std::string_view bytes);

// 828312 -> "828 kB".
std::string bytes_words(std::uint64_t bytes);

}  // namespace longtail::report
