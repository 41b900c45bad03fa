// A lock on a file that a dead process cannot keep: the kernel holds it for the open file and drops it when
// the process ends, however it ends. Open-file-description locks of fcntl, which also work between machines
// on a shared file system with locking (NFSv4, Lustre mounted with -o flock, CephFS). The file itself stays;
// it says for people who holds it.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace longtail::study {

class FileLock {
 public:
  // Takes the lock if nobody has it. A file system that cannot lock is an Error.
  static std::optional<FileLock> try_take(const std::filesystem::path& path);
  // Waits for it.
  static FileLock take(const std::filesystem::path& path);

  // True if a process has the lock now. Asks without taking, so it disturbs nobody.
  static bool is_held(const std::filesystem::path& path);
  // Who took it last: "machine, process 1234"; "another process" if the file does not say, as just after it was
  // taken or on a full disk.
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
