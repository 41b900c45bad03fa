#include "longtail/cli/sample_out.h"

#include <fmt/format.h>

#include <bit>
#include <cstring>

#include "longtail/base/error.h"
#include "longtail/base/file.h"
#include "longtail/base/text.h"

namespace longtail::cli {
namespace {

// NumPy's format, version 1: magic, length, a Python dictionary padded to a multiple of 64 bytes, then the
// numbers.
std::string npy_header(std::int64_t size) {
  std::string words = fmt::format("{{'descr': '<i8', 'fortran_order': False, 'shape': ({},), }}", size);
  words.resize((10 + words.size() + 1 + 63) / 64 * 64 - 10 - 1, ' ');
  words += '\n';
  std::string header("\x93NUMPY\x01\x00", 8);
  header += static_cast<char>(words.size() & 255);
  header += static_cast<char>(words.size() >> 8);
  return header + words;
}

}  // namespace

ShardOf ShardOf::parse(const std::string& text) {
  if (text.empty()) return {};
  const auto parts = base::split(text, '/');
  const auto part = base::parse_integer(parts.front()), of = base::parse_integer(parts.back());
  if (parts.size() != 2 || !part || !of || *of < 1 || *of > 1'000'000 || *part < 1 || *part > *of) {
    base::fail<base::UsageError>("`{}` is no part of a stream; write I/N with I from 1 to N, as in 2/4",
                                 text);
  }
  return {static_cast<int>(*part) - 1, static_cast<int>(*of)};
}

void refuse_other_endings(const std::string& path) {
  if (path.ends_with(".npy") || path.ends_with(".txt")) return;
  base::fail<base::UsageError>("{} ends neither with .npy nor with .txt; the name says how to write it",
                               path);
}

std::int64_t write_epoch(const sampling::IndexStream& stream, const std::string& path) {
  static_assert(std::endian::native == std::endian::little);
  refuse_other_endings(path);
  const bool npy = path.ends_with(".npy");
  std::vector<std::int64_t> draws(static_cast<std::size_t>(stream.size()));
  stream.fill(0, draws);
  std::string bytes;
  if (npy) {
    bytes = npy_header(stream.size());
    const std::size_t begin = bytes.size();
    bytes.resize(begin + draws.size() * sizeof(std::int64_t));
    std::memcpy(bytes.data() + begin, draws.data(), draws.size() * sizeof(std::int64_t));
  } else {
    for (const std::int64_t image : draws) bytes += std::to_string(image) + '\n';
  }
  base::write_atomically(path, std::string_view(bytes));
  return stream.size();
}

}  // namespace longtail::cli
