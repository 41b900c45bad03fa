// Runs a program that can compute and read, and nothing else. gnuplot runs like this, so that a name that got
// through every quote still cannot run a command. A seccomp filter of the kernel, which neither the program
// nor anything it loads can remove, allows:
//   - no new process (gnuplot's system, shell, ! and pipes all need one) and no second program;
//   - no file to be opened for writing, created, renamed or removed: results go to descriptors opened before;
//   - no socket and no tracing of other processes.
// Chosen over a wrapper or gnuplot's own settings because it holds whatever the program does; chosen over
// Landlock because that is missing from many kernels and does not forbid processes.
#pragma once

#include <string>
#include <vector>

namespace longtail::base {

struct ConfinedOptions {
  std::vector<std::string> environment;  // NAME=VALUE; the program gets no other variables
  std::string output;                    // file that standard output goes to
  std::string messages;                  // file that standard error goes to
};

enum class ConfinedEnd { kExited, kNoProgram, kNoFilter };
struct ConfinedResult {
  ConfinedEnd end = ConfinedEnd::kExited;
  int code = 0;  // exit code of the program, or 128 + the signal that killed it
};

// Runs `program` (found through PATH) confined, with these arguments and an empty standard input, and waits
// for it to end. If the kernel does not accept the filter, the program is not started.
ConfinedResult run_confined(const std::string& program, const std::vector<std::string>& arguments,
                            const ConfinedOptions& options);

}  // namespace longtail::base
