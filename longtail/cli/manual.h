// The man page and the shell completions, written from the descriptions that --help shows.
#pragma once

#include <string>

#include "longtail/cli/app.h"

namespace longtail::cli {

// In roff, for `man`.
std::string man_page(const AppInfo& program, const std::string& version);

// A script for bash (zsh takes it too, after `bashcompinit`) or fish; a UsageError for another shell.
std::string completion(const AppInfo& program, const std::string& shell);

}  // namespace longtail::cli
