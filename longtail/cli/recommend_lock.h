// Allows one `longtail recommend` at a time per folder: two would share its plan, its clock and its looks.
#pragma once

#include <filesystem>
#include <optional>

#include "longtail/study/lock.h"

namespace longtail::cli {

class RecommendLock {
 public:
  // Creates the folder if needed. An Error names the process that already works in it.
  explicit RecommendLock(const std::filesystem::path& folder);
  // Removes a folder that the constructor created and that is still empty: a refused command leaves none
  // behind.
  ~RecommendLock();
  RecommendLock(const RecommendLock&) = delete;
  RecommendLock& operator=(const RecommendLock&) = delete;

 private:
  std::filesystem::path file_;
  bool made_ = false;  // the constructor created the folder
  std::optional<study::FileLock> lock_;
};

}  // namespace longtail::cli
