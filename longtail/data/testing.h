// For tests: a folder that disappears, files in the published formats made by hand, small pictures.
#pragma once

#include <archive.h>
#include <archive_entry.h>
#include <gif_lib.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <webp/encode.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>
// jpeglib.h needs FILE and size_t declared before it.
#include <jpeglib.h>
#include <png.h>

#include "longtail/base/error.h"
#include "longtail/base/file.h"
#include "longtail/data/dataset.h"

namespace longtail::data {

using Bytes = std::vector<std::uint8_t>;

inline Bytes to_bytes(std::string_view text) { return {text.begin(), text.end()}; }
inline void write_file(const std::filesystem::path& path, std::span<const std::uint8_t> bytes) {
  std::filesystem::create_directories(path.parent_path());
  base::write_atomically(path, std::as_bytes(bytes));
}
inline void write_file(const std::filesystem::path& path, std::string_view text) {
  write_file(path, to_bytes(text));
}

class TempFolder {
 public:
  TempFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "longtail_test.XXXXXX").string();
    path_ = mkdtemp(pattern.data());
  }
  ~TempFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(std::string_view name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

// Everything under a folder, as sorted relative paths; "nothing left behind" is an empty list.
inline std::vector<std::string> contents(const std::filesystem::path& folder) {
  std::vector<std::string> all;
  if (!std::filesystem::exists(folder)) return all;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    all.push_back(std::filesystem::relative(entry.path(), folder).string());
  }
  std::sort(all.begin(), all.end());
  return all;
}

// The sentence of the Error that `work` throws, or "".
inline std::string error_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const base::Error& error) {
    return error.what();
  }
  return "";
}

// ---- CIFAR as Python 2 pickled it ----

inline std::string little_endian(std::uint32_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text += static_cast<char>(value >> (8 * i) & 0xff);
  return text;
}
inline std::string pickled(std::string_view text) {
  return text.size() < 256
             ? "U" + little_endian(static_cast<std::uint32_t>(text.size()), 1) + std::string(text)
             : "T" + little_endian(static_cast<std::uint32_t>(text.size()), 4) + std::string(text);
}
inline std::string pickled(std::int32_t value) {
  return value >= 0 && value < 256 ? "K" + little_endian(static_cast<std::uint32_t>(value), 1)
                                   : "J" + little_endian(static_cast<std::uint32_t>(value), 4);
}
template <class T>
std::string pickled_list(const std::vector<T>& values) {
  std::string text = "](";
  for (const T& value : values) text += pickled(value);
  return text + "e";
}
inline std::string pickled_matrix(std::uint32_t rows, std::uint32_t columns, std::string_view bytes,
                                  bool column_major = false) {
  return "cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x01\x85" + pickled("b") + "\x87R(K\x01" +
         "J" + little_endian(rows, 4) + "J" + little_endian(columns, 4) + "\x86" + "cnumpy\ndtype\n" +
         pickled("u1") + std::string("K\0K\x01\x87R(K\x03", 9) + pickled("|") + "NNN" + pickled(-1) +
         pickled(-1) + std::string("K\0tb", 4) + (column_major ? "\x88" : "\x89") + "T" +
         little_endian(static_cast<std::uint32_t>(bytes.size()), 4) + std::string(bytes) + "tb";
}
// A pickled dictionary of values that are already pickled.
inline std::string pickled_dict(const std::vector<std::pair<std::string, std::string>>& items) {
  std::string text = "\x80\x02}q\x01(";
  for (const auto& [key, value] : items) text += pickled(key) + value;
  return text + "u.";
}

// Images that differ in their pixels.
inline std::string test_pixels(std::size_t images, unsigned seed = 1) {
  std::string pixels(images * 3 * kPixels, '\0');
  for (std::size_t i = 0; i < pixels.size(); ++i)
    pixels[i] = static_cast<char>((i * 7 + i / 3072 * 31 + seed * 13) & 0xff);
  return pixels;
}

// cifar-100-python with `classes` classes, `train` and `test` images of each, under folder/cifar-100-python.
inline std::filesystem::path write_tiny_cifar100(const std::filesystem::path& folder, int classes, int train,
                                                 int test) {
  auto path = folder / "cifar-100-python";
  std::vector<std::string> names;
  names.reserve(static_cast<std::size_t>(classes));
  for (int k = 0; k < classes; ++k) names.push_back("class_" + std::to_string(k));
  write_file(path / "meta", pickled_dict({{"fine_label_names", pickled_list(names)}}));
  for (const auto& [file, each] : {std::pair{"train", train}, std::pair{"test", test}}) {
    std::vector<std::int32_t> labels;
    labels.reserve(static_cast<std::size_t>(each) * static_cast<std::size_t>(classes));
    for (int i = 0; i < each * classes; ++i) labels.push_back(i % classes);
    const auto rows = static_cast<std::uint32_t>(labels.size());
    write_file(path / file, pickled_dict({{"fine_labels", pickled_list(labels)},
                                          {"data", pickled_matrix(rows, 3072, test_pixels(rows, rows))}}));
  }
  return path;
}

// ---- IDX, archives, pictures ----

inline std::string big_endian(std::uint32_t value) {
  const std::string text = little_endian(value, 4);
  return {text.rbegin(), text.rend()};
}
inline Bytes gzip(std::span<const std::uint8_t> bytes) {
  Bytes out(bytes.size() + 1024);
  z_stream stream{};
  deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  stream.next_in = const_cast<Bytef*>(bytes.data());
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = out.data();
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

struct ArchiveItem {
  std::string path;
  std::string content;
  std::string symlink;
  std::string hardlink;
};
inline void write_tar_gz(const std::filesystem::path& path, const std::vector<ArchiveItem>& items) {
  archive* writer = archive_write_new();
  archive_write_add_filter_gzip(writer);
  archive_write_set_format_pax_restricted(writer);
  archive_write_open_filename(writer, path.c_str());
  for (const ArchiveItem& item : items) {
    archive_entry* entry = archive_entry_new();
    archive_entry_set_pathname(entry, item.path.c_str());
    archive_entry_set_filetype(entry, item.symlink.empty() ? AE_IFREG : AE_IFLNK);
    archive_entry_set_perm(entry, 0644);
    if (!item.symlink.empty()) archive_entry_set_symlink(entry, item.symlink.c_str());
    if (!item.hardlink.empty()) archive_entry_set_hardlink(entry, item.hardlink.c_str());
    archive_entry_set_size(entry, static_cast<la_int64_t>(item.content.size()));
    archive_write_header(writer, entry);
    archive_write_data(writer, item.content.data(), item.content.size());
    archive_entry_free(entry);
  }
  archive_write_close(writer);
  archive_write_free(writer);
}

// Samples are rows of pixels with `channels` (1, 2: grey and alpha, 3, 4: colour and alpha) side by side.
inline Bytes encode_png(int width, int height, int channels, std::span<const std::uint8_t> samples) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = static_cast<png_uint_32>(width);
  image.height = static_cast<png_uint_32>(height);
  image.format = channels == 1   ? PNG_FORMAT_GRAY
                 : channels == 2 ? PNG_FORMAT_GA
                 : channels == 3 ? PNG_FORMAT_RGB
                                 : PNG_FORMAT_RGBA;
  png_alloc_size_t size = 0;
  png_image_write_to_memory(&image, nullptr, &size, 0, samples.data(), 0, nullptr);
  Bytes out(size);
  png_image_write_to_memory(&image, out.data(), &size, 0, samples.data(), 0, nullptr);
  out.resize(size);
  return out;
}
inline Bytes encode_jpeg(int width, int height, int channels, std::span<const std::uint8_t> samples,
                         bool progressive = false) {
  jpeg_compress_struct info{};
  jpeg_error_mgr errors{};
  info.err = jpeg_std_error(&errors);
  jpeg_create_compress(&info);
  unsigned char* buffer = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&info, &buffer, &size);
  info.image_width = static_cast<JDIMENSION>(width);
  info.image_height = static_cast<JDIMENSION>(height);
  info.input_components = channels;
  info.in_color_space = channels == 1 ? JCS_GRAYSCALE : channels == 3 ? JCS_RGB : JCS_CMYK;
  jpeg_set_defaults(&info);
  jpeg_set_quality(&info, 100, TRUE);
  if (progressive) jpeg_simple_progression(&info);
  jpeg_start_compress(&info, TRUE);
  while (info.next_scanline < info.image_height) {
    auto* row = const_cast<JSAMPLE*>(samples.data()) +
                static_cast<std::size_t>(info.next_scanline) * static_cast<std::size_t>(width * channels);
    jpeg_write_scanlines(&info, &row, 1);
  }
  jpeg_finish_compress(&info);
  Bytes out(buffer, buffer + size);
  jpeg_destroy_compress(&info);
  std::free(buffer);
  return out;
}
// Without loss; samples are red, green, blue.
inline Bytes encode_webp(int width, int height, std::span<const std::uint8_t> samples) {
  std::uint8_t* buffer = nullptr;
  const std::size_t size = WebPEncodeLosslessRGB(samples.data(), width, height, width * 3, &buffer);
  Bytes out(buffer, buffer + size);
  WebPFree(buffer);
  return out;
}
// Two frames, the second turned upside down: a VP8X, an ANIM and two ANMF chunks around still pictures.
inline Bytes animated_webp(int width, int height, std::span<const std::uint8_t> samples) {
  const auto chunk = [](const std::string& name, const std::string& content) {
    return name + little_endian(static_cast<std::uint32_t>(content.size()), 4) + content +
           (content.size() % 2 ? std::string(1, '\0') : "");
  };
  const std::string size = little_endian(static_cast<std::uint32_t>(width - 1), 3) +
                           little_endian(static_cast<std::uint32_t>(height - 1), 3);
  std::string body = "WEBP" + chunk("VP8X", std::string("\x02\0\0\0", 4) + size) +
                     chunk("ANIM", std::string("\0\0\0\0\0\0", 6));
  Bytes pixels(samples.begin(), samples.end());
  for (int frame = 0; frame < 2; ++frame) {
    const Bytes still = encode_webp(width, height, pixels);
    body += chunk("ANMF", std::string(6, '\0') + size + std::string("\x64\0\0\0", 4) +
                              std::string(still.begin() + 12, still.end()));
    std::reverse(pixels.begin(), pixels.end());
  }
  return to_bytes("RIFF" + little_endian(static_cast<std::uint32_t>(body.size()), 4) + body);
}

// Frames of indices into four colours; `transparent` is one of them or -1.
inline constexpr std::array<std::uint8_t, 12> kGifColours = {10, 20, 30, 200, 0, 0, 0, 150, 0, 0, 0, 250};
inline Bytes encode_gif(int width, int height, const std::vector<Bytes>& frames, int transparent) {
  Bytes out;
  const auto write = [](GifFileType* gif, const GifByteType* bytes, int size) {
    auto* to = static_cast<Bytes*>(gif->UserData);
    to->insert(to->end(), bytes, bytes + size);
    return size;
  };
  GifFileType* gif = EGifOpen(&out, write, nullptr);
  std::array<GifColorType, 4> colours{};
  for (std::size_t i = 0; i < 4; ++i)
    colours[i] = {kGifColours[3 * i], kGifColours[3 * i + 1], kGifColours[3 * i + 2]};
  ColorMapObject* map = GifMakeMapObject(4, colours.data());
  EGifSetGifVersion(gif, true);
  EGifPutScreenDesc(gif, width, height, 2, 0, map);
  for (const Bytes& frame : frames) {
    const GraphicsControlBlock control{0, false, 0, transparent};
    std::array<GifByteType, 4> block{};
    EGifGCBToExtension(&control, block.data());
    EGifPutExtension(gif, GRAPHICS_EXT_FUNC_CODE, 4, block.data());
    EGifPutImageDesc(gif, 0, 0, width, height, false, nullptr);
    Bytes copy = frame;
    for (int y = 0; y < height; ++y) EGifPutLine(gif, copy.data() + y * width, width);
  }
  GifFreeMapObject(map);
  EGifCloseFile(gif, nullptr);
  return out;
}
// A picture of one colour.
inline Bytes flat_png(int width, int height, std::uint8_t red, std::uint8_t green, std::uint8_t blue) {
  Bytes samples;
  for (int i = 0; i < width * height; ++i) samples.insert(samples.end(), {red, green, blue});
  return encode_png(width, height, 3, samples);
}

}  // namespace longtail::data
