// Files that are written whole or not at all, and read with an error that names them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace longtail::base {

// The whole file, or an Error naming it. Refuses more than `limit` bytes.
std::string read_text(const std::filesystem::path& path, std::uint64_t limit = std::uint64_t{1} << 32);
std::vector<std::uint8_t> read_bytes(const std::filesystem::path& path,
                                     std::uint64_t limit = std::uint64_t{1} << 34);
// The same as numbers in the byte order of this machine; an incomplete one at the end is left out.
template <class T>
std::vector<T> read_array(const std::filesystem::path& path) {
  const auto bytes = read_bytes(path);
  std::vector<T> values(bytes.size() / sizeof(T));
  if (!values.empty())
    std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));  // memcpy of null is undefined
  return values;
}

// Writes a temporary file in the same folder, syncs it and renames it. After any failure (a full disk
// included) the old file is unchanged and no temporary file is left; the failure is a StorageError. A link
// stays a link and its target gets the new text; a device or a pipe is refused.
void write_atomically(const std::filesystem::path& path, std::string_view text);
void write_atomically(const std::filesystem::path& path, std::span<const std::byte> bytes);

// Removes the temporary files that killed calls of write_atomically left in the folder, if they were for a
// file whose name is `ours`. All other files stay, whatever they end with.
void remove_temporaries(const std::filesystem::path& folder,
                        const std::function<bool(std::string_view)>& ours);

// Whether the path exists; an Error if that cannot be determined, which is not the same as not existing.
bool present(const std::filesystem::path& path);

// Creates the folder and its parents; an Error says why that failed.
void make_folder(const std::filesystem::path& path);

}  // namespace longtail::base
