// The indices of an epoch in a file: `.npy` (int64, as NumPy and PyTorch read it) or `.txt` (one per line).
#pragma once

#include <string>

#include "longtail/sampling/stream.h"

namespace longtail::cli {

// "2/4": the second of four parts, as rank 1 of 4. A UsageError if it is none.
struct ShardOf {
  int rank = 0;
  int world = 1;
  static ShardOf parse(const std::string& text);
};

// A UsageError for a name that ends neither with .npy nor with .txt.
void refuse_other_endings(const std::string& path);
// Writes all draws of the stream; says how many.
std::int64_t write_epoch(const sampling::IndexStream& stream, const std::string& path);

}  // namespace longtail::cli
