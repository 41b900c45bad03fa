// For tests: calls the entry of a fuzzer, in the ordinary build, with every file of its corpus and changed
// copies of each. A bug that a long run (scripts/fuzz) once found cannot return unnoticed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <vector>

#include "longtail/base/file.h"

namespace longtail::base {

// Returns the number of files. Each buffer is exactly as long as its content, so that a sanitiser sees a read
// past the end.
template <class Entry>
int feed_corpus(const std::filesystem::path& folder, int changed_copies, const Entry& entry) {
  const auto feed = [&](const std::vector<std::uint8_t>& bytes) {
    const auto exact = std::make_unique<std::uint8_t[]>(bytes.size());
    std::copy(bytes.begin(), bytes.end(), exact.get());
    entry(std::span<const std::uint8_t>(exact.get(), bytes.size()));
  };
  int files = 0;
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    const std::vector<std::uint8_t> whole = read_bytes(file.path());
    feed(whole);
    ++files;
    for (int round = 0; round < changed_copies && !whole.empty(); ++round) {
      std::uint32_t state =
          2654435761U * (static_cast<std::uint32_t>(round) + 1) + static_cast<std::uint32_t>(whole.size());
      const auto next = [&] { return state = state * 1664525U + 1013904223U, state >> 8; };
      std::vector<std::uint8_t> changed = whole;
      for (std::uint32_t i = next() % 4; i-- > 0;)
        changed[next() % changed.size()] = static_cast<std::uint8_t>(next());
      if (next() % 4 == 0) changed.resize(next() % changed.size());
      feed(changed);
    }
  }
  return files;
}

}  // namespace longtail::base
