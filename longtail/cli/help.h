// What --help, `longtail help`, the man page and the shell completions say, all from the same descriptions.
#pragma once

#include <string>
#include <vector>

#include "longtail/cli/app.h"

namespace longtail::cli {

// The help of one command, no line longer than `width` but for examples.
std::string help_text(const AppInfo& command, int width);

// The command of that path below `program` ("study", "run"); a UsageError if there is none.
const AppInfo& find_command(const AppInfo& program, const std::vector<std::string>& path);

// Prints the help of that command as wide as the terminal.
void print_help(const AppInfo& program, const std::vector<std::string>& path);

}  // namespace longtail::cli
