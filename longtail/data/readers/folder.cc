// Pictures: DIR/CLASS/*.png, or DIR/train/CLASS/* and DIR/test/CLASS/*.
#include "longtail/data/readers/reader.h"

namespace longtail::data {

Reader folder_reader() {
  return {"folder", "folder:DIR", "pictures by class",
          [](std::string_view path, const std::filesystem::path&, const PictureOptions& pictures) {
            return read_picture_folder(path, pictures);
          }};
}

}  // namespace longtail::data
