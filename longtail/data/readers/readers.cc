#include <array>

#include "longtail/base/error.h"
#include "longtail/base/text.h"
#include "longtail/data/readers/reader.h"

namespace longtail::data {

std::span<const Reader> readers() {
  static const std::array all = {
      folder_reader(), list_reader(), arrays_reader(), cifar_reader(), idx_reader(),
  };
  return all;
}

std::string reader_forms() {
  std::string forms;
  for (std::size_t i = 0; i < readers().size(); ++i) {
    forms += i == 0 ? "" : i + 1 == readers().size() ? " or " : ", ";
    forms += readers()[i].form;
  }
  return forms;
}

const Reader& find_reader(std::string_view name, std::string_view where) {
  std::vector<std::string> names;
  for (const Reader& reader : readers()) {
    if (reader.name == name) return reader;
    names.emplace_back(reader.name);
  }
  base::fail<base::UsageError>("unknown kind of data `{}` in `{}`{}; known are {}", name, where,
                               base::did_you_mean(name, names), reader_forms());
}

}  // namespace longtail::data
