#include "longtail/data/pictures.h"

#include <algorithm>
#include <cctype>

#include "longtail/base/error.h"
#include "longtail/base/file.h"
#include "longtail/base/text.h"
#include "longtail/data/picture_listing.h"

namespace longtail::data {
namespace {

namespace fs = std::filesystem;
using base::fail;
using detail::Listing;
using detail::read_listing;

constexpr std::int64_t kMostClasses = 1'000'000;

std::vector<fs::path> sorted_entries(const fs::path& folder) {
  std::error_code error;
  std::vector<fs::path> all;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (!is_passed_over(it->path())) all.push_back(it->path());
  }
  if (error) fail("cannot read the folder {}: {}", folder.string(), error.message());
  std::sort(all.begin(), all.end());
  return all;
}

// The class folders of a split. A file next to them belongs to no class and is a fault.
std::vector<std::string> class_folders(const fs::path& split, Listing& listing) {
  std::vector<std::string> names;
  for (const fs::path& path : sorted_entries(split)) {
    std::error_code ignored;
    if (fs::is_directory(path, ignored)) {
      names.push_back(path.filename().string());
    } else {
      listing.faults.push_back(
          fmt::format("{}: expected only a folder for each class in {}", path.string(), split.string()));
    }
  }
  return names;
}

// Whether a class folder was probably meant as a split of the data: `Train`, `Testing`, ...
bool is_like_a_part(std::string name) {
  if (name == "train" || name == "test" || name == "val") return false;  // a class of that name
  for (char& letter : name) letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  for (const char* part : {"train", "training", "test", "testing", "val", "valid", "validation"}) {
    if (name == part) return true;
  }
  return false;
}

void add_class(const fs::path& split, const std::string& name, std::size_t label,
               std::vector<PictureEntry>& entries, std::vector<std::string>& faults) {
  std::error_code ignored;
  if (!fs::is_directory(split / name, ignored)) return;
  std::vector<fs::path> folders;
  for (const fs::path& path : sorted_entries(split / name)) {
    if (fs::is_directory(path, ignored)) {
      folders.push_back(path);
    } else {
      entries.push_back({path, static_cast<std::int32_t>(label)});
    }
  }
  if (folders.empty()) return;
  faults.push_back(fmt::format(
      "{} inside a class folder; put the pictures into the class folder, or give the folder that holds the "
      "classes{}",
      folders.size() == 1
          ? fmt::format("{} is a folder", folders[0].string())
          : fmt::format("{} and {} more are folders", folders[0].string(), folders.size() - 1),
      is_like_a_part(name)
          ? fmt::format(
                " (a part of the data has to be called `train` or `test`, in small letters, not `{}`)", name)
          : ""));
}

std::vector<std::string> folders_in(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const fs::path& path : sorted_entries(folder)) {
    if (fs::is_directory(path, ignored)) names.push_back(path.filename().string());
  }
  return names;
}

// Where the training and the test pictures are.
struct Parts {
  fs::path train;
  fs::path test{};       // empty: there is no test part
  std::string remark{};  // on what is not used
};

// `train`, `test` and `val` are splits of the data unless they hold no folders and lie next to other folders:
// then they are classes of these names. What is neither a split nor a class is never skipped silently.
Parts parts_of(const fs::path& folder) {
  std::vector<std::string> parts, others;
  bool holds_classes = false;
  for (const std::string& name : folders_in(folder)) {
    const bool part = name == "train" || name == "test" || name == "val";
    (part ? parts : others).push_back(name);
    holds_classes = holds_classes || (part && !folders_in(folder / name).empty());
  }
  if (parts.empty()) return {folder};  // CLASS/* alone
  if (!others.empty() && !holds_classes) {
    const bool one = parts.size() == 1;
    return {.train = folder,
            .remark = fmt::format(
                "`{}` {}", base::join(parts, "`, `"),
                one ? "is taken for a class, as there is no folder in it; move it away if it is none."
                    : "are taken for classes, as there is no folder in them; move them away if they "
                      "are none.")};
  }
  const auto has = [&](const char* name) { return std::count(parts.begin(), parts.end(), name) > 0; };
  if (!has("train")) fail("{}: there is no folder `train` in it beside `{}`", folder.string(), parts[0]);
  const bool tested = has("test") || has("val");
  if (!others.empty() && !tested) {
    fail(
        "{}: beside `train` lies `{}`, which would not be read: a part for testing has to be called `test` "
        "or `val`, "
        "classes of pictures to train on belong into `train`, and a class that is itself called so needs "
        "another name; "
        "rename it or move it away",
        folder.string(), base::join(others, "`, `"));
  }
  Parts found{folder / "train"};
  if (!tested) return found;
  const char* test = has("test") ? "test" : "val";
  found.test = folder / test;
  if (has("test") && has("val")) others.emplace_back("val");
  if (!others.empty())
    found.remark = fmt::format("`{}` is taken for testing; the pictures in `{}` are not used.", test,
                               base::join(others, "`, `"));
  return found;
}

}  // namespace

bool is_passed_over(const fs::path& path) {
  const std::string name = path.filename().string();
  return name.starts_with('.') || name == "Thumbs.db" || name == "desktop.ini";
}

Dataset read_picture_folder(const fs::path& folder, const PictureOptions& options) {
  std::error_code ignored;
  if (!fs::is_directory(folder, ignored)) fail("{}: there is no such folder", folder.string());
  const auto [train, test, remark] = parts_of(folder);
  Listing listing;
  listing.classes = class_folders(train, listing);
  if (listing.classes.empty()) {
    fail("{}: there is no class folder in it; put the pictures of each class into a folder of its own",
         train.string());
  }
  if (!test.empty()) {
    if (folders_in(test).empty()) {
      fail(
          "{}: there is no class folder in it; move it away, and a fifth of each class is set aside for "
          "testing",
          test.string());
    }
    for (std::string& name : class_folders(test, listing)) listing.classes.push_back(std::move(name));
    std::sort(listing.classes.begin(), listing.classes.end());
    listing.classes.erase(std::unique(listing.classes.begin(), listing.classes.end()), listing.classes.end());
  }
  listing.split_off = test.empty();
  for (std::size_t label = 0; label < listing.classes.size(); ++label) {
    add_class(train, listing.classes[label], label, listing.train, listing.faults);
    if (!test.empty()) add_class(test, listing.classes[label], label, listing.test, listing.faults);
  }
  Dataset data = read_listing(listing, options, train.string());
  if (!remark.empty()) data.remarks.push_back(remark);
  return data;
}

std::vector<PictureEntry> parse_picture_list(std::string_view text, const fs::path& root,
                                             const std::string& where) {
  std::vector<PictureEntry> entries;
  std::int64_t number = 0;
  text = base::without_mark(text);
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = base::trim(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    ++number;
    if (line.empty()) continue;
    const std::size_t blank = line.find_last_of(" \t");
    if (blank == std::string_view::npos)
      fail("{}, line {}: expected `path label`, found `{}`", where, number, line);
    const std::string_view last = line.substr(blank + 1);
    const auto label = base::parse_integer(last);
    if (!label) fail("{}, line {}: the label `{}` is not a whole number", where, number, last);
    if (*label < 0 || *label >= kMostClasses) {
      fail("{}, line {}: the label {} is out of range; labels run from 0 to at most {}", where, number,
           *label, kMostClasses - 1);
    }
    entries.push_back({root / base::trim(line.substr(0, blank)), static_cast<std::int32_t>(*label)});
  }
  if (entries.empty()) fail("{}: there is no picture in the list", where);
  return entries;
}

Dataset read_picture_lists(const fs::path& train, const fs::path& test, const fs::path& root,
                           const PictureOptions& options) {
  const auto read = [&](const fs::path& list) {
    return parse_picture_list(base::read_text(list), root.empty() ? list.parent_path() : root, list.string());
  };
  Listing listing;
  listing.train = read(train);
  listing.test = read(test);
  std::int32_t last = 0;
  for (const auto* entries : {&listing.train, &listing.test}) {
    for (const PictureEntry& entry : *entries) last = std::max(last, entry.label);
  }
  for (std::int32_t label = 0; label <= last; ++label) listing.classes.push_back(std::to_string(label));
  return read_listing(listing, options, train.string());
}

}  // namespace longtail::data
