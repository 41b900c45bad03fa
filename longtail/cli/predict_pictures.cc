#include "longtail/cli/predict_pictures.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "longtail/base/error.h"
#include "longtail/base/text.h"
#include "longtail/data/pictures.h"

namespace longtail::cli {
namespace {

namespace fs = std::filesystem;

// Adds the pictures in a folder and its subfolders, sorted by name, following links. A folder reached by
// several links is read once. Files that training skips are skipped here too.
void add_folder(const fs::path& folder, std::set<fs::path>& seen, FoundPictures& found) {
  std::error_code error;
  const fs::path real = fs::canonical(folder, error);
  if (!error && !seen.insert(real).second) return;
  std::vector<fs::path> entries;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (!data::is_passed_over(it->path())) entries.push_back(it->path());
  }
  if (error)
    found.faults.push_back(fmt::format("cannot read the folder {}: {}", folder.string(), error.message()));
  std::sort(entries.begin(), entries.end());
  for (const fs::path& entry : entries) {
    std::error_code ignored;  // a file that is not a picture fails when it is read
    fs::is_directory(entry, ignored) ? add_folder(entry, seen, found) : found.pictures.push_back(entry);
  }
}

}  // namespace

FoundPictures pictures_of(const std::vector<std::string>& words) {
  FoundPictures all;
  for (const std::string& word : words) {
    std::error_code ignored;
    if (!fs::is_directory(word, ignored)) {
      all.pictures.emplace_back(word);
      continue;
    }
    const std::size_t before = all.pictures.size() + all.faults.size();
    std::set<fs::path> seen;
    add_folder(word, seen, all);
    if (all.pictures.size() + all.faults.size() == before)
      base::fail("{}: there is no picture in this folder", word);
  }
  return all;
}

void refuse_unread(const FoundPictures& found, const std::vector<std::string>& pictures) {
  std::vector<std::string> faults = found.faults;
  faults.insert(faults.end(), pictures.begin(), pictures.end());
  if (faults.empty()) return;
  const std::size_t all = found.pictures.size();
  const std::string what = found.faults.empty() ? fmt::format("of {} picture{}", all, all == 1 ? "" : "s")
                           : faults.size() == 1 ? "folder"
                                                : "pictures or folders";
  base::fail("{} {} cannot be read:\n  {}", faults.size(), what, base::join(faults, "\n  "));
}

}  // namespace longtail::cli
