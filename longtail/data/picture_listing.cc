#include "longtail/data/picture_listing.h"

#include <algorithm>
#include <map>
#include <set>

#include "longtail/base/error.h"
#include "longtail/base/file.h"
#include "longtail/base/hash.h"
#include "longtail/base/text.h"
#include "longtail/base/threads.h"

namespace longtail::data {
namespace {

namespace fs = std::filesystem;
using base::fail;
using base::with_commas;
using detail::Listing;

constexpr std::uint64_t kLargestPicture = std::uint64_t{1} << 28;
constexpr std::size_t kNamesShown = 12;

// Decoded pictures, before it is certain which of them will be used.
struct Decoded {
  std::vector<PictureEntry> entries{};
  std::vector<std::uint8_t> pixels{};  // three channels each
  std::vector<int> sides{};            // the shorter side of each file
  std::vector<std::uint8_t> grey{};    // 1 or 0 for each
  int side = kSide;                    // of the images

  std::size_t size() const { return entries.size(); }
  std::size_t bytes() const { return ImageShape{3, side}.values(); }
};

// The labels of the pictures of a split by the actual file, whatever links and paths lead to it. A file with
// two labels is a fault and is removed from `entries`.
std::map<std::string, std::int32_t> labels_by_file(std::vector<PictureEntry>& entries,
                                                   const std::vector<std::string>& classes,
                                                   std::vector<std::string>& faults) {
  const auto file = [](const PictureEntry& entry) {
    std::error_code ignored;  // a missing file becomes a fault when it is opened
    return fs::canonical(entry.path, ignored).string();
  };
  std::map<std::string, std::int32_t> labels;
  std::set<std::string> ambiguous;
  for (const PictureEntry& entry : entries) {
    const std::string name = file(entry);
    if (name.empty()) continue;
    const std::int32_t first = labels.emplace(name, entry.label).first->second;
    if (first == entry.label || !ambiguous.insert(name).second) continue;
    faults.push_back(fmt::format("{} is in two classes, {} and {}", entry.path.string(),
                                 classes[static_cast<std::size_t>(first)],
                                 classes[static_cast<std::size_t>(entry.label)]));
  }
  if (!ambiguous.empty())
    std::erase_if(entries, [&](const PictureEntry& entry) { return ambiguous.contains(file(entry)); });
  return labels;
}

// Adds a remark on files that are named in both splits.
void look_for_shared(Listing& listing, Dataset& data) {
  const auto trained = labels_by_file(listing.train, listing.classes, listing.faults);
  const auto tested = labels_by_file(listing.test, listing.classes, listing.faults);
  const auto shared = std::count_if(tested.begin(), tested.end(),
                                    [&](const auto& picture) { return trained.contains(picture.first); });
  if (shared == 0) return;
  data.remarks.push_back(
      shared == 1
          ? "1 test picture is a training picture too: the accuracy on it says little."
          : fmt::format("{} test pictures are training pictures too: the accuracy on them says little.",
                        with_commas(shared)));
}

Decoded decode_all(std::vector<PictureEntry> entries, const PictureOptions& options,
                   std::vector<std::string>& faults, base::ThreadPool& pool) {
  Decoded result{std::move(entries), {}, {}, {}, options.side};
  result.pixels.resize(result.size() * result.bytes());
  result.sides.resize(result.size());
  result.grey.resize(result.size());
  std::vector<std::string> wrong(result.size());
  pool.run(static_cast<int>(result.size()), [&](int index, int) {
    const auto i = static_cast<std::size_t>(index);
    const fs::path& path = result.entries[i].path;
    try {
      const Picture picture = decode_picture(base::read_bytes(path, kLargestPicture), path.string());
      area_average(picture, window_of(picture, options.fit), options.side,
                   std::span(result.pixels).subspan(i * result.bytes(), result.bytes()));
      result.sides[i] = std::min(picture.width, picture.height);
      result.grey[i] = picture.channels == 1;
    } catch (const base::Error& error) {
      wrong[i] = error.what();
    }
  });
  for (const std::string& sentence : wrong) {
    if (!sentence.empty()) faults.push_back(sentence);
  }
  return result;
}

// Keeps the pictures i for which keep(i) is true, in their order.
template <class Keep>
Decoded filtered(const Decoded& from, const Keep& keep) {
  Decoded result;
  result.side = from.side;
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (!keep(i)) continue;
    result.entries.push_back(from.entries[i]);
    result.sides.push_back(from.sides[i]);
    result.grey.push_back(from.grey[i]);
    const auto at = from.pixels.begin() + static_cast<std::ptrdiff_t>(i * from.bytes());
    result.pixels.insert(result.pixels.end(), at, at + static_cast<std::ptrdiff_t>(from.bytes()));
  }
  return result;
}

std::vector<std::int64_t> class_sizes(const Decoded& part, std::size_t classes) {
  std::vector<std::int64_t> sizes(classes);
  for (const PictureEntry& entry : part.entries) ++sizes[static_cast<std::size_t>(entry.label)];
  return sizes;
}

// "cat, dog and 7 more".
std::string names_text(const std::vector<std::string>& names) {
  const std::size_t shown = names.size() > kNamesShown ? kNamesShown - 2 : names.size();
  const std::string text = base::join(std::span(names).first(shown), ", ");
  return shown < names.size() ? fmt::format("{} and {} more", text, names.size() - shown) : text;
}

void report_faults(const std::vector<std::string>& faults, std::size_t files, bool skip, Dataset& data) {
  if (faults.empty()) return;
  const std::string list = base::join(faults, "\n  ");
  if (!skip) {
    if (faults.size() == 1) fail("{} (--skip-unreadable leaves such files out)", faults[0]);
    fail("{} of {} files cannot be used; take them out, or leave them out with --skip-unreadable:\n  {}",
         with_commas(static_cast<std::int64_t>(faults.size())), with_commas(static_cast<std::int64_t>(files)),
         list);
  }
  data.remarks.push_back(fmt::format("{} of {} files cannot be used and are left out:\n  {}",
                                     with_commas(static_cast<std::int64_t>(faults.size())),
                                     with_commas(static_cast<std::int64_t>(files)), list));
}

// Leaves out the classes without training pictures and renumbers the others.
void drop_untrained(std::vector<std::string>& classes, Decoded& train, Decoded& test, Dataset& data,
                    const std::string& where) {
  const std::vector<std::int64_t> trained = class_sizes(train, classes.size());
  const std::vector<std::int64_t> tested = class_sizes(test, classes.size());
  std::vector<std::string> kept, only_tested, empty, untested;
  std::vector<std::int32_t> number(classes.size(), -1);
  for (std::size_t k = 0; k < classes.size(); ++k) {
    if (trained[k] == 0) {
      (tested[k] > 0 ? only_tested : empty).push_back(classes[k]);
      continue;
    }
    if (tested[k] == 0) untested.push_back(classes[k]);
    number[k] = static_cast<std::int32_t>(kept.size());
    kept.push_back(classes[k]);
  }
  if (!only_tested.empty() && untested.size() == kept.size()) {
    fail(
        "{}: no class of the test part has training pictures (test: {}; train: {}); a class has to be called "
        "the same in both",
        where, names_text(only_tested), names_text(kept));
  }
  const auto remark = [&](const std::vector<std::string>& names, const char* one, const char* many) {
    if (names.empty()) return;
    data.remarks.push_back(fmt::format("{} {}: {}.", with_commas(static_cast<std::int64_t>(names.size())),
                                       names.size() == 1 ? one : many, names_text(names)));
  };
  remark(untested, "class has no test pictures, is trained and is left out of the means",
         "classes have no test pictures, are trained and are left out of the means");
  remark(only_tested, "class has test pictures only and is left out",
         "classes have test pictures only and are left out");
  remark(empty, "class has no pictures and is left out", "classes have no pictures and are left out");
  const auto known = [&](const Decoded& part) {
    return [&](std::size_t i) { return number[static_cast<std::size_t>(part.entries[i].label)] >= 0; };
  };
  if (kept.size() < classes.size()) test = filtered(test, known(test));
  for (Decoded* part : {&train, &test}) {
    for (PictureEntry& entry : part->entries) entry.label = number[static_cast<std::size_t>(entry.label)];
  }
  classes = std::move(kept);
}

// Keeps the first of three equal channels where everything is grey.
Split to_split(Decoded& part, bool grey) {
  Split split;
  for (const PictureEntry& entry : part.entries) split.labels.push_back(entry.label);
  split.pixels = std::move(part.pixels);
  if (!grey) return split;
  const std::size_t plane = part.bytes() / 3;
  for (std::size_t i = 0; i < split.labels.size(); ++i) {
    std::copy_n(split.pixels.begin() + static_cast<std::ptrdiff_t>(i * part.bytes()), plane,
                split.pixels.begin() + static_cast<std::ptrdiff_t>(i * plane));
  }
  split.pixels.resize(split.labels.size() * plane);
  split.pixels.shrink_to_fit();
  return split;
}

int median(std::vector<int> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

std::int64_t test_part_size(std::int64_t count) {
  return std::max((count + 2) / 5, std::min<std::int64_t>(5, count / 3));
}

std::vector<bool> test_part(const std::vector<PictureEntry>& entries) {
  std::map<std::int32_t, std::vector<std::pair<std::string, std::size_t>>> by_class;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const fs::path& path = entries[i].path;
    const std::string name = (path.parent_path().filename() / path.filename()).string();
    by_class[entries[i].label].emplace_back(base::sha256(name), i);
  }
  std::vector<bool> chosen(entries.size());
  for (auto& [label, pictures] : by_class) {
    std::sort(pictures.begin(), pictures.end());
    const auto size = static_cast<std::size_t>(test_part_size(static_cast<std::int64_t>(pictures.size())));
    for (std::size_t i = 0; i < size; ++i) chosen[pictures[i].second] = true;
  }
  return chosen;
}

std::vector<std::uint8_t> read_picture(const fs::path& path, const PictureForm& form,
                                       const ImageShape& shape) {
  const Picture picture = decode_picture(base::read_bytes(path, kLargestPicture), path.string());
  std::vector<std::uint8_t> pixels(ImageShape{3, shape.side}.values());
  area_average(picture, window_of(picture, form), shape.side, pixels);
  if (shape.channels == 3) return pixels;
  const std::size_t plane = pixels.size() / 3;
  for (std::size_t i = 0; i < plane; ++i) {
    const unsigned sum = pixels[i] + pixels[plane + i] + pixels[2 * plane + i];
    pixels[i] = static_cast<std::uint8_t>((sum + 1) / 3);
  }
  pixels.resize(plane);
  return pixels;
}

namespace detail {

Dataset read_listing(Listing& listing, const PictureOptions& options, const std::string& where) {
  const std::size_t files = listing.faults.size() + listing.train.size() + listing.test.size();
  Dataset data;
  look_for_shared(listing, data);
  const std::size_t stray = listing.faults.size();
  base::ThreadPool pool(base::available_cpus());
  Decoded train = decode_all(std::move(listing.train), options, listing.faults, pool);
  Decoded test = decode_all(std::move(listing.test), options, listing.faults, pool);
  report_faults(listing.faults, files, options.skip_unreadable, data);
  if (listing.faults.size() > stray) {
    train = filtered(train, [&](std::size_t i) { return train.sides[i] > 0; });
    test = filtered(test, [&](std::size_t i) { return test.sides[i] > 0; });
  }
  if (train.size() == 0) fail("{}: there is no picture in it that can be read", where);
  if (listing.split_off) {
    const std::vector<bool> chosen = test_part(train.entries);
    const auto all = static_cast<std::int64_t>(train.size());
    test = filtered(train, [&](std::size_t i) { return chosen[i]; });
    train = filtered(train, [&](std::size_t i) { return !chosen[i]; });
    if (test.size() == 0)
      fail("{}: no class has the three pictures it takes to spare one for testing", where);
    data.remarks.push_back(
        fmt::format("There is no test part, so {} of {} pictures are set aside for testing, a fifth of each "
                    "class (five of a class of 15 to 24, a third of a smaller one), always the same ones.",
                    with_commas(static_cast<std::int64_t>(test.size())), with_commas(all)));
  }
  drop_untrained(listing.classes, train, test, data, where);
  data.picture_side = median(train.sides);
  const auto is_grey = [](std::uint8_t one) { return one == 1; };
  const bool grey = std::all_of(train.grey.begin(), train.grey.end(), is_grey) &&
                    std::all_of(test.grey.begin(), test.grey.end(), is_grey);
  data.channels = grey ? 1 : 3;
  data.side = options.side;
  data.form = kFitNames[static_cast<std::size_t>(options.fit)];
  data.train = to_split(train, grey);
  data.test = to_split(test, grey);
  data.class_names = listing.classes;
  measure_channels(data);
  return data;
}

}  // namespace detail
}  // namespace longtail::data
