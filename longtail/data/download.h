// Downloads one file with libcurl: resumes where an earlier try stopped, tries again when the connection is
// cut, and checks size and MD5 before the file gets its name.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include "longtail/data/published.h"
#include "longtail/data/staging.h"

namespace longtail::data {

struct DownloadOptions {
  std::chrono::seconds timeout{30};       // for connecting, and for waiting without a byte
  int tries = 5;                          // in a row without progress
  std::chrono::milliseconds pause{1000};  // before the second try; doubles
  std::function<void(std::uint64_t done, std::uint64_t total)> progress;
  std::function<void(const std::string& sentence)> remark;  // called after a try that failed
  Stop stop;
};

// Downloads `url` to `target`. Meanwhile the bytes are in target.part, which stays only if a later call can
// resume from it (the connection was cut, the user interrupted). A wrong size or checksum, or a full disk,
// leaves nothing.
void download(const std::string& url, const RemoteFile& file, const std::filesystem::path& target,
              const DownloadOptions& options);

}  // namespace longtail::data
