#include "longtail/data/idx.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "longtail/base/error.h"
#include "longtail/base/file.h"
#include "longtail/data/image.h"

namespace longtail::data {
namespace {

namespace fs = std::filesystem;
using base::fail;

constexpr std::uint64_t kLargestIdxFile = std::uint64_t{1} << 32;
// Deflate cannot compress better than this, so a header that promises more is false and nothing is allocated.
constexpr std::uint64_t kLargestRatio = 1032;

// The bytes of a file in order, inflated on the way if it is gzipped.
class Input {
 public:
  Input(std::span<const std::uint8_t> file, const std::string& where) : file_(file), where_(where) {
    gzipped_ = file.size() >= 2 && file[0] == 0x1f && file[1] == 0x8b;
    if (!gzipped_) return;
    stream_.next_in = const_cast<Bytef*>(file.data());
    stream_.avail_in = static_cast<uInt>(file.size());
    if (inflateInit2(&stream_, 15 + 16) != Z_OK) fail("{}: zlib cannot start", where_);
  }
  ~Input() {
    if (gzipped_) inflateEnd(&stream_);
  }
  Input(const Input&) = delete;
  Input& operator=(const Input&) = delete;

  void read(std::span<std::uint8_t> out) {
    if (out.empty()) return;
    if (!gzipped_) {
      if (out.size() > file_.size() - at_) truncated();
      std::memcpy(out.data(), file_.data() + at_, out.size());
      at_ += out.size();
      return;
    }
    stream_.next_out = out.data();
    stream_.avail_out = static_cast<uInt>(out.size());
    while (stream_.avail_out > 0) {
      if (ended_) truncated();
      inflate_some();
    }
  }

  std::uint32_t big_endian() {
    std::array<std::uint8_t, 4> b{};
    read(b);
    return std::uint32_t{b[0]} << 24 | std::uint32_t{b[1]} << 16 | std::uint32_t{b[2]} << 8 | b[3];
  }

  // An upper bound of the bytes that can follow.
  std::uint64_t most_left() const {
    return gzipped_ ? (std::uint64_t{stream_.avail_in} + 1024) * kLargestRatio : file_.size() - at_;
  }

  // Nothing may follow; for a gzipped file this also checks its checksum.
  void end() {
    if (gzipped_) {
      std::uint8_t extra = 0;
      stream_.next_out = &extra;
      stream_.avail_out = 1;
      while (!ended_ && stream_.avail_out > 0) inflate_some();
      const bool more = stream_.avail_out == 0 || stream_.avail_in > 0;
      stream_.next_out = nullptr;  // `extra` goes out of scope
      if (more) fail("{}: there are bytes after its last item", where_);
    } else if (at_ != file_.size()) {
      fail("{}: {} bytes follow its last item", where_, file_.size() - at_);
    }
  }

 private:
  [[noreturn]] void truncated() const { fail("{}: truncated; get the file again", where_); }

  void inflate_some() {
    const int code = inflate(&stream_, Z_NO_FLUSH);
    if (code == Z_STREAM_END) {
      ended_ = true;
    } else if (code == Z_BUF_ERROR) {
      truncated();
    } else if (code != Z_OK) {
      fail("{}: the compressed data is damaged ({}); get the file again", where_,
           stream_.msg ? stream_.msg : "unknown fault");
    }
  }

  std::span<const std::uint8_t> file_;
  const std::string& where_;
  std::size_t at_ = 0;
  bool gzipped_ = false;
  bool ended_ = false;
  z_stream stream_{};
};

fs::path find_file(const fs::path& folder, const std::string& name) {
  std::error_code ignored;
  for (const char* ending : {"", ".gz"}) {
    fs::path path = folder / (name + ending);
    if (fs::is_regular_file(path, ignored)) return path;
  }
  return {};
}

Split read_split(const fs::path& folder, const std::string& stem, std::string_view which, std::string& form) {
  const fs::path images = find_file(folder, stem + "-images-idx3-ubyte");
  const fs::path labels = find_file(folder, stem + "-labels-idx1-ubyte");
  if (images.empty() || labels.empty()) {
    fail("{}: there is no {} split: `{}-{}`, plain or with .gz, is missing", folder.string(), which, stem,
         images.empty() ? "images-idx3-ubyte" : "labels-idx1-ubyte");
  }
  Split split;
  split.pixels = parse_idx_images(base::read_bytes(images, kLargestIdxFile), images.string(), &form);
  split.labels = parse_idx_labels(base::read_bytes(labels, kLargestIdxFile), labels.string());
  if (split.pixels.size() != split.labels.size() * kPixels) {
    fail("{} has {} images but {} has {} labels", images.string(), split.pixels.size() / kPixels,
         labels.string(), split.labels.size());
  }
  return split;
}

}  // namespace

std::vector<std::uint8_t> parse_idx_images(std::span<const std::uint8_t> file, const std::string& where,
                                           std::string* form) {
  Input input(file, where);
  if (input.big_endian() != 0x803) fail("{}: not an IDX file of images (bytes in three dimensions)", where);
  const std::uint64_t count = input.big_endian();
  const std::uint64_t rows = input.big_endian();
  const std::uint64_t columns = input.big_endian();
  if (rows < 1 || rows > kSide || columns < 1 || columns > kSide) {
    fail("{}: images of {} by {} pixels; at most {} by {} can be used", where, rows, columns, kSide, kSide);
  }
  if (count * rows * columns > input.most_left()) {
    fail("{}: truncated: it promises {} images, more than it has bytes for; get the file again", where,
         count);
  }
  if (form && (rows < kSide || columns < kSide))
    *form = framed_form(static_cast<int>(rows), static_cast<int>(columns));
  const std::uint64_t top = (kSide - rows) / 2;
  const std::uint64_t left = (kSide - columns) / 2;
  std::vector<std::uint8_t> pixels(count * kPixels);
  std::vector<std::uint8_t> image(rows * columns);
  for (std::uint64_t i = 0; i < count; ++i) {
    input.read(image);
    for (std::uint64_t row = 0; row < rows; ++row) {
      std::copy_n(image.data() + row * columns, columns,
                  pixels.data() + i * kPixels + (top + row) * kSide + left);
    }
  }
  input.end();
  return pixels;
}

std::vector<std::int32_t> parse_idx_labels(std::span<const std::uint8_t> file, const std::string& where) {
  Input input(file, where);
  if (input.big_endian() != 0x801) fail("{}: not an IDX file of labels (bytes in one dimension)", where);
  const std::uint64_t count = input.big_endian();
  if (count > input.most_left()) {
    fail("{}: truncated: it promises {} labels, more than it has bytes for; get the file again", where,
         count);
  }
  std::vector<std::uint8_t> bytes(count);
  input.read(bytes);
  input.end();
  return {bytes.begin(), bytes.end()};
}

bool has_idx(const fs::path& folder) { return !find_file(folder, "train-images-idx3-ubyte").empty(); }

Dataset read_idx(const fs::path& folder) {
  Dataset data;
  data.channels = 1;
  std::string form_of_test;
  data.train = read_split(folder, "train", "training", data.form);
  data.test = read_split(folder, "t10k", "test", form_of_test);
  const auto last = std::max_element(data.train.labels.begin(), data.train.labels.end());
  const int classes = last == data.train.labels.end() ? 0 : *last + 1;
  for (int i = 0; i < classes; ++i) data.class_names.push_back(std::to_string(i));
  return data;
}

}  // namespace longtail::data
