#include "longtail/base/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <mutex>

#include "longtail/base/error.h"
#include "longtail/base/file_events.h"

namespace longtail::base {
namespace {

namespace fs = std::filesystem;

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }
  int release() { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

// A missing file is a plain Error: the name is wrong. Anything else (a failing disk, a mount that went away,
// no permission, too many open files) is a StorageError: the machine is at fault.
[[noreturn]] void cannot_read(const fs::path& path, int error) {
  const bool no_such_file = error == ENOENT || error == ENOTDIR || error == ELOOP || error == ENAMETOOLONG;
  if (no_such_file) fail("cannot read {}: {}", path.string(), std::strerror(error));
  fail<StorageError>("cannot read {}: {}{}", path.string(), std::strerror(error),
                     error == EMFILE || error == ENFILE ? "; raise the limit of open files (ulimit -n)" : "");
}

template <class Container>
Container read_whole(const fs::path& path, std::uint64_t limit) {
  // Without O_NONBLOCK opening a FIFO would wait for a writer; for a regular file it makes no difference.
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  struct stat info {};
  if (file.get() < 0 || ::fstat(file.get(), &info) != 0) cannot_read(path, errno);
  if (!S_ISREG(info.st_mode)) fail("cannot read {}: it is not a regular file", path.string());
  const auto size = static_cast<std::uint64_t>(info.st_size);
  if (size > limit) fail("{} has {} bytes, more than the {} expected at most", path.string(), size, limit);
  Container content;
  content.resize(size);
  std::uint64_t done = 0;
  while (done < size) {
    const ssize_t got = ::read(file.get(), reinterpret_cast<char*>(content.data()) + done, size - done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) cannot_read(path, errno);
    if (got == 0) fail("{} became shorter while it was read", path.string());
    done += static_cast<std::uint64_t>(got);
  }
  return content;
}

std::atomic<std::vector<FileEvent>*> listener = nullptr;
std::mutex listener_mutex;

void tell(FileEvent::Kind kind, const fs::path& path, const fs::path& target = {},
          std::string_view bytes = {}) {
  if (listener.load(std::memory_order_relaxed) == nullptr) return;
  const std::lock_guard lock(listener_mutex);
  if (auto* events = listener.load()) events->push_back({kind, path, target, std::string(bytes)});
}

void write_all(int fd, std::string_view text, const fs::path& path, const fs::path& temporary) {
  while (!text.empty()) {
    const ssize_t put = ::write(fd, text.data(), text.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) {
      fail<StorageError>("cannot write {}: {}{}", path.string(), std::strerror(errno),
                         errno == ENOSPC || errno == EDQUOT || errno == EFBIG
                             ? "; free some space and start again, nothing is lost"
                             : "");
    }
    tell(FileEvent::Kind::kWrite, temporary, {}, text.substr(0, static_cast<std::size_t>(put)));
    text.remove_prefix(static_cast<std::size_t>(put));
  }
}

// Read before there are threads: the only way to read the umask sets it for a moment.
const mode_t kMask = [] {
  const mode_t mask = ::umask(0);
  ::umask(mask);
  return mask;
}();

// The mode of the file that is replaced, or the usual one for a new file.
mode_t mode_of(const fs::path& path) {
  struct stat old {};
  return ::stat(path.c_str(), &old) == 0 ? old.st_mode & 0777 : 0666 & ~kMask;
}

void sync_folder(const fs::path& folder) {
  const Descriptor fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (fd.get() >= 0 && ::fsync(fd.get()) == 0) tell(FileEvent::Kind::kSyncFolder, folder);
}

// The file that a path names, following links. A device or a pipe is refused: the rename would put a regular
// file in its place.
fs::path behind_links(const fs::path& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (fs::exists(status) && !fs::is_regular_file(status) && !fs::is_directory(status)) {
    fail<StorageError>("cannot write {}: it is not a regular file", path.string());
  }
  if (!fs::exists(status) || !fs::is_symlink(fs::symlink_status(path, error))) return path;
  const fs::path real = fs::canonical(path, error);
  return error ? path : real;
}

}  // namespace

std::string read_text(const fs::path& path, std::uint64_t limit) {
  return read_whole<std::string>(path, limit);
}

std::vector<std::uint8_t> read_bytes(const fs::path& path, std::uint64_t limit) {
  return read_whole<std::vector<std::uint8_t>>(path, limit);
}

void write_atomically(const fs::path& given, std::string_view text) {
  const fs::path path = behind_links(given);
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  std::string temporary = (folder / (path.filename().string() + ".XXXXXX.tmp")).string();
  Descriptor file(::mkostemps(temporary.data(), 4, O_CLOEXEC));
  if (file.get() < 0) fail<StorageError>("cannot write {}: {}", path.string(), std::strerror(errno));
  try {
    write_all(file.get(), text, path, temporary);
    ::fchmod(file.get(), mode_of(path));
    if (::fsync(file.get()) != 0 || ::close(file.release()) != 0) {
      fail<StorageError>("cannot write {}: {}", path.string(), std::strerror(errno));
    }
    tell(FileEvent::Kind::kSync, temporary);
    if (::rename(temporary.c_str(), path.c_str()) != 0) {
      fail<StorageError>("cannot write {}: {}", path.string(), std::strerror(errno));
    }
    tell(FileEvent::Kind::kRename, temporary, path);
  } catch (...) {
    ::unlink(temporary.c_str());
    throw;
  }
  sync_folder(folder);
}

void write_atomically(const fs::path& path, std::span<const std::byte> bytes) {
  write_atomically(path, std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}

void remove_temporaries(const fs::path& folder, const std::function<bool(std::string_view)>& ours) {
  constexpr std::string_view kForm = ".XXXXXX.tmp";  // after the name of the file, see write_atomically
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    const std::string file = entry.path().stem().stem().string();
    if (name.size() != file.size() + kForm.size() || !name.ends_with(".tmp")) continue;
    if (ours(file)) fs::remove(entry.path(), error);
  }
}

void record_file_events(std::vector<FileEvent>* events) {
  const std::lock_guard lock(listener_mutex);
  listener = events;
}

void remove_file(const fs::path& path) {
  std::error_code ignored;
  if (fs::remove(path, ignored)) tell(FileEvent::Kind::kRemove, path);
}

void rename_file(const fs::path& from, const fs::path& to) {
  std::error_code error;
  fs::rename(from, to, error);
  if (error) fail<StorageError>("cannot rename {}: {}", from.string(), error.message());
  tell(FileEvent::Kind::kRename, from, to);
}

bool present(const std::filesystem::path& path) {
  std::error_code error;
  const bool there = std::filesystem::exists(path, error);
  if (error) fail<StorageError>("cannot look at {}: {}", path.string(), error.message());
  return there;
}

void make_folder(const fs::path& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) fail<StorageError>("cannot create the folder {}: {}", path.string(), error.message());
}

}  // namespace longtail::base
