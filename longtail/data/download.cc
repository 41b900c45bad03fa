#include "longtail/data/download.h"

#include <curl/curl.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "longtail/base/error.h"
#include "longtail/base/hash.h"

namespace longtail::data {
namespace {

namespace fs = std::filesystem;
using base::fail;

using Handle = std::unique_ptr<CURL, void (*)(CURL*)>;

// The file under its temporary name, locked by this process.
class Part {
 public:
  explicit Part(const fs::path& target) : path_(target.string() + ".part") {
    fd_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0644);
    if (fd_ < 0) fail<base::StorageError>("cannot write {}: {}", path_.string(), std::strerror(errno));
    if (::flock(fd_, LOCK_EX | LOCK_NB) != 0) {
      ::close(fd_);
      fail("{} is being downloaded by another program; wait for it or end it", path_.string());
    }
  }
  ~Part() {
    if (size() == 0) remove();
    ::close(fd_);
  }
  Part(const Part&) = delete;
  Part& operator=(const Part&) = delete;

  const fs::path& path() const { return path_; }

  std::uint64_t size() const {
    struct stat info {};
    return ::fstat(fd_, &info) == 0 ? static_cast<std::uint64_t>(info.st_size) : 0;
  }
  void clear() {
    if (::ftruncate(fd_, 0) != 0)
      fail<base::StorageError>("cannot write {}: {}", path_.string(), std::strerror(errno));
  }
  void remove() { ::unlink(path_.c_str()); }

  void append(std::span<const std::uint8_t> bytes) {
    ::lseek(fd_, 0, SEEK_END);
    while (!bytes.empty()) {
      const ssize_t put = ::write(fd_, bytes.data(), bytes.size());
      if (put < 0 && errno == EINTR) continue;
      if (put < 0) {
        fail<base::StorageError>("cannot write {}: {}; free some space, or choose a folder on another disk",
                                 path_.string(), std::strerror(errno));
      }
      bytes = bytes.subspan(static_cast<std::size_t>(put));
    }
  }

  std::string md5() const {
    base::Hasher hasher(base::Hasher::kMd5);
    std::vector<std::byte> buffer(1 << 20);
    off_t at = 0;
    for (ssize_t got = 0; (got = ::pread(fd_, buffer.data(), buffer.size(), at)) > 0; at += got) {
      hasher.add(std::span<const std::byte>(buffer.data(), static_cast<std::size_t>(got)));
    }
    return hasher.hex();
  }

  void publish(const fs::path& target) {
    if (::fsync(fd_) != 0 || ::rename(path_.c_str(), target.c_str()) != 0) {
      fail<base::StorageError>("cannot write {}: {}", target.string(), std::strerror(errno));
    }
  }

 private:
  fs::path path_;
  int fd_ = -1;
};

// What the callbacks of one transfer share. Exceptions must not pass through libcurl, so they are kept here.
struct Transfer {
  Part& part;
  const RemoteFile& file;
  const DownloadOptions& options;
  std::exception_ptr error;
  bool too_large = false;
};

std::size_t on_bytes(char* bytes, std::size_t, std::size_t count, void* user) {
  auto& transfer = *static_cast<Transfer*>(user);
  try {
    if (transfer.part.size() + count > transfer.file.size) {
      transfer.too_large = true;
      return 0;
    }
    transfer.part.append(std::span(reinterpret_cast<const std::uint8_t*>(bytes), count));
    return count;
  } catch (...) {
    transfer.error = std::current_exception();
    return 0;
  }
}

int on_progress(void* user, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
  auto& transfer = *static_cast<Transfer*>(user);
  try {
    check_stop(transfer.options.stop);
    if (transfer.options.progress) transfer.options.progress(transfer.part.size(), transfer.file.size);
    return 0;
  } catch (...) {
    transfer.error = std::current_exception();
    return 1;
  }
}

Handle new_handle() {
  static std::once_flag once;
  std::call_once(once, [] { curl_global_init(CURL_GLOBAL_DEFAULT); });
  Handle curl(curl_easy_init(), curl_easy_cleanup);
  if (!curl) fail("libcurl cannot start");
  return curl;
}

struct Outcome {
  CURLcode code = CURLE_OK;
  long status = 0;
  std::string why;
};

Outcome transfer_once(const std::string& url, Transfer& transfer) {
  const Handle curl = new_handle();
  char message[CURL_ERROR_SIZE] = {};
  const auto set = [&](CURLoption option, auto value) { curl_easy_setopt(curl.get(), option, value); };
  set(CURLOPT_URL, url.c_str());
  set(CURLOPT_ERRORBUFFER, message);
  set(CURLOPT_USERAGENT, "longtail");
  set(CURLOPT_PROTOCOLS_STR, "http,https");
  set(CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
  set(CURLOPT_FOLLOWLOCATION, 1L);
  set(CURLOPT_MAXREDIRS, 5L);
  set(CURLOPT_FAILONERROR, 1L);
  set(CURLOPT_NOSIGNAL, 1L);
  set(CURLOPT_CONNECTTIMEOUT, static_cast<long>(transfer.options.timeout.count()));
  set(CURLOPT_LOW_SPEED_LIMIT, 1L);
  set(CURLOPT_LOW_SPEED_TIME, static_cast<long>(transfer.options.timeout.count()));
  set(CURLOPT_RESUME_FROM_LARGE, static_cast<curl_off_t>(transfer.part.size()));
  set(CURLOPT_WRITEFUNCTION, &on_bytes);
  set(CURLOPT_WRITEDATA, &transfer);
  set(CURLOPT_NOPROGRESS, 0L);
  set(CURLOPT_XFERINFOFUNCTION, &on_progress);
  set(CURLOPT_XFERINFODATA, &transfer);
  Outcome outcome;
  outcome.code = curl_easy_perform(curl.get());
  curl_easy_getinfo(curl.get(), CURLINFO_RESPONSE_CODE, &outcome.status);
  outcome.why = message[0] != '\0' ? message : curl_easy_strerror(outcome.code);
  return outcome;
}

// Whether another try may succeed: yes if the connection was cut or the server is busy, no for a missing page
// or an unknown host.
bool may_pass(const Outcome& outcome) {
  switch (outcome.code) {
    case CURLE_PARTIAL_FILE:
    case CURLE_RECV_ERROR:
    case CURLE_SEND_ERROR:
    case CURLE_GOT_NOTHING:
    case CURLE_OPERATION_TIMEDOUT:
    case CURLE_COULDNT_CONNECT:
    case CURLE_HTTP2_STREAM:
      return true;
    case CURLE_HTTP_RETURNED_ERROR:
      return outcome.status >= 500 || outcome.status == 429;
    default:
      return false;
  }
}

[[noreturn]] void wrong_size(const std::string& url, const RemoteFile& file, Part& part, bool too_large) {
  const std::uint64_t size = part.size();
  part.remove();
  if (too_large)
    fail("{} is larger than the {} bytes published; it is another file, nothing was kept", url, file.size);
  fail("{} has {} bytes instead of the {} published; it is another file, nothing was kept", url, size,
       file.size);
}

void pause_before(int attempt, const DownloadOptions& options) {
  const auto until = std::chrono::steady_clock::now() + options.pause * (1 << std::min(attempt - 1, 5));
  while (std::chrono::steady_clock::now() < until) {
    check_stop(options.stop);
    std::this_thread::sleep_for(std::min(options.pause, std::chrono::milliseconds(50)));
  }
}

// Fills the part; returns when its size is right.
void fill(const std::string& url, const RemoteFile& file, Part& part, const DownloadOptions& options) {
  std::uint64_t most =
      part.size();  // a server that cannot resume makes no progress by sending the same again
  for (int failures = 0; part.size() < file.size;) {
    check_stop(options.stop);
    const std::uint64_t before = part.size();
    Transfer transfer{part, file, options, nullptr, false};
    const Outcome outcome = transfer_once(url, transfer);
    if (transfer.error) std::rethrow_exception(transfer.error);
    if (transfer.too_large) wrong_size(url, file, part, true);
    if (outcome.code == CURLE_OK && part.size() != file.size) wrong_size(url, file, part, false);
    if (outcome.code == CURLE_OK) return;
    if (before > 0 && (outcome.code == CURLE_RANGE_ERROR || outcome.status == 416)) {
      part.clear();  // this server cannot resume a download
      continue;
    }
    failures = part.size() > most ? 1 : failures + 1;
    most = std::max(most, part.size());
    if (!may_pass(outcome)) {
      fail("cannot download {}: {}; try another address with --url", url, outcome.why);
    }
    if (failures >= options.tries) {
      fail("cannot download {}: {}; {} of {} bytes are kept, the same command resumes from there", url,
           outcome.why, part.size(), file.size);
    }
    if (options.remark) options.remark(fmt::format("{}; trying again", outcome.why));
    pause_before(failures, options);
  }
}

}  // namespace

void download(const std::string& url, const RemoteFile& file, const fs::path& target,
              const DownloadOptions& options) {
  // A file that was finished before an interruption is a part of full size.
  std::error_code ignored;
  if (fs::exists(target, ignored)) fs::rename(target, target.string() + ".part", ignored);
  Part part(target);
  if (part.size() > file.size) part.clear();
  try {
    fill(url, file, part, options);
  } catch (const base::StorageError&) {
    part.remove();
    throw;
  }
  if (const std::string md5 = part.md5(); md5 != file.md5) {
    part.remove();
    fail(
        "{} has the MD5 checksum {} instead of {}: wrong bytes arrived, nothing was kept; try again or "
        "another address "
        "with --url",
        url, md5, file.md5);
  }
  part.publish(target);
}

}  // namespace longtail::data
