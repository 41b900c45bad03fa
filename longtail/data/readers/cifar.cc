// Files in one of the four formats of CIFAR, whatever images they hold.
#include "longtail/data/cifar.h"

#include <array>

#include "longtail/base/error.h"
#include "longtail/data/readers/reader.h"

namespace longtail::data {
namespace {

Dataset read_any_cifar(std::string_view folder, const std::filesystem::path&, const PictureOptions&) {
  for (const CifarForm* form :
       {&cifar10_python(), &cifar10_binary(), &cifar100_python(), &cifar100_binary()}) {
    if (!has_cifar(folder, *form)) continue;
    Dataset data = read_cifar(folder, *form);
    measure_channels(data);
    return data;
  }
  base::fail("{}: no files in a form of CIFAR (such as `train` and `meta`) are in this folder", folder);
}

}  // namespace

Reader cifar_reader() { return {"cifar", "cifar:DIR", "CIFAR's files", read_any_cifar}; }

}  // namespace longtail::data
