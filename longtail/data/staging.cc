#include "longtail/data/staging.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "longtail/base/error.h"
#include "longtail/base/file.h"

namespace longtail::data {

namespace fs = std::filesystem;
using base::fail;
using base::StorageError;

namespace {

// Exchanges the names of two folders in one step.
bool swap_names(const fs::path& a, const fs::path& b) {
  return ::renameat2(AT_FDCWD, a.c_str(), AT_FDCWD, b.c_str(), RENAME_EXCHANGE) == 0;
}

}  // namespace

void check_stop(const Stop& stop) {
  if (stop && stop()) fail<base::Interrupted>("interrupted; the same command resumes from here");
}

Staging::Staging(const fs::path& parent, std::string_view name) {
  base::make_folder(parent);
  std::string pattern = (parent / fmt::format(".{}.XXXXXX", name)).string();
  if (!::mkdtemp(pattern.data())) {
    fail<StorageError>("cannot write into the folder {}: {}", parent.string(), std::strerror(errno));
  }
  path_ = pattern;
  ::chmod(path_.c_str(), 0755);
}

Staging::~Staging() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

void Staging::publish(const fs::path& folder, const fs::path& target) {
  std::error_code error;
  const fs::path old = path_.string() + ".old";
  const bool replaces = fs::exists(fs::symlink_status(target, error));
  error.clear();  // a missing target is no error
  if (replaces && swap_names(folder, target)) return;
  if (replaces) fs::rename(target, old, error);
  if (!error) {
    fs::rename(folder, target, error);
    if (error && replaces) {
      std::error_code ignored;
      fs::rename(old, target, ignored);
    }
  }
  if (error) fail<StorageError>("cannot put the data at {}: {}", target.string(), error.message());
  fs::remove_all(old, error);
}

OutFile::OutFile(const fs::path& path) : path_(path) {
  fd_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
  if (fd_ < 0) fail<StorageError>("cannot write {}: {}", path.string(), std::strerror(errno));
}

OutFile::~OutFile() {
  if (fd_ >= 0) ::close(fd_);
}

void OutFile::write(std::span<const std::uint8_t> bytes) {
  while (!bytes.empty()) {
    const ssize_t put = ::write(fd_, bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) {
      const bool full = errno == ENOSPC || errno == EDQUOT || errno == EFBIG;
      fail<StorageError>("cannot write {}: {}{}", path_.string(), std::strerror(errno),
                         full ? "; free some space, or choose a folder on another disk" : "");
    }
    bytes = bytes.subspan(static_cast<std::size_t>(put));
  }
}

void OutFile::write(std::string_view text) {
  write(std::span(reinterpret_cast<const std::uint8_t*>(text.data()), text.size()));
}

void OutFile::close() {
  if (::fsync(fd_) != 0 || ::close(std::exchange(fd_, -1)) != 0) {
    fail<StorageError>("cannot write {}: {}", path_.string(), std::strerror(errno));
  }
}

void copy_file(const fs::path& from, const fs::path& to, const Stop& stop) {
  std::error_code ignored;
  if (fs::exists(from, ignored) && !fs::is_regular_file(from, ignored)) {
    fail("cannot read {}: it is not a regular file", from.string());
  }
  std::ifstream in(from, std::ios::binary);
  if (!in) fail("cannot read {}: {}", from.string(), std::strerror(errno));
  OutFile out(to);
  std::vector<char> buffer(1 << 20);
  do {
    check_stop(stop);
    in.read(buffer.data(), static_cast<std::streamsize>(buffer.size()));
    out.write(std::string_view(buffer.data(), static_cast<std::size_t>(in.gcount())));
  } while (in);
  if (in.bad()) fail("cannot read {}: {}", from.string(), std::strerror(errno));
  out.close();
}

}  // namespace longtail::data
