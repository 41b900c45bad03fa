// Puts data into a folder where it is found by name: fetched from its authors, or imported from files you
// have. Published data is checked as a whole before it gets its name; after any failure the folder is
// unchanged. An existing folder that holds anything other than such data is refused, never replaced.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "longtail/data/dataset.h"
#include "longtail/data/download.h"
#include "longtail/data/published.h"
#include "longtail/data/staging.h"

namespace longtail::data {

// Downloads, unpacks and checks published data; returns the folder it is in. `url` replaces the authors'
// address: a folder on a mirror if it ends with a slash, otherwise the archive itself.
std::filesystem::path fetch_data(const PublishedData& published, const std::filesystem::path& folder,
                                 const std::string& url, const DownloadOptions& options);

// Published data from an archive or from a folder that holds it.
std::filesystem::path import_published(const PublishedData& published, const std::filesystem::path& source,
                                       const std::filesystem::path& folder, const Stop& stop = {});

// Where import_own would put data of that name. A UsageError if the name is not allowed, or if there is a
// folder that no import made. Called before pictures are read.
std::filesystem::path own_place(std::string_view name, const std::filesystem::path& folder);

// Your own data, already loaded, under a name of your own, as arrays (data/arrays.h).
std::filesystem::path import_own(std::string_view name, const Dataset& data,
                                 const std::filesystem::path& folder, const Stop& stop = {});

}  // namespace longtail::data
