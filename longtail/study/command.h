// Runs another program, without a shell, and returns its output.
#pragma once

#include <string>
#include <vector>

namespace longtail::study {

struct CommandResult {
  bool found = true;  // false: the program is not in PATH
  int code = 0;
  std::string out;
  std::string err;
};

CommandResult run_command(const std::vector<std::string>& command);

}  // namespace longtail::study
