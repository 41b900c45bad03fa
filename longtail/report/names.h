// What the series of a report are called by people. A series is named after its parameters, which is exact and long:
// "Uniform (loss=deferred:first=ldam,then=ldam(beta=0.9999),at=160, head=cosine)". A paper says LDAM-DRW. A file of
// names, TOML, says so for the tables, the figures, the page and the sentences:
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

// From a series as the tables write it, or as results.csv does, to what it is called.
using Names = std::map<std::string, std::string>;

// A UsageError that names file and line if it cannot be used. (names_file.cc)
Names read_names(const std::filesystem::path& path);

// Gives the series their names. A warning says for which names there is no series; one that two series would have
// is a UsageError.
void call_by_name(std::span<Series> series, const Names& names, std::vector<std::string>& warnings);

}  // namespace longtail::report
