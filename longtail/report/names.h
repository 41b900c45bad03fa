// Readable names for the series of a report. A series is named after its parameters, which is exact and long:
// "Uniform (loss=deferred:first=ldam,then=ldam(beta=0.9999),at=160, head=cosine)". A paper says LDAM-DRW. A
// file of names (TOML) sets such names for the tables, the figures, the page and the sentences:
//
//   "Uniform (mixup:alpha=1, rebalance=crt)" = "Mixup, then cRT"
#pragma once

#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "longtail/report/keys.h"

namespace longtail::report {

// Maps a series, as the tables or results.csv write it, to its readable name.
using Names = std::map<std::string, std::string>;

// A UsageError that names file and line if the file cannot be used. (names_file.cc)
Names read_names(const std::filesystem::path& path);

// Gives the series their names. A warning lists the names for which there is no series; a name given to two
// series is a UsageError.
void call_by_name(std::span<Series> series, const Names& names, std::vector<std::string>& warnings);

}  // namespace longtail::report
