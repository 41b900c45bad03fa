// The class axis in the figures of `longtail theory` and `longtail probe`.
#pragma once

#include <string>

namespace longtail::cli {

// Ticks must be whole numbers: there is no class 1.5. With more than 12 classes gnuplot chooses whole ones.
inline std::string class_ticks(int classes) { return classes <= 12 ? "set xtics 1\n" : ""; }

}  // namespace longtail::cli
