// Files built into the program: the paper's results, the field's baselines, the page's sources and the chart
// library.
#pragma once

#include <string_view>

namespace longtail::report {

// The file's bytes by its name ("paper_per_seed.csv"); an Error if there is none.
std::string_view embedded(std::string_view name);

}  // namespace longtail::report
