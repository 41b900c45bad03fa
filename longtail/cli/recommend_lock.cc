#include "longtail/cli/recommend_lock.h"

#include <system_error>

#include "longtail/base/error.h"
#include "longtail/base/file.h"
#include "longtail/base/quote.h"

namespace longtail::cli {

namespace fs = std::filesystem;

RecommendLock::RecommendLock(const fs::path& folder)
    : file_(folder / "recommend.lock"), made_(!base::present(folder)) {
  base::make_folder(folder);
  lock_ = study::FileLock::try_take(file_);
  if (lock_) return;
  base::fail("another `longtail recommend` works in {} ({}); wait for it to end, or give another --out",
             folder.string(), base::quote::terminal(study::FileLock::holder(file_)));
}

RecommendLock::~RecommendLock() {
  std::error_code ignored;
  const fs::path folder = file_.parent_path();
  int files = 0;
  for (fs::directory_iterator at(folder, ignored), end; !ignored && at != end; at.increment(ignored)) ++files;
  if (!made_ || !lock_ || ignored || files != 1) return;
  fs::remove(file_, ignored);
  fs::remove(folder, ignored);  // fails if the folder is not empty
}

}  // namespace longtail::cli
