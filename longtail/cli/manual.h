// The man page and the shell completions, generated from the descriptions that --help shows.
#pragma once

#include <string>

#include "longtail/cli/app.h"

namespace longtail::cli {

// The man page in roff, for `man`.
std::string man_page(const AppInfo& program, const std::string& version);

// A completion script for bash (zsh takes it too, after `bashcompinit`) or fish; a UsageError for other
// shells.
std::string completion(const AppInfo& program, const std::string& shell);

}  // namespace longtail::cli
