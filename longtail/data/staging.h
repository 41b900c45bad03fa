// A folder in which new data is assembled. It appears under its real name complete, or disappears without a
// trace.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string_view>

namespace longtail::data {

// Called from time to time by long work; true ends it with base::Interrupted.
using Stop = std::function<bool()>;
void check_stop(const Stop& stop);

class Staging {
 public:
  // Makes parent/.NAME.XXXXXX, and parent if need be.
  Staging(const std::filesystem::path& parent, std::string_view name);
  ~Staging();
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;

  const std::filesystem::path& path() const { return path_; }
  // Gives the staging folder, or a folder inside it, its real name. What had that name before is removed,
  // with the staging folder at the latest. If the file system can exchange two names, there is data under the
  // name at every moment.
  void publish(const std::filesystem::path& folder, const std::filesystem::path& target);

 private:
  std::filesystem::path path_;
};

// A new file, written piece by piece. A write that fails is a base::StorageError that names the file.
class OutFile {
 public:
  explicit OutFile(const std::filesystem::path& path);
  ~OutFile();
  OutFile(const OutFile&) = delete;
  OutFile& operator=(const OutFile&) = delete;

  void write(std::span<const std::uint8_t> bytes);
  void write(std::string_view text);
  // Syncs and closes; without it the file may be incomplete.
  void close();

 private:
  std::filesystem::path path_;
  int fd_ = -1;
};

// Copies `from` to the new file `to`.
void copy_file(const std::filesystem::path& from, const std::filesystem::path& to, const Stop& stop);

}  // namespace longtail::data
