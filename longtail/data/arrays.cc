#include "longtail/data/arrays.h"

#include <algorithm>
#include <cstring>

#include "longtail/base/error.h"
#include "longtail/base/file.h"
#include "longtail/base/text.h"
#include "longtail/data/image.h"

namespace longtail::data {
namespace {

namespace fs = std::filesystem;
using base::fail;

constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 40;  // of an array; in practice memory is the limit
constexpr const char* kFormFile = "picture_form.txt";
constexpr std::string_view kMagic("\x93NUMPY\x01\x00", 8);

std::uint64_t item_size(const std::string& type, const std::string& where) {
  if (type == "|u1") return 1;
  if (type == "<i4") return 4;
  if (type == "<i8") return 8;
  fail("{}: an array of `{}`; expected uint8, int32 or int64", where, type);
}

// Removes `prefix` from the front of `text`; an Error says that the header is not as NumPy writes it.
void expect(std::string_view& text, std::string_view prefix, const std::string& where) {
  if (!text.starts_with(prefix)) fail("{}: not an array as numpy.save writes it, in C order", where);
  text.remove_prefix(prefix.size());
}

std::string npy_header(std::string_view type, std::string_view shape) {
  std::string text = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", type, shape);
  text.append(63 - (kMagic.size() + 2 + text.size()) % 64, ' ');
  text += '\n';
  std::string header(kMagic);
  header += static_cast<char>(text.size() & 0xff);
  header += static_cast<char>(text.size() >> 8);
  return header + text;
}

std::vector<std::uint8_t> read_images(const fs::path& path, ImageShape& found) {
  std::vector<std::uint8_t> bytes = base::read_bytes(path, kMostBytes);
  const NpyHeader header = parse_npy(bytes, path.string());
  const auto& shape = header.shape;
  if (header.type != "|u1" || shape.size() != 4 || (shape[1] != 1 && shape[1] != 3) || shape[2] != shape[3] ||
      shape[2] > kLargestSide || !is_side(static_cast<int>(shape[2]))) {
    fail(
        "{}: expected uint8 of the shape (images, 1 or 3, 32, 32); instead of 32 any multiple of 8 from {} "
        "to {}",
        path.string(), kSmallestSide, kLargestSide);
  }
  found = {static_cast<int>(shape[1]), static_cast<int>(shape[2])};
  const std::size_t size = bytes.size() - header.data_at;
  std::memmove(bytes.data(), bytes.data() + header.data_at, size);
  bytes.resize(size);
  return bytes;
}

std::vector<std::int32_t> read_labels(const fs::path& path) {
  const std::vector<std::uint8_t> bytes = base::read_bytes(path);
  const NpyHeader header = parse_npy(bytes, path.string());
  if (header.shape.size() != 1) fail("{}: expected one label an image in one dimension", path.string());
  const std::uint64_t size = item_size(header.type, path.string());
  std::vector<std::int32_t> labels(header.shape[0]);
  for (std::size_t i = 0; i < labels.size(); ++i) {
    std::int64_t value = 0;  // little-endian; a negative int32 ends up above every class number
    std::memcpy(&value, bytes.data() + header.data_at + i * size, size);
    if (value < 0 || value > 1'000'000) fail("{}: the label of image {} is out of range", path.string(), i);
    labels[i] = static_cast<std::int32_t>(value);
  }
  return labels;
}

Split read_split(const fs::path& folder, const std::string& name, ImageShape& shape) {
  Split split;
  split.pixels = read_images(folder / (name + "_images.npy"), shape);
  split.labels = read_labels(folder / (name + "_labels.npy"));
  return split;
}

// One name per line. Blank lines at the end are dropped; one further up would shift the names of all later
// classes.
std::vector<std::string> read_names(const fs::path& path) {
  std::vector<std::string> names;
  for (const std::string& line : base::split(base::without_mark(base::read_text(path)), '\n'))
    names.emplace_back(base::trim(line));
  while (!names.empty() && names.back().empty()) names.pop_back();
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i].empty()) fail("{}: line {} is blank; it is the name of class {}", path.string(), i + 1, i);
  }
  return names;
}

void write_split(const Dataset& data, const Split& split, const fs::path& folder, const std::string& name,
                 const Stop& stop) {
  OutFile images(folder / (name + "_images.npy"));
  images.write(
      npy_header("|u1", fmt::format("{}, {}, {}, {}", split.size(), data.channels, data.side, data.side)));
  constexpr std::size_t kChunk = std::size_t{1} << 24;
  for (std::size_t at = 0; at < split.pixels.size(); at += kChunk) {
    check_stop(stop);
    images.write(std::span(split.pixels).subspan(at, std::min(kChunk, split.pixels.size() - at)));
  }
  images.close();
  OutFile labels(folder / (name + "_labels.npy"));
  labels.write(npy_header("<i4", fmt::format("{},", split.size())));
  labels.write(
      std::span(reinterpret_cast<const std::uint8_t*>(split.labels.data()), split.labels.size() * 4));
  labels.close();
}

}  // namespace

NpyHeader parse_npy(std::span<const std::uint8_t> file, const std::string& where) {
  std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
  expect(text, kMagic, where);
  if (text.size() < 2) fail("{}: truncated", where);
  const std::size_t length = file[8] + std::size_t{file[9]} * 256;
  text.remove_prefix(2);
  if (text.size() < length) fail("{}: truncated", where);
  text = base::trim(text.substr(0, length));

  NpyHeader header;
  header.data_at = kMagic.size() + 2 + length;
  expect(text, "{'descr': '", where);
  header.type = std::string(text.substr(0, std::min<std::size_t>(text.find('\''), 8)));
  text.remove_prefix(header.type.size());
  expect(text, "', 'fortran_order': False, 'shape': (", where);
  std::uint64_t items = 1;
  const std::uint64_t most = file.size() - header.data_at;
  while (!text.starts_with(')')) {
    const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
    const auto extent = base::parse_integer(text.substr(0, digits));
    if (extent && *extent == 0) fail("{}: there is nothing in it (its shape has a 0)", where);
    if (!extent || *extent < 1 || static_cast<std::uint64_t>(*extent) > most / items) {
      fail("{}: truncated or damaged: its shape is larger than its data", where);
    }
    header.shape.push_back(static_cast<std::uint64_t>(*extent));
    items *= header.shape.back();
    text.remove_prefix(digits);
    if (text.starts_with(", ")) text.remove_prefix(2);
    if (text.starts_with(",)")) text.remove_prefix(1);
  }
  expect(text, "), }", where);
  if (items * item_size(header.type, where) != most) {
    fail("{}: {} bytes of data do not agree with its shape; it is truncated or damaged", where, most);
  }
  return header;
}

std::span<const std::string> array_files() {
  static const std::vector<std::string> names = {"train_images.npy", "train_labels.npy", "test_images.npy",
                                                 "test_labels.npy",  "class_names.txt",  kFormFile};
  return names;
}

bool has_arrays(const fs::path& folder) {
  std::error_code ignored;
  return fs::is_regular_file(folder / "train_images.npy", ignored);
}

Dataset read_arrays(const fs::path& folder) {
  std::error_code ignored;
  if (!fs::exists(folder / "test_images.npy", ignored)) {
    fail("{}: there is no test split: no `test_images.npy` in it", folder.string());
  }
  Dataset data;
  ImageShape train, test;
  data.train = read_split(folder, "train", train);
  data.test = read_split(folder, "test", test);
  data.channels = train.channels;
  data.side = train.side;
  if (test.side != train.side) {
    fail("{}: training images have {} by {} pixels, test images {} by {}", folder.string(), train.side,
         train.side, test.side, test.side);
  }
  if (test.channels != train.channels) {
    fail("{}: training images have {} channels, test images {}", folder.string(), train.channels,
         test.channels);
  }
  if (fs::exists(folder / "class_names.txt", ignored)) {
    data.class_names = read_names(folder / "class_names.txt");
  } else {
    const auto last = std::max_element(data.train.labels.begin(), data.train.labels.end());
    const int classes = last == data.train.labels.end() ? 0 : *last + 1;
    for (int i = 0; i < classes; ++i) data.class_names.push_back(std::to_string(i));
  }
  if (fs::exists(folder / kFormFile, ignored)) {
    data.form = base::trim(base::read_text(folder / kFormFile));
    parse_form(data.form);
  }
  measure_channels(data);
  return data;
}

void write_arrays(const Dataset& data, const fs::path& folder, const Stop& stop) {
  write_split(data, data.train, folder, "train", stop);
  write_split(data, data.test, folder, "test", stop);
  OutFile names(folder / "class_names.txt");
  for (const std::string& name : data.class_names) names.write(name + "\n");
  names.close();
  if (data.form.empty() || data.form == kFitNames[0]) return;
  OutFile form(folder / kFormFile);
  form.write(data.form + "\n");
  form.close();
}

}  // namespace longtail::data
