#include "longtail/cli/recommend_pictures.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "longtail/base/error.h"
#include "longtail/base/text.h"
#include "longtail/data/arrays.h"
#include "longtail/data/published.h"

namespace longtail::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kFolder = "folder:", kList = "list:";

bool is_directory(const std::string& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored);
}

// The absolute path, without a trailing slash.
std::string whole_path(const std::string& path) {
  std::error_code ignored;
  const fs::path whole = fs::absolute(path, ignored).lexically_normal();
  return (whole.has_filename() ? whole : whole.parent_path()).string();
}

// The path of the folder, if `asked` means a folder.
std::string folder_path(const std::string& asked) {
  return asked.starts_with(kFolder) ? asked.substr(kFolder.size()) : asked;
}

// Treats a name without a colon as a path, because the folder may be gone.
std::string as_path(const std::string& asked) {
  return asked.find(':') == std::string::npos ? whole_path(asked) : lasting_name(asked);
}

}  // namespace

bool is_picture_folder(const std::string& asked) {
  if (asked.starts_with(kFolder)) return true;
  return is_directory(asked) && !data::find_published(asked) && !data::has_arrays(asked);
}

bool is_copied(const std::string& asked) { return is_picture_folder(asked) || asked.starts_with(kList); }

std::string source_name(const std::string& asked) {
  return is_picture_folder(asked) ? std::string(kFolder) + folder_path(asked) : asked;
}

std::string lasting_name(const std::string& asked) {
  if (is_picture_folder(asked)) return whole_path(folder_path(asked));
  if (!asked.starts_with(kList)) return asked;
  std::vector<std::string> files = base::split(std::string_view(asked).substr(kList.size()), ',');
  for (std::string& file : files) file = whole_path(file);
  return std::string(kList) + base::join(files, ",");
}

bool same_pictures(const std::string& kept, const std::string& asked) {
  if (kept == asked || as_path(kept) == as_path(asked)) return true;
  std::error_code ignored;  // it may be the same folder through a link
  return is_picture_folder(kept) && is_picture_folder(asked) &&
         fs::equivalent(folder_path(kept), folder_path(asked), ignored);
}

std::string short_name(const std::string& lasting) {
  return fs::path(lasting).is_absolute() ? fs::path(lasting).filename().string() : lasting;
}

fs::path answer_folder(const std::string& asked) {
  const bool path = is_picture_folder(asked) || asked.find(':') == std::string::npos;
  const std::string name = path ? whole_path(folder_path(asked)) : asked;
  return "recommend-" + name.substr(name.rfind('/') + 1);
}

std::string copy_folder(const fs::path& answer) {
  return fs::absolute(answer / "data").lexically_normal().string();
}

void refuse_among_pictures(const std::string& asked, const fs::path& answer) {
  std::error_code error;
  const fs::path pictures = fs::canonical(folder_path(asked), error);
  if (error || !is_picture_folder(asked)) return;  // a missing folder cannot contain it; reading reports it
  const fs::path copy = fs::path(copy_folder(answer)) / kCopy;
  for (const fs::path& part : {answer, copy, answer / "runs", answer / "report"}) {
    const fs::path place = fs::weakly_canonical(fs::absolute(part, error), error);
    if (error ||
        std::mismatch(pictures.begin(), pictures.end(), place.begin(), place.end()).first != pictures.end())
      continue;
    base::fail<base::UsageError>(
        "the answer would lie among the pictures, in {}; give --out DIR, a folder elsewhere", place.string());
  }
}

}  // namespace longtail::cli
