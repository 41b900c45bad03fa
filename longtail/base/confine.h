// A process that can compute and read, and nothing else: what gnuplot becomes before it sees a script, so
// that a name that got through every quote still cannot run a command. A seccomp filter of the kernel, which
// neither the process nor anything it loads can take off again:
//   - no new process (gnuplot's system, shell, ! and pipes all need one) and no second program;
//   - no file opened for writing, made, renamed or removed: results go to descriptors that were open before;
//   - no socket, no tracing of other processes.
// Chosen over a wrapper or gnuplot's own settings because it holds whatever the program does; over Landlock
// because that is missing from many kernels and does not forbid processes.
#pragma once

#include <string>
#include <vector>

namespace longtail::base {

struct ConfinedOptions {
  std::vector<std::string> environment;  // NAME=VALUE, all of it
  std::string output;                    // file that standard output goes to
  std::string messages;                  // file that standard error goes to
};

enum class ConfinedEnd { kExited, kNoProgram, kNoFilter };
struct ConfinedResult {
  ConfinedEnd end = ConfinedEnd::kExited;
  int code = 0;  // of the program; 128 + the signal that killed it
};

// Runs `program` (looked for in PATH) with the arguments, confined, its standard input empty, and waits.
// Where the kernel does not take the filter the program is not started.
ConfinedResult run_confined(const std::string& program, const std::vector<std::string>& arguments,
                            const ConfinedOptions& options);

}  // namespace longtail::base
