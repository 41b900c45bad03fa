// A file lock that a dead process cannot keep: the kernel ties it to the open file and drops it when the
// process ends, however it ends. Uses open-file-description locks of fcntl, which also work between machines
// on a shared file system with locking (NFSv4, Lustre mounted with -o flock, CephFS). The file itself stays;
// its text names the holder, for people to read.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace longtail::study {

class FileLock {
 public:
  // Takes the lock if it is free. An Error if the file system does not support locks.
  static std::optional<FileLock> try_take(const std::filesystem::path& path);
  // Waits for the lock and takes it.
  static FileLock take(const std::filesystem::path& path);

  // True if a process holds the lock now. Does not take the lock, so it disturbs nobody.
  static bool is_held(const std::filesystem::path& path);
  // Who took the lock last: "machine, process 1234"; "another process" if the file does not say, as just
  // after the lock was taken or on a full disk.
  static std::string holder(const std::filesystem::path& path);

  FileLock(FileLock&& other) noexcept;
  FileLock& operator=(FileLock&& other) noexcept;
  ~FileLock();

 private:
  explicit FileLock(int fd) : fd_(fd) {}
  int fd_ = -1;
};

// The name of this machine.
std::string host_name();

}  // namespace longtail::study
