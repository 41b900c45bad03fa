#include "longtail/study/child.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include "longtail/base/error.h"
#include "longtail/base/stop_signals.h"
#include "longtail/base/text.h"

namespace longtail::study {
namespace {

constexpr std::size_t kLastWords = 600;

// Runs in the child between fork and exec, so it makes only calls that are safe there.
[[noreturn]] void become(const char* program, char* const* arguments, int out, pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(kNotStarted);  // the parent died before prctl took effect
  const int null = ::open("/dev/null", O_RDONLY);
  if (null >= 0) ::dup2(null, STDIN_FILENO);
  ::dup2(out, STDOUT_FILENO);
  ::dup2(out, STDERR_FILENO);
  ::execv(program, arguments);
  ::_exit(kNotStarted);
}

}  // namespace

Child::Child(const std::string& program, const std::vector<std::string>& command) {
  std::vector<std::string> copy = command;
  std::vector<char*> arguments;
  arguments.reserve(copy.size() + 1);
  for (std::string& argument : copy) arguments.push_back(argument.data());
  arguments.push_back(nullptr);
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0)
    base::fail<base::StorageError>("cannot make a pipe: {}", std::strerror(errno));
  const pid_t parent = ::getpid();
  pid_ = ::fork();
  if (pid_ == 0) become(program.c_str(), arguments.data(), ends[1], parent);
  const int error = errno;
  ::close(ends[1]);
  fd_ = ends[0];
  if (pid_ < 0) {
    ::close(std::exchange(fd_, -1));
    base::fail<base::StorageError>("cannot start a process: {}", std::strerror(error));
  }
}

Child::Child(Child&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      fd_(std::exchange(other.fd_, -1)),
      exit_code_(other.exit_code_),
      buffer_(std::move(other.buffer_)),
      last_words_(std::move(other.last_words_)) {}

Child::~Child() {
  if (pid_ > 0) {
    signal(SIGKILL);
    finish();
  }
  if (fd_ >= 0) ::close(fd_);
}

bool Child::read(std::vector<Event>& events) {
  std::array<char, 16384> chunk{};
  const ssize_t got = ::read(fd_, chunk.data(), chunk.size());
  if (got < 0 && errno == EINTR) return true;
  if (got > 0) buffer_.append(chunk.data(), static_cast<std::size_t>(got));
  for (auto end = buffer_.find('\n'); end != std::string::npos; end = buffer_.find('\n')) {
    const std::string line = buffer_.substr(0, end);
    buffer_.erase(0, end + 1);
    if (auto event = parse_event(line)) {
      events.push_back(std::move(*event));
    } else if (!base::trim(line).empty()) {
      last_words_ += (last_words_.empty() ? "" : " ") + std::string(base::trim(line));
      if (last_words_.size() > kLastWords) last_words_.erase(0, last_words_.size() - kLastWords);
    }
  }
  return got > 0;
}

std::string Child::finish() {
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) continue;
  pid_ = -1;
  const std::string words = last_words_.empty() ? "" : ": " + last_words_;
  if (WIFSIGNALED(status)) {
    const int number = WTERMSIG(status);
    if (std::find(base::kStopSignals.begin(), base::kStopSignals.end(), number) != base::kStopSignals.end()) {
      exit_code_ = 130;
      return "";
    }
    return fmt::format("killed by signal {} ({}){}{}", number, ::strsignal(number),
                       number == SIGKILL ? ", perhaps because memory ran out" : "", words);
  }
  exit_code_ = WEXITSTATUS(status);
  if (exit_code_ == 0 || exit_code_ == 1 || exit_code_ == 75 || exit_code_ == 130) return "";
  if (exit_code_ == kNotStarted) return "cannot be started" + words;
  return fmt::format("ended with exit code {}{}", exit_code_, words);
}

void Child::signal(int number) const {
  if (pid_ > 0) ::kill(pid_, number);
}

}  // namespace longtail::study
