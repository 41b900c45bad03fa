// What is done to files that must survive a crash, told to whoever listens: a test then rebuilds the disk as
// it could be after any of these events (crashed_disk.h). Nobody listens otherwise.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace longtail::base {

struct FileEvent {
  enum class Kind { kWrite, kSync, kRename, kRemove, kSyncFolder };
  Kind kind;
  std::filesystem::path path;
  std::filesystem::path target{};  // of a rename
  std::string bytes{};             // of a write, appended to the file
};

// From now on events of this process are added to `events`; with a null pointer to nothing. Not while files
// are being written.
void record_file_events(std::vector<FileEvent>* events);

// As in std::filesystem, and recorded. A file that is not there is no error.
void remove_file(const std::filesystem::path& path);
// A StorageError says why it cannot be.
void rename_file(const std::filesystem::path& from, const std::filesystem::path& to);

}  // namespace longtail::base
