// The readers of the user's own data, one file each: `folder:DIR`, `arrays:DIR`, ... A reader turns bytes
// into a Dataset and trusts none of them before it has checked them.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "longtail/data/dataset.h"
#include "longtail/data/pictures.h"

namespace longtail::data {

struct Reader {
  std::string_view name;  // before the colon
  std::string_view form;  // what is written: "folder:DIR"
  std::string_view help;  // "pictures by class"
  // `path` is the text after the colon, `dir` the folder of --data. The result is not yet sealed; its channel
  // constants are measured.
  Dataset (*read)(std::string_view path, const std::filesystem::path& dir, const PictureOptions& pictures);
};

Reader folder_reader();
Reader list_reader();
Reader arrays_reader();
Reader cifar_reader();
Reader idx_reader();

// All of them, in the order of the documentation.
std::span<const Reader> readers();
// The reader of that name; a UsageError lists the known ones. `where` is the whole text.
const Reader& find_reader(std::string_view name, std::string_view where);
// "folder:DIR, list:TRAIN,TEST, arrays:DIR, cifar:DIR or idx:DIR"
std::string reader_forms();

}  // namespace longtail::data
