// One `longtail recommend` at a time in a folder: two would share its plan, its clock and its looks.
#pragma once

#include <filesystem>
#include <optional>

#include "longtail/study/lock.h"

namespace longtail::cli {

class RecommendLock {
 public:
  // Makes the folder if there is none. An Error names the process that works in it.
  explicit RecommendLock(const std::filesystem::path& folder);
  // A folder that was made for nothing goes again: a command that was refused leaves none behind.
  ~RecommendLock();
  RecommendLock(const RecommendLock&) = delete;
  RecommendLock& operator=(const RecommendLock&) = delete;

 private:
  std::filesystem::path file_;
  bool made_ = false;  // the folder was not there
  std::optional<study::FileLock> lock_;
};

}  // namespace longtail::cli
