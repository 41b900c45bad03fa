// From a name to a Dataset. Names:
//   cifar10, cifar100, mnist, fashion_mnist   the published data, checked to be exactly that
//   folder:DIR, list:TRAIN,TEST, ...         your own, by one of the readers (readers/)
//   any other NAME                            what `longtail data import NAME` made
// Published data is looked for in `dir` (--data), or else in $LONGTAIL_DATA, ./data, ~/.cache/longtail and
// where Debian's dataset-fashion-mnist puts it. `dir` may be the folder that holds cifar-100-python/ or that
// folder itself.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "longtail/data/dataset.h"
#include "longtail/data/pictures.h"
#include "longtail/data/published.h"

namespace longtail::data {

// Loads, checks and seals. An Error says what is wrong with the files or, if there are none, which folders
// were searched and what to do. `pictures` says how picture files are read, and which side all images get:
// others are stretched to it, each new pixel being the mean of the area it covers (published data after its
// checksum was verified).
Dataset load_dataset(std::string_view name, const std::filesystem::path& dir = {},
                     const PictureOptions& pictures = {});

// Whether `dir` has an effect for that name. `folder:DIR` and similar names already say where the data is;
// `list:TRAIN,TEST` has paths that may be relative to `dir`.
bool takes_dir(std::string_view name);
// A UsageError if a folder was given (--data) that would have no effect for that name.
void refuse_idle_dir(std::string_view name, const std::filesystem::path& dir);

// The folders that are searched, in order; only `dir` if it is given.
std::vector<std::filesystem::path> data_folders(const std::filesystem::path& dir = {});
// The file names of each format of a published data set, with the folder that usually holds them.
struct FormFiles {
  std::string place;
  std::vector<std::string> names;
};
std::vector<FormFiles> published_files(const PublishedData& published);
// The folder that holds the files of a published data set, if it is found.
std::optional<std::filesystem::path> find_data(const PublishedData& published,
                                               const std::filesystem::path& dir = {});
// Where `fetch` and `import` put data without --data: $LONGTAIL_DATA or ~/.cache/longtail.
std::filesystem::path cache_folder();

// Reads published data from the folder that holds its files; an Error if it is not exactly what was
// published.
Dataset load_published(const PublishedData& published, const std::filesystem::path& folder);

}  // namespace longtail::data
