// Which runs a command means, and for how long it may work.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "longtail/study/folder.h"

namespace longtail::study {

// The runs of a plan whose names are or begin with one of `only` (empty: all), a number taken whole: `rho10` does not
// begin `rho100`. Of these the shard "i/n": every n-th, from the i-th, counted from 1 (empty: all). An Error if a word of
// `only` means no run. Empty only where i is more than the runs that are meant.
std::vector<std::size_t> select(const Plan& plan, std::string_view shard,
                                const std::vector<std::string>& only);

// "90m", "2h", "1h30m", "45s", "1d" in seconds.
double parse_duration(std::string_view text);

}  // namespace longtail::study
