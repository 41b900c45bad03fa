// Runs another program and gives back what it said. No shell in between.
#pragma once

#include <string>
#include <vector>

namespace longtail::study {

struct CommandResult {
  bool found = true;  // false: there is no such program in PATH
  int code = 0;
  std::string out;
  std::string err;
};

CommandResult run_command(const std::vector<std::string>& command);

}  // namespace longtail::study
