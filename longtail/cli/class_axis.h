// The axis of the classes in figures of theory and probe.
#pragma once

#include <string>

namespace longtail::cli {

// There is no class 1.5: of few classes every one has its tick. With more, gnuplot's own ticks are whole.
inline std::string class_ticks(int classes) { return classes <= 12 ? "set xtics 1\n" : ""; }

}  // namespace longtail::cli
