// Records what is done to files that must survive a crash, so that a test can rebuild the disk as it could be
// after any of these events (crashed_disk.h). Outside of tests nothing is recorded.
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

// From now on events of this process are appended to `events`; a null pointer ends the recording. Not to be
// called while files are being written.
void record_file_events(std::vector<FileEvent>* events);

// As std::filesystem::remove(), and recorded. Failures, a missing file for one, are ignored.
void remove_file(const std::filesystem::path& path);
// As std::filesystem::rename(), and recorded. A StorageError says why it failed.
void rename_file(const std::filesystem::path& from, const std::filesystem::path& to);

}  // namespace longtail::base
