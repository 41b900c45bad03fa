// Writes the indices of an epoch to a file: `.npy` (int64, readable by NumPy and PyTorch) or `.txt` (one per
// line).
#pragma once

#include <string>

#include "longtail/sampling/stream.h"

namespace longtail::cli {

// "2/4" is the second of four parts: rank 1, world 4. An empty text is the whole stream, any other a
// UsageError.
struct ShardOf {
  int rank = 0;
  int world = 1;
  static ShardOf parse(const std::string& text);
};

// A UsageError for a name that ends neither in .npy nor in .txt.
void refuse_other_endings(const std::string& path);
// Writes all draws of the stream; returns how many.
std::int64_t write_epoch(const sampling::IndexStream& stream, const std::string& path);

}  // namespace longtail::cli
