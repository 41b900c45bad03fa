#include "longtail/study/command.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "longtail/base/error.h"

namespace longtail::study {
namespace {

constexpr int kNotFound = 127;

struct Pipe {
  std::array<int, 2> ends{-1, -1};
  Pipe() {
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) base::fail("cannot make a pipe: {}", std::strerror(errno));
  }
  ~Pipe() {
    close_end(0);
    close_end(1);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  void close_end(std::size_t i) {
    if (ends[i] >= 0) ::close(ends[i]);
    ends[i] = -1;
  }
};

// Reads both pipes to the end at the same time, so that neither fills up.
void drain(Pipe& out, Pipe& err, CommandResult& result) {
  while (out.ends[0] >= 0 || err.ends[0] >= 0) {
    std::array<pollfd, 2> waits = {pollfd{out.ends[0], POLLIN, 0}, pollfd{err.ends[0], POLLIN, 0}};
    if (::poll(waits.data(), waits.size(), -1) < 0 && errno != EINTR) return;
    for (std::size_t i = 0; i < 2; ++i) {
      if (waits[i].revents == 0) continue;
      std::array<char, 8192> chunk{};
      const ssize_t got = ::read(waits[i].fd, chunk.data(), chunk.size());
      if (got > 0) {
        (i == 0 ? result.out : result.err).append(chunk.data(), static_cast<std::size_t>(got));
      } else if (got == 0 || errno != EINTR) {
        (i == 0 ? out : err).close_end(0);
      }
    }
  }
}

}  // namespace

CommandResult run_command(const std::vector<std::string>& command) {
  std::vector<std::string> copy = command;
  std::vector<char*> arguments;
  for (std::string& argument : copy) arguments.push_back(argument.data());
  arguments.push_back(nullptr);
  Pipe out, err;
  const pid_t child = ::fork();
  if (child < 0) base::fail("cannot start {}: {}", command[0], std::strerror(errno));
  if (child == 0) {
    ::dup2(out.ends[1], STDOUT_FILENO);
    ::dup2(err.ends[1], STDERR_FILENO);
    ::execvp(arguments[0], arguments.data());
    ::_exit(kNotFound);
  }
  out.close_end(1);
  err.close_end(1);
  CommandResult result;
  drain(out, err, result);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  result.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  result.found = result.code != kNotFound;
  return result;
}

}  // namespace longtail::study
