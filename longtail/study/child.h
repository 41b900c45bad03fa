// A child process that does one run, and the events it sends.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "longtail/study/worker.h"

namespace longtail::study {

// The exit code of a child whose program cannot be started, by this process or by the dynamic loader.
inline constexpr int kNotStarted = 127;

class Child {
 public:
  // Executes the file `program` with `command` as argv; command[0] is the name it is called by. The child is
  // killed if this process dies.
  Child(const std::string& program, const std::vector<std::string>& command);
  Child(Child&& other) noexcept;
  Child& operator=(Child&&) = delete;
  // A child still running is killed and waited for.
  ~Child();

  int fd() const { return fd_; }  // to poll
  // Appends the events that have arrived. False when the child has closed its end; then call finish().
  bool read(std::vector<Event>& events);
  // Waits for the child to end. Returns what went wrong ("killed by signal 9 (Killed)", "ended with exit code
  // 3"), or "" after an orderly end, whose code is in exit_code(). Death by a signal that asks to stop counts
  // as an orderly end with code 130: the child had not installed its handlers yet.
  std::string finish();
  int exit_code() const { return exit_code_; }
  void signal(int number) const;

 private:
  pid_t pid_ = -1;
  int fd_ = -1;
  int exit_code_ = -1;
  std::string buffer_;
  std::string last_words_;  // lines that are not events: messages of libraries
};

}  // namespace longtail::study
