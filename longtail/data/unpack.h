// Archives (tar, compressed by gzip, xz, bzip2 or zstd; zip), unpacked so that no path can leave the folder.
#pragma once

#include <filesystem>

#include "longtail/data/staging.h"

namespace longtail::data {

// Unpacks into `folder`, which must be new and empty. Plain files and folders only: a link, a device, an
// absolute path, `..`, or more than 4 GiB in all is an Error. What was unpacked before an error stays in
// `folder`, so pass a folder of Staging.
void unpack(const std::filesystem::path& archive, const std::filesystem::path& folder, const Stop& stop = {});

}  // namespace longtail::data
