// For tests: where this checkout and the program built from it are. Functions rather than macros, so that a
// compiler cache can share objects between two clones.
#pragma once

#include <string>

namespace longtail::base {

std::string source_dir();  // the root of the checkout
std::string program();     // the longtail program

}  // namespace longtail::base
