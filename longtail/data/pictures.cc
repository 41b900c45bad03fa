#include "longtail/data/pictures.h"

#include <algorithm>
#include <atomic>

#include "longtail/base/error.h"
#include "longtail/base/file.h"
#include "longtail/base/text.h"
#include "longtail/base/threads.h"
#include "longtail/data/image.h"

namespace longtail::data {
namespace {

namespace fs = std::filesystem;
using base::fail;

constexpr std::uint64_t kLargestPicture = std::uint64_t{1} << 28;
constexpr std::size_t kColourBytes = std::size_t{3} * kPixels;
constexpr std::int64_t kMostClasses = 1'000'000;

struct Pictures {
  Split split;
  bool all_grey = true;
};

Pictures decode_all(const std::vector<PictureEntry>& entries, base::ThreadPool& pool) {
  Pictures result;
  result.split.pixels.resize(entries.size() * kColourBytes);
  std::atomic<bool> colour = false;
  pool.run(static_cast<int>(entries.size()), [&](int index, int) {
    const auto i = static_cast<std::size_t>(index);
    const Picture picture =
        decode_picture(base::read_bytes(entries[i].path, kLargestPicture), entries[i].path.string());
    if (picture.channels != 1) colour = true;
    area_average(picture, std::span<std::uint8_t, kColourBytes>(result.split.pixels.data() + i * kColourBytes,
                                                                kColourBytes));
  });
  for (const PictureEntry& entry : entries) result.split.labels.push_back(entry.label);
  result.all_grey = !colour;
  return result;
}

// Keeps the first of three equal channels.
void drop_colour(Split& split) {
  for (std::size_t i = 0; i < split.labels.size(); ++i) {
    std::copy_n(split.pixels.begin() + static_cast<std::ptrdiff_t>(i * kColourBytes), kPixels,
                split.pixels.begin() + static_cast<std::ptrdiff_t>(i * kPixels));
  }
  split.pixels.resize(split.labels.size() * kPixels);
  split.pixels.shrink_to_fit();
}

Dataset decode(const std::vector<PictureEntry>& train, const std::vector<PictureEntry>& test) {
  base::ThreadPool pool(base::available_cpus());
  Pictures first = decode_all(train, pool);
  Pictures second = decode_all(test, pool);
  Dataset data;
  data.train = std::move(first.split);
  data.test = std::move(second.split);
  if (first.all_grey && second.all_grey) {
    data.channels = 1;
    drop_colour(data.train);
    drop_colour(data.test);
  }
  measure_channels(data);
  return data;
}

bool hidden(const fs::path& path) {
  const std::string name = path.filename().string();
  return name.starts_with('.') || name == "Thumbs.db" || name == "desktop.ini";
}

std::vector<fs::path> sorted_entries(const fs::path& folder) {
  std::error_code error;
  std::vector<fs::path> all;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (!hidden(it->path())) all.push_back(it->path());
  }
  if (error) fail("cannot read the folder {}: {}", folder.string(), error.message());
  std::sort(all.begin(), all.end());
  return all;
}

std::vector<std::string> class_folders(const fs::path& split) {
  std::vector<std::string> names;
  for (const fs::path& path : sorted_entries(split)) {
    if (!fs::is_directory(path)) {
      fail("{}: expected only a folder for each class in {}", path.string(), split.string());
    }
    names.push_back(path.filename().string());
  }
  if (names.empty()) fail("{}: there is no class folder in it", split.string());
  return names;
}

std::vector<PictureEntry> list_split(const fs::path& split, const std::vector<std::string>& classes) {
  std::vector<PictureEntry> entries;
  for (std::size_t label = 0; label < classes.size(); ++label) {
    const fs::path folder = split / classes[label];
    const std::size_t before = entries.size();
    if (!fs::is_directory(folder)) {
      fail("{}: there is no folder for the class `{}`; every class needs pictures in both splits",
           split.string(), classes[label]);
    }
    for (const fs::path& path : sorted_entries(folder))
      entries.push_back({path, static_cast<std::int32_t>(label)});
    if (entries.size() == before) fail("{}: the class folder is empty", folder.string());
  }
  return entries;
}

std::int64_t check_labels(const std::vector<PictureEntry>& entries, const std::string& where) {
  std::int32_t last = -1;
  for (const PictureEntry& entry : entries) last = std::max(last, entry.label);
  std::vector<bool> seen(static_cast<std::size_t>(last) + 1);
  for (const PictureEntry& entry : entries) seen[static_cast<std::size_t>(entry.label)] = true;
  const auto gap = std::find(seen.begin(), seen.end(), false);
  if (gap != seen.end()) {
    fail("{}: no picture has the label {}; labels must run from 0 to the largest ({}) without gaps", where,
         gap - seen.begin(), last);
  }
  return std::int64_t{last} + 1;
}

}  // namespace

Dataset read_picture_folder(const fs::path& folder) {
  std::error_code ignored;
  const fs::path train = folder / "train";
  const fs::path test = fs::is_directory(folder / "test", ignored) ? folder / "test" : folder / "val";
  if (!fs::is_directory(folder, ignored)) fail("{}: there is no such folder", folder.string());
  if (!fs::is_directory(train, ignored)) fail("{}: there is no folder `train` in it", folder.string());
  if (!fs::is_directory(test, ignored)) {
    fail("{}: there is no test split: no folder `test` (or `val`) in it", folder.string());
  }
  const std::vector<std::string> classes = class_folders(train);
  for (const std::string& name : class_folders(test)) {
    if (!std::binary_search(classes.begin(), classes.end(), name)) {
      fail("{}: the class `{}` has no training pictures{}", test.string(), name,
           base::did_you_mean(name, classes));
    }
  }
  Dataset data = decode(list_split(train, classes), list_split(test, classes));
  data.class_names = classes;
  return data;
}

std::vector<PictureEntry> parse_picture_list(std::string_view text, const fs::path& root,
                                             const std::string& where) {
  std::vector<PictureEntry> entries;
  std::int64_t number = 0;
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

Dataset read_picture_lists(const fs::path& train, const fs::path& test, const fs::path& root) {
  const auto read = [&](const fs::path& list) {
    return parse_picture_list(base::read_text(list), root.empty() ? list.parent_path() : root, list.string());
  };
  const std::vector<PictureEntry> training = read(train);
  const std::vector<PictureEntry> testing = read(test);
  const std::int64_t classes = check_labels(training, train.string());
  for (const PictureEntry& entry : testing) {
    if (entry.label >= classes) {
      fail("{}: {} has the label {}, but the training list has only the labels 0 to {}", test.string(),
           entry.path.string(), entry.label, classes - 1);
    }
  }
  Dataset data = decode(training, testing);
  for (std::int64_t i = 0; i < classes; ++i) data.class_names.push_back(std::to_string(i));
  return data;
}

}  // namespace longtail::data
