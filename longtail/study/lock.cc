#include "longtail/study/lock.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "longtail/base/error.h"
#include "longtail/base/text.h"

namespace longtail::study {
namespace {

namespace fs = std::filesystem;

struct flock whole_file() {
  struct flock range {};
  range.l_type = F_WRLCK;
  range.l_whence = SEEK_SET;
  return range;
}

[[noreturn]] void cannot_lock(const fs::path& path, int error) {
  base::fail<base::StorageError>("cannot lock {}: {}; the file system must have working locks (NFSv4 has)",
                                 path.string(), std::strerror(error));
}

int open_for_lock(const fs::path& path) {
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (fd < 0) base::fail<base::StorageError>("cannot open {}: {}", path.string(), std::strerror(errno));
  return fd;
}

void sign(int fd) {
  const std::string text = fmt::format("{}, process {}\n", host_name(), ::getpid());
  // The text is only for people, so a full disk is no reason to stop.
  if (::ftruncate(fd, 0) != 0 || ::pwrite(fd, text.data(), text.size(), 0) < 0) return;
}

}  // namespace

std::optional<FileLock> FileLock::try_take(const fs::path& path) {
  FileLock lock(open_for_lock(path));
  struct flock range = whole_file();
  if (::fcntl(lock.fd_, F_OFD_SETLK, &range) != 0) {
    if (errno == EAGAIN || errno == EACCES) return std::nullopt;
    cannot_lock(path, errno);
  }
  sign(lock.fd_);
  return lock;
}

FileLock FileLock::take(const fs::path& path) {
  FileLock lock(open_for_lock(path));
  struct flock range = whole_file();
  while (::fcntl(lock.fd_, F_OFD_SETLKW, &range) != 0) {
    if (errno != EINTR) cannot_lock(path, errno);
  }
  sign(lock.fd_);
  return lock;
}

bool FileLock::is_held(const fs::path& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0 && errno != ENOENT && errno != ENOTDIR) {  // unknown does not mean free
    base::fail<base::StorageError>("cannot look at {}: {}", path.string(), std::strerror(errno));
  }
  if (fd < 0) return false;
  struct flock range = whole_file();
  const int result = ::fcntl(fd, F_OFD_GETLK, &range);
  const int error = errno;
  ::close(fd);
  if (result != 0) cannot_lock(path, error);
  return range.l_type != F_UNLCK;
}

std::string FileLock::holder(const fs::path& path) {
  const std::string unsigned_yet = "another process";
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return unsigned_yet;
  std::array<char, 300> buffer{};
  const ssize_t got = ::read(fd, buffer.data(), buffer.size());
  ::close(fd);
  const std::string_view text(buffer.data(), got > 0 ? static_cast<std::size_t>(got) : 0);
  const std::string name(base::trim(text));
  return name.empty() ? unsigned_yet : name;
}

FileLock::FileLock(FileLock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

FileLock& FileLock::operator=(FileLock&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

FileLock::~FileLock() {
  if (fd_ >= 0) ::close(fd_);
}

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "unknown";
}

}  // namespace longtail::study
