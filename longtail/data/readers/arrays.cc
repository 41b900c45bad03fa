// NumPy arrays, as `longtail data import` keeps them.
#include "longtail/data/arrays.h"

#include "longtail/base/error.h"
#include "longtail/data/readers/reader.h"

namespace longtail::data {

Reader arrays_reader() {
  return {"arrays", "arrays:DIR", "NumPy",
          [](std::string_view path, const std::filesystem::path&, const PictureOptions&) {
            if (!has_arrays(path)) base::fail("{}: there is no `train_images.npy` in this folder", path);
            return read_arrays(path);
          }};
}

}  // namespace longtail::data
