#include "longtail/data/cifar.h"

#include <algorithm>
#include <cstring>

#include "longtail/base/error.h"
#include "longtail/base/file.h"
#include "longtail/base/text.h"
#include "longtail/data/pickle.h"

namespace longtail::data {
namespace {

namespace fs = std::filesystem;
using base::fail;

constexpr std::size_t kImageBytes = std::size_t{3} * kPixels;
// No published file is this large; it limits what a wrong path can make us read.
constexpr std::uint64_t kLargestCifarFile = std::uint64_t{1} << 30;

std::vector<std::string> numbered(std::string_view stem, std::string_view ending) {
  std::vector<std::string> names;
  for (int i = 1; i <= 5; ++i) names.push_back(fmt::format("{}{}{}", stem, i, ending));
  return names;
}

std::vector<std::int32_t> take(std::vector<std::uint8_t>& bytes, const CifarForm& form,
                               const std::string& where) {
  return form.binary ? take_cifar_binary(bytes, form.label_bytes, where)
                     : take_cifar_pickle(bytes, form.label_key, where);
}

Split read_split(const fs::path& folder, const std::vector<std::string>& names, const CifarForm& form) {
  Split split;
  for (const std::string& name : names) {
    const fs::path path = folder / name;
    std::vector<std::uint8_t> bytes = base::read_bytes(path, kLargestCifarFile);
    const std::vector<std::int32_t> labels = take(bytes, form, path.string());
    split.labels.insert(split.labels.end(), labels.begin(), labels.end());
    if (names.size() == 1) {
      split.pixels = std::move(bytes);
    } else {
      split.pixels.reserve(bytes.size() * names.size());
      split.pixels.insert(split.pixels.end(), bytes.begin(), bytes.end());
    }
  }
  return split;
}

std::vector<std::string> read_names(const fs::path& path, const CifarForm& form) {
  if (!form.binary) {
    const std::vector<std::uint8_t> bytes = base::read_bytes(path, 1 << 20);
    return Pickle(bytes, path.string()).strings(form.names_key);
  }
  std::vector<std::string> names;
  for (const std::string& line : base::split(base::read_text(path, 1 << 20), '\n')) {
    if (const auto name = base::trim(line); !name.empty()) names.emplace_back(name);
  }
  return names;
}

}  // namespace

const CifarForm& cifar10_python() {
  static const CifarForm form{"cifar-10-batches-py",
                              numbered("data_batch_", ""),
                              "test_batch",
                              "batches.meta",
                              false,
                              "labels",
                              "label_names",
                              1};
  return form;
}

const CifarForm& cifar10_binary() {
  static const CifarForm form{"cifar-10-batches-bin",
                              numbered("data_batch_", ".bin"),
                              "test_batch.bin",
                              "batches.meta.txt",
                              true,
                              "",
                              "",
                              1};
  return form;
}

const CifarForm& cifar100_python() {
  static const CifarForm form{"cifar-100-python", {"train"},          "test", "meta", false,
                              "fine_labels",      "fine_label_names", 1};
  return form;
}

const CifarForm& cifar100_binary() {
  static const CifarForm form{
      "cifar-100-binary", {"train.bin"}, "test.bin", "fine_label_names.txt", true, "", "", 2};
  return form;
}

bool has_cifar(const fs::path& folder, const CifarForm& form) {
  std::error_code ignored;
  return fs::is_regular_file(folder / form.names, ignored) &&
         fs::is_regular_file(folder / form.train[0], ignored);
}

Dataset read_cifar(const fs::path& folder, const CifarForm& form) {
  std::error_code ignored;
  if (!fs::exists(folder / form.test, ignored)) {
    fail(
        "{}: there is no test split (the file `{}`); get the data again with `longtail data fetch NAME "
        "--again`",
        folder.string(), form.test);
  }
  Dataset data;
  data.channels = 3;
  data.class_names = read_names(folder / form.names, form);
  data.train = read_split(folder, form.train, form);
  data.test = read_split(folder, {form.test}, form);
  return data;
}

std::vector<std::int32_t> take_cifar_pickle(std::vector<std::uint8_t>& bytes, std::string_view label_key,
                                            const std::string& where) {
  const Pickle pickle(bytes, where);
  std::vector<std::int32_t> labels = pickle.integers(label_key);
  const Pickle::Matrix matrix = pickle.byte_matrix("data");
  if (matrix.columns != kImageBytes || matrix.rows != labels.size()) {
    fail("{}: `data` is {} by {}; expected {} rows, one for each label, of {} bytes", where, matrix.rows,
         matrix.columns, labels.size(), kImageBytes);
  }
  if (matrix.column_major) {
    std::vector<std::uint8_t> rows(matrix.bytes.size());
    for (std::size_t i = 0; i < matrix.bytes.size(); ++i) {
      rows[(i % matrix.rows) * matrix.columns + i / matrix.rows] = matrix.bytes[i];
    }
    bytes = std::move(rows);
  } else {
    const std::size_t size = matrix.bytes.size();
    std::memmove(bytes.data(), matrix.bytes.data(), size);
    bytes.resize(size);
  }
  return labels;
}

std::vector<std::int32_t> take_cifar_binary(std::vector<std::uint8_t>& bytes, int label_bytes,
                                            const std::string& where) {
  const auto before = static_cast<std::size_t>(label_bytes);
  const std::size_t record = before + kImageBytes;
  if (bytes.empty() || bytes.size() % record != 0) {
    fail("{}: truncated: {} bytes are not a whole number of records of {} bytes; get the file again", where,
         bytes.size(), record);
  }
  std::vector<std::int32_t> labels(bytes.size() / record);
  for (std::size_t i = 0; i < labels.size(); ++i) {
    labels[i] = bytes[i * record + before - 1];
    std::memmove(bytes.data() + i * kImageBytes, bytes.data() + i * record + before, kImageBytes);
  }
  bytes.resize(labels.size() * kImageBytes);
  return labels;
}

}  // namespace longtail::data
