// For tests of the program: runs it and returns its exit code and output.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "longtail/base/file.h"
#include "longtail/base/test_paths.h"

namespace longtail::cli {

struct Outcome {
  int code = -1;  // exit code; 128 + signal if it was killed
  std::string out;
  std::string err;
};

// Starts the program with its standard output and error redirected to files; returns its process id.
inline pid_t start_program(std::vector<std::string> arguments, const std::filesystem::path& out,
                           const std::filesystem::path& err) {
  arguments.insert(arguments.begin(), base::program());
  const pid_t child = fork();
  if (child != 0) return child;
  std::vector<char*> argv;
  argv.reserve(arguments.size() + 1);
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  // As if started from a terminal: under nohup or in a background job it would inherit ignored signals.
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGHUP, SIG_DFL);
  if (!std::freopen(out.c_str(), "w", stdout) || !std::freopen(err.c_str(), "w", stderr)) _exit(127);
  execv(argv[0], argv.data());
  _exit(127);
}

inline int wait_for(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// Waits until something has happened or the process has ended by itself. Returns whether it happened.
inline bool wait_until(pid_t child, const std::function<bool()>& happened) {
  while (!happened()) {
    siginfo_t ended{};
    if (waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOHANG | WNOWAIT) != 0 ||
        ended.si_pid != 0) {
      return happened();
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return true;
}

// Whether the file exists and contains the words.
inline bool says(const std::filesystem::path& path, const std::string& words) {
  return std::filesystem::exists(path) && base::read_text(path).find(words) != std::string::npos;
}

// Kills the process and waits for it. Returns whether it was still alive when the signal came.
inline bool kill_hits(pid_t child) {
  ::kill(child, SIGKILL);
  return wait_for(child) == 128 + SIGKILL;
}

inline Outcome run_program(const std::vector<std::string>& arguments) {
  const auto folder = std::filesystem::temp_directory_path();
  const auto out = folder / ("longtail_out." + std::to_string(getpid()));
  const auto err = folder / ("longtail_err." + std::to_string(getpid()));
  Outcome outcome;
  outcome.code = wait_for(start_program(arguments, out, err));
  outcome.out = base::read_text(out);
  outcome.err = base::read_text(err);
  std::filesystem::remove(out);
  std::filesystem::remove(err);
  return outcome;
}

}  // namespace longtail::cli
