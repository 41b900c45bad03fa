#include "longtail/data/registry.h"

#include <cstdlib>

#include "longtail/base/error.h"
#include "longtail/base/file.h"
#include "longtail/base/hash.h"
#include "longtail/base/text.h"
#include "longtail/data/arrays.h"
#include "longtail/data/cifar.h"
#include "longtail/data/idx.h"
#include "longtail/data/image.h"
#include "longtail/data/readers/reader.h"

namespace longtail::data {
namespace {

namespace fs = std::filesystem;
using base::fail;

constexpr const char* kDebianFashion = "/usr/share/datasets";

fs::path from_environment(const char* variable) {
  const char* value = std::getenv(variable);
  return value && *value ? fs::path(value) : fs::path();
}

std::vector<const CifarForm*> forms_of(const PublishedData& published) {
  if (published.idx) return {};
  if (published.name == "cifar10") return {&cifar10_python(), &cifar10_binary()};
  return {&cifar100_python(), &cifar100_binary()};
}

const CifarForm* form_in(const fs::path& folder, std::span<const CifarForm* const> forms) {
  for (const CifarForm* form : forms) {
    if (has_cifar(folder, *form)) return form;
  }
  return nullptr;
}

std::vector<std::int64_t> count_labels(const Split& split, int classes) {
  std::vector<std::int64_t> counts(static_cast<std::size_t>(classes));
  for (const std::int32_t label : split.labels) ++counts[static_cast<std::size_t>(label)];
  return counts;
}

void check_published(const PublishedData& published, const Dataset& data, const fs::path& folder) {
  const std::string again =
      fmt::format("move it away and get it again with `longtail data fetch {}`", published.name);
  const auto wrong = [&](std::string_view what) {
    fail("{}: this is not {} as published: {}; {}", folder.string(), published.name, what, again);
  };
  if (data.class_names.size() != published.train_counts.size()) {
    wrong(fmt::format("{} classes instead of {}", data.class_names.size(), published.train_counts.size()));
  }
  if (count_labels(data.train, data.classes()) != published.train_counts) {
    wrong(fmt::format("its {} training images are not divided over the classes as they should be",
                      data.train.size()));
  }
  if (count_labels(data.test, data.classes()) != published.test_counts) {
    wrong(fmt::format("its {} test images are not divided over the classes as they should be",
                      data.test.size()));
  }
  for (const auto& [name, expected] : published.checksums) {
    std::error_code ignored;
    if (!fs::exists(folder / name, ignored)) continue;
    const std::vector<std::uint8_t> bytes = base::read_bytes(folder / name);
    const bool md5 = expected.size() == 32;
    const std::span<const std::byte> content = std::as_bytes(std::span(bytes));
    const std::string found = md5 ? base::md5(content) : base::sha1(content);
    if (found != expected)
      wrong(fmt::format("the {} checksum of `{}` is {} instead of {}", md5 ? "MD5" : "SHA-1", name, found,
                        expected));
  }
  if (!published.hash.empty() && data.hash != published.hash) {
    wrong(fmt::format("its checksum is {} instead of {}", data.hash, published.hash));
  }
}

// A fit applies only to pictures that are read now; for images that are already square it would change the
// run's name and nothing else.
void refuse_idle_fit(std::string_view name, const Dataset& data, const PictureOptions& pictures) {
  const std::string_view wanted = kFitNames[static_cast<std::size_t>(pictures.fit)];
  if (pictures.fit == Fit::kStretch || data.form == wanted) return;
  fail<base::UsageError>(
      "the images of `{}` are square as they are, so a fit of {} would do nothing; leave it out", name,
      wanted);
}

[[noreturn]] void not_found(const PublishedData& published, const fs::path& dir) {
  std::vector<std::string> looked;
  for (const fs::path& folder : data_folders(dir)) looked.push_back(folder.string());
  fail(
      "{} is in none of these folders: {}. Get it with `longtail data fetch {}`, or say where it is with "
      "--data DIR",
      published.name, base::join(looked, ", "), published.name);
}

Dataset load_own(std::string_view name, std::string_view kind, std::string_view path, const fs::path& dir,
                 const PictureOptions& pictures) {
  Dataset data = find_reader(kind, name).read(path, dir, pictures);
  data.name = name;
  seal(data, path);
  refuse_idle_fit(name, data, pictures);
  if (!pictures.keep_side) resize_images(data, pictures.side);
  return data;
}

}  // namespace

Dataset load_dataset(std::string_view name, const fs::path& dir, const PictureOptions& pictures) {
  if (!is_side(pictures.side)) {
    fail<base::UsageError>("images of {} by {} pixels; a side is a multiple of 8 from {} to {}",
                           pictures.side, pictures.side, kSmallestSide, kLargestSide);
  }
  if (const PublishedData* published = find_published(name)) {
    const auto folder = find_data(*published, dir);
    if (!folder) not_found(*published, dir);
    Dataset data = load_published(*published, *folder);
    refuse_idle_fit(name, data, pictures);
    if (!pictures.keep_side) resize_images(data, pictures.side);
    return data;
  }
  if (const auto colon = name.find(':'); colon != std::string_view::npos) {
    return load_own(name, name.substr(0, colon), name.substr(colon + 1), dir, pictures);
  }
  for (const fs::path& folder : data_folders(dir)) {
    if (!name.empty() && has_arrays(folder / name))
      return load_own(name, "arrays", (folder / name).string(), {}, pictures);
  }
  fail<base::UsageError>(
      "unknown data set `{}`{}; known are {}, what `longtail data import` made, and your own as {}", name,
      base::did_you_mean(name, published_names()), base::join(published_names(), ", "), reader_forms());
}

bool takes_dir(std::string_view name) {
  return name.find(':') == std::string_view::npos || name.starts_with("list:");
}

void refuse_idle_dir(std::string_view name, const fs::path& dir) {
  if (dir.empty() || takes_dir(name)) return;
  fail<base::UsageError>(
      "--data would do nothing beside `{}`, which says itself where the data are; leave it out", name);
}

std::vector<fs::path> data_folders(const fs::path& dir) {
  if (!dir.empty()) return {dir};
  std::vector<fs::path> folders;
  if (const fs::path own = from_environment("LONGTAIL_DATA"); !own.empty()) folders.push_back(own);
  folders.emplace_back("data");
  if (const fs::path home = from_environment("HOME"); !home.empty())
    folders.push_back(home / ".cache" / "longtail");
  folders.emplace_back(kDebianFashion);
  return folders;
}

fs::path cache_folder() {
  if (fs::path own = from_environment("LONGTAIL_DATA"); !own.empty()) return own;
  const fs::path home = from_environment("HOME");
  if (home.empty()) fail("neither LONGTAIL_DATA nor HOME is set; say where data should go with --data DIR");
  return home / ".cache" / "longtail";
}

std::vector<FormFiles> published_files(const PublishedData& published) {
  std::vector<FormFiles> all;
  for (const CifarForm* form : forms_of(published)) {
    std::vector<std::string> names = form->train;
    names.push_back(form->test);
    names.push_back(form->names);
    all.push_back({std::string(form->folder), names});
  }
  if (published.idx) {
    for (const char* ending : {"", ".gz"}) {
      FormFiles files{published.places.front(), {}};
      for (const char* name : {"train-images-idx3-ubyte", "train-labels-idx1-ubyte", "t10k-images-idx3-ubyte",
                               "t10k-labels-idx1-ubyte"}) {
        files.names.push_back(std::string(name) + ending);
      }
      all.push_back(files);
    }
  }
  return all;
}

std::optional<fs::path> find_data(const PublishedData& published, const fs::path& dir) {
  const std::vector<const CifarForm*> forms = forms_of(published);
  // Files directly in a folder (the place ".") may belong to another data set with the same file names, so
  // they come last.
  for (const bool loose : {false, true}) {
    for (const fs::path& base : data_folders(dir)) {
      for (const std::string& place : published.places) {
        if ((place == ".") != loose) continue;
        const fs::path folder = loose ? base : base / place;
        if (published.idx ? has_idx(folder) : form_in(folder, forms) != nullptr) return folder;
      }
    }
  }
  return std::nullopt;
}

Dataset load_published(const PublishedData& published, const fs::path& folder) {
  const std::vector<const CifarForm*> forms = forms_of(published);
  const CifarForm* form = form_in(folder, forms);
  Dataset data = published.idx ? read_idx(folder) : read_cifar(folder, *form);
  data.name = published.name;
  data.mean = published.mean;
  data.deviation = published.deviation;
  if (!published.class_names.empty()) data.class_names = published.class_names;
  seal(data, folder.string());
  check_published(published, data, folder);
  return data;
}

}  // namespace longtail::data
