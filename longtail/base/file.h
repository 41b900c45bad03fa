// Files that are written whole or not at all, and read with an error that names them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace longtail::base {

// The whole file, or an Error naming it. Refuses more than `limit` bytes.
std::string read_text(const std::filesystem::path& path, std::uint64_t limit = std::uint64_t{1} << 32);
std::vector<std::uint8_t> read_bytes(const std::filesystem::path& path,
                                     std::uint64_t limit = std::uint64_t{1} << 34);
// The same as numbers, in the bytes of this machine; a part of one at the end is left out.
template <class T>
std::vector<T> read_array(const std::filesystem::path& path) {
  const auto bytes = read_bytes(path);
  std::vector<T> values(bytes.size() / sizeof(T));
  if (!values.empty())
    std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));  // memcpy of null is undefined
  return values;
}

// Writes under a temporary name in the same folder, syncs, renames. After any failure (a full disk included)
// the old file is as it was and no temporary file is left; the failure is a StorageError. A link stays a link, its
// target gets the new text; a device or a pipe is refused.
void write_atomically(const std::filesystem::path& path, std::string_view text);
void write_atomically(const std::filesystem::path& path, std::span<const std::byte> bytes);

// Whether something is there; an Error if that cannot be told, which is not the same as nothing being there.
bool present(const std::filesystem::path& path);

// Creates the folder and its parents; an Error says why it cannot be.
void make_folder(const std::filesystem::path& path);

}  // namespace longtail::base
