// Which runs a command selects, and for how long it may work.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "longtail/study/folder.h"

namespace longtail::study {

// The runs of a plan whose names begin with one of `only` (empty: all). Numbers are matched whole: `rho10`
// does not match `rho100`. Of those runs, the shard "i/n" takes every n-th from the i-th, counted from 1
// (empty: all). An Error if a word of `only` matches no run. The result is empty only if i is larger than the
// number of matches.
std::vector<std::size_t> select(const Plan& plan, std::string_view shard,
                                const std::vector<std::string>& only);

// "90m", "2h", "1h30m", "45s", "1d" in seconds.
double parse_duration(std::string_view text);

}  // namespace longtail::study
