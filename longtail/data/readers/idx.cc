// IDX files, the format of MNIST.
#include "longtail/data/idx.h"

#include "longtail/base/error.h"
#include "longtail/data/readers/reader.h"

namespace longtail::data {
namespace {

Dataset read_idx_folder(std::string_view folder, const std::filesystem::path&, const PictureOptions&) {
  if (!has_idx(folder))
    base::fail("{}: there is no `train-images-idx3-ubyte`, plain or with .gz, here", folder);
  Dataset data = read_idx(folder);
  measure_channels(data);
  return data;
}

}  // namespace

Reader idx_reader() { return {"idx", "idx:DIR", "MNIST's files", read_idx_folder}; }

}  // namespace longtail::data
