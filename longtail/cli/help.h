// The help text shown by --help and `longtail help`, generated from the same descriptions as the man page and
// the shell completions (manual.h).
#pragma once

#include <string>
#include <vector>

#include "longtail/cli/app.h"

namespace longtail::cli {

// The help of one command. Only lines of examples may be longer than `width`.
std::string help_text(const AppInfo& command, int width);

// The command at that path below `program` ("study", "run"); a UsageError if there is none.
const AppInfo& find_command(const AppInfo& program, const std::vector<std::string>& path);

// Prints the help of that command at the width of the terminal.
void print_help(const AppInfo& program, const std::vector<std::string>& path);

}  // namespace longtail::cli
