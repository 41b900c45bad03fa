// Pictures: list files, `path label` per line, paths relative to --data.
#include "longtail/base/error.h"
#include "longtail/base/text.h"
#include "longtail/data/readers/reader.h"

namespace longtail::data {
namespace {

Dataset read_two_lists(std::string_view lists, const std::filesystem::path& root,
                       const PictureOptions& pictures) {
  const std::vector<std::string> paths = base::split(lists, ',');
  if (paths.size() != 2) {
    base::fail<base::UsageError>("list:{} should be list:TRAIN,TEST; every data set needs a test split",
                                 lists);
  }
  return read_picture_lists(paths[0], paths[1], root, pictures);
}

}  // namespace

Reader list_reader() { return {"list", "list:TRAIN,TEST", "list files", read_two_lists}; }

}  // namespace longtail::data
