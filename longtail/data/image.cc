#include "longtail/data/image.h"

#include <png.h>

#include <algorithm>
#include <csetjmp>
#include <cstdio>
#include <cstring>
// jpeglib.h needs FILE and size_t declared before it.
#include <jerror.h>
#include <jpeglib.h>

#include "longtail/base/error.h"
#include "longtail/base/text.h"
#include "longtail/base/threads.h"
#include "longtail/data/exif.h"
#include "longtail/data/image_formats.h"

namespace longtail::data {
namespace detail {

void check_size(std::uint64_t width, std::uint64_t height, std::uint64_t most_pixels,
                const std::string& where) {
  if (width == 0 || height == 0 || width * height > most_pixels) {
    base::fail("{}: a picture of {} by {} pixels; at most {} pixels can be read", where, width, height,
               most_pixels);
  }
}

// Blends the stored values with black, as browsers and image libraries do; libpng's own blending works on
// linear light and would brighten half-transparent pixels.
void lay_on_black(Picture& picture) {
  const auto colours = static_cast<std::size_t>(picture.channels - 1);
  const std::size_t pixels = picture.samples.size() / (colours + 1);
  for (std::size_t i = 0; i < pixels; ++i) {
    const unsigned alpha = picture.samples[(colours + 1) * i + colours];
    for (std::size_t c = 0; c < colours; ++c) {
      picture.samples[colours * i + c] =
          static_cast<std::uint8_t>((picture.samples[(colours + 1) * i + c] * alpha + 127) / 255);
    }
  }
  picture.samples.resize(colours * pixels);
  picture.channels = static_cast<int>(colours);
}

void drop_equal_channels(Picture& picture) {
  const std::size_t pixels = picture.samples.size() / 3;
  const auto* samples = picture.samples.data();
  for (std::size_t i = 0; i < pixels; ++i) {
    if (samples[3 * i] != samples[3 * i + 1] || samples[3 * i] != samples[3 * i + 2]) return;
  }
  for (std::size_t i = 0; i < pixels; ++i) picture.samples[i] = picture.samples[3 * i];
  picture.samples.resize(pixels);
  picture.channels = 1;
}

}  // namespace detail

namespace {

using base::fail;
using detail::check_size;
using detail::lay_on_black;

// ---- PNG ----

// Frees what libpng holds, however the scope is left.
struct PngImage {
  png_image image{};
  PngImage() { image.version = PNG_IMAGE_VERSION; }
  ~PngImage() { png_image_free(&image); }
  PngImage(const PngImage&) = delete;
  PngImage& operator=(const PngImage&) = delete;
};

Picture decode_png(std::span<const std::uint8_t> file, const std::string& where, std::uint64_t most_pixels) {
  PngImage png;
  png_image& image = png.image;
  const auto damaged = [&] { fail("{}: this PNG picture cannot be read: {}", where, image.message); };
  if (!png_image_begin_read_from_memory(&image, file.data(), file.size())) damaged();
  check_size(image.width, image.height, most_pixels, where);
  // Sixteen-bit values have the same scale as eight-bit ones, not linear light, unless the file says
  // otherwise.
  image.flags |= PNG_IMAGE_FLAG_16BIT_sRGB;
  image.format &= PNG_FORMAT_FLAG_COLOR | PNG_FORMAT_FLAG_ALPHA;  // eight bits per channel, no palette
  Picture picture{static_cast<int>(image.width),
                  static_cast<int>(image.height),
                  static_cast<int>(PNG_IMAGE_PIXEL_CHANNELS(image.format)),
                  {}};
  picture.samples.resize(PNG_IMAGE_SIZE(image));
  if (!png_image_finish_read(&image, nullptr, picture.samples.data(), 0, nullptr)) damaged();
  if (image.format & PNG_FORMAT_FLAG_ALPHA) lay_on_black(picture);
  return picture;
}

// ---- JPEG ----

// libjpeg reports errors through function pointers that must not return: a long jump leaves its plain C
// frames.
struct JpegErrors {
  jpeg_error_mgr manager{};
  std::jmp_buf jump{};
  jpeg_progress_mgr progress{};
  char message[JMSG_LENGTH_MAX] = {};
};

[[noreturn]] void jpeg_stop(j_common_ptr info) {
  auto* errors = reinterpret_cast<JpegErrors*>(info->err);
  info->err->format_message(info, errors->message);
  std::longjmp(errors->jump, 1);
}

// Warnings that mean missing or wrong pixels are errors; odd bytes between markers, common in old
// photographs, are not.
void jpeg_message(j_common_ptr info, int level) {
  const int code = info->err->msg_code;
  if (level < 0 && (code == JWRN_JPEG_EOF || code == JWRN_HIT_MARKER || code == JWRN_HUFF_BAD_CODE))
    jpeg_stop(info);
}

void jpeg_silent(j_common_ptr) {}

// A progressive picture may have any number of scans, each over the whole picture: a small file can take
// hours to decode. Cameras and programs use about ten.
constexpr int kMostScans = 200;
void jpeg_count_scans(j_common_ptr info) {
  if (reinterpret_cast<jpeg_decompress_struct*>(info)->input_scan_number <= kMostScans) return;
  auto* errors = reinterpret_cast<JpegErrors*>(info->err);
  std::snprintf(errors->message, sizeof errors->message, "it has more than %d scans", kMostScans);
  std::longjmp(errors->jump, 1);
}

// Only trivially destructible objects may live in this function, because a long jump leaves it. Returns false
// with errors.message set, or with the message empty when the picture is too large.
bool decode_jpeg(jpeg_decompress_struct& info, JpegErrors& errors, std::span<const std::uint8_t> file,
                 std::uint64_t most_pixels, Picture& picture) {
  if (setjmp(errors.jump) != 0) return false;
  jpeg_create_decompress(&info);
  info.progress = &errors.progress;
  jpeg_mem_src(&info, file.data(), file.size());
  jpeg_read_header(&info, TRUE);
  picture.width = static_cast<int>(info.image_width);
  picture.height = static_cast<int>(info.image_height);
  if (std::uint64_t{info.image_width} * info.image_height > most_pixels) return false;
  const bool grey = info.jpeg_color_space == JCS_GRAYSCALE;
  const bool four = info.jpeg_color_space == JCS_CMYK || info.jpeg_color_space == JCS_YCCK;
  info.out_color_space = grey ? JCS_GRAYSCALE : four ? JCS_CMYK : JCS_RGB;
  picture.channels = grey ? 1 : four ? 4 : 3;
  info.dct_method = JDCT_ISLOW;  // the same pixels on every machine
  jpeg_start_decompress(&info);
  const std::size_t row =
      static_cast<std::size_t>(picture.width) * static_cast<std::size_t>(picture.channels);
  picture.samples.resize(row * info.output_height);
  while (info.output_scanline < info.output_height) {
    JSAMPROW line = picture.samples.data() + row * info.output_scanline;
    jpeg_read_scanlines(&info, &line, 1);
  }
  jpeg_finish_decompress(&info);
  return true;
}

// Four-colour JPEGs are written inverted by every program that writes them.
void cmyk_to_rgb(Picture& picture) {
  const std::size_t pixels = picture.samples.size() / 4;
  for (std::size_t i = 0; i < pixels; ++i) {
    const unsigned black = picture.samples[4 * i + 3];
    for (std::size_t c = 0; c < 3; ++c) {
      picture.samples[3 * i + c] =
          static_cast<std::uint8_t>((picture.samples[4 * i + c] * black + 127) / 255);
    }
  }
  picture.samples.resize(3 * pixels);
  picture.channels = 3;
}

Picture decode_jpeg(std::span<const std::uint8_t> file, const std::string& where, std::uint64_t most_pixels) {
  JpegErrors errors;
  jpeg_decompress_struct info{};
  info.err = jpeg_std_error(&errors.manager);
  errors.manager.error_exit = jpeg_stop;
  errors.manager.emit_message = jpeg_message;
  errors.manager.output_message = jpeg_silent;
  errors.progress.progress_monitor = jpeg_count_scans;
  Picture picture;
  bool done = false;
  try {
    done = decode_jpeg(info, errors, file, most_pixels, picture);
  } catch (...) {
    jpeg_destroy_decompress(&info);
    throw;
  }
  jpeg_destroy_decompress(&info);
  if (!done && errors.message[0] == '\0') {
    check_size(static_cast<std::uint64_t>(picture.width), static_cast<std::uint64_t>(picture.height),
               most_pixels, where);
  }
  if (!done) fail("{}: this JPEG picture cannot be read: {}", where, errors.message);
  if (picture.channels == 4) cmyk_to_rgb(picture);
  return picture;
}

Picture decode_stored(std::span<const std::uint8_t> file, const std::string& where,
                      std::uint64_t most_pixels) {
  const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
  if (text.starts_with("\x89PNG\r\n\x1a\n")) return decode_png(file, where, most_pixels);
  if (text.starts_with("\xff\xd8\xff")) return decode_jpeg(file, where, most_pixels);
  if (text.starts_with("GIF8")) return detail::decode_gif(file, where, most_pixels);
  if (text.starts_with("RIFF") && text.substr(0, 12).ends_with("WEBP"))
    return detail::decode_webp(file, where, most_pixels);
  if (file.empty()) fail("{}: the file is empty; put the picture back or take it out of the folder", where);
  fail("{}: not a PNG, JPEG, WebP or GIF picture; convert it or take it out of the folder", where);
}

}  // namespace

Picture decode_picture(std::span<const std::uint8_t> file, const std::string& where,
                       std::uint64_t most_pixels) {
  Picture picture = decode_stored(file, where, most_pixels);
  turn_upright(picture, orientation_of(file));
  return picture;
}

Fit parse_fit(std::string_view name) {
  const std::vector<std::string> names(kFitNames.begin(), kFitNames.end());
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end())
    fail("`fit` is `{}`; it must be one of {}{}", name, base::join(names, ", "),
         base::did_you_mean(name, names));
  return static_cast<Fit>(found - names.begin());
}

PictureForm parse_form(std::string_view text) {
  constexpr std::string_view kFramed = "framed:";
  if (!text.starts_with(kFramed)) return {parse_fit(text)};
  const auto sides = base::split(text.substr(kFramed.size()), 'x');
  const auto rows = base::parse_integer(sides.front()), columns = base::parse_integer(sides.back());
  const auto inside = [](const auto& side) { return side && *side >= 1 && *side <= kSide; };
  if (sides.size() != 2 || !inside(rows) || !inside(columns)) {
    fail("`{}` is no form of a picture; it would be framed:ROWSxCOLUMNS, of 1 to {} pixels each", text,
         kSide);
  }
  return {Fit::kStretch, static_cast<int>(*rows), static_cast<int>(*columns)};
}

std::string framed_form(int rows, int columns) { return fmt::format("framed:{}x{}", rows, columns); }

Window window_of(const Picture& picture, const PictureForm& form) {
  if (form.rows == 0) return window_of(picture, form.fit);
  // The frame in the picture's own pixels: exact if the picture has the size that the frame was made for.
  const auto scaled = [](std::int64_t pixels, std::int64_t length, int inside) {
    return (2 * pixels * length + inside) / (2 * inside);
  };
  const std::int64_t width = picture.width, height = picture.height;
  return {-scaled((kSide - form.columns) / 2, width, form.columns),
          -scaled((kSide - form.rows) / 2, height, form.rows), scaled(kSide, width, form.columns),
          scaled(kSide, height, form.rows)};
}

Window window_of(const Picture& picture, Fit fit) {
  const std::int64_t width = picture.width, height = picture.height;
  if (fit == Fit::kStretch) return {0, 0, width, height};
  const std::int64_t side = fit == Fit::kCrop ? std::min(width, height) : std::max(width, height);
  // The offset of an odd margin is rounded down (a shift does so below 0 too): a crop cuts off the smaller
  // half above and to the left, padding adds the larger half there.
  return {(width - side) >> 1, (height - side) >> 1, side, side};
}

void area_average(const Picture& picture, std::span<std::uint8_t, std::size_t{3} * kPixels> out) {
  area_average(picture, window_of(picture, Fit::kStretch), kSide, out);
}

void area_average(const Picture& picture, const Window& window, int new_side, std::span<std::uint8_t> out) {
  // Let S be the new side. In units of 1/S of a source pixel every border is an integer: pixel x of the
  // window covers [Sx, Sx + S), new pixel u covers [uW, uW + W). All sums are integers, so the mean is exact.
  const auto side = static_cast<std::uint64_t>(new_side);
  const std::size_t pixels = side * side;
  const auto width = static_cast<std::uint64_t>(window.width);
  const auto height = static_cast<std::uint64_t>(window.height);
  // The part of the window that is inside the picture; the rest is black and adds nothing.
  const auto visible = [](std::int64_t from, std::int64_t size, std::int64_t limit) {
    return std::pair(std::max<std::int64_t>(from, 0), std::min(from + size, limit));
  };
  const auto [left, right] = visible(window.x, window.width, picture.width);
  const auto [top, bottom] = visible(window.y, window.height, picture.height);
  const auto channels = static_cast<std::size_t>(picture.channels);
  std::vector<std::uint64_t> sums(channels * pixels);
  std::vector<std::uint64_t> line(channels * side);
  const auto overlap = [](std::uint64_t a, std::uint64_t a_end, std::uint64_t b, std::uint64_t b_end) {
    return std::min(a_end, b_end) - std::max(a, b);
  };
  for (std::int64_t row = top; row < bottom; ++row) {
    const auto y = static_cast<std::uint64_t>(row - window.y);
    std::fill(line.begin(), line.end(), 0);
    const std::uint8_t* source =
        picture.samples.data() + static_cast<std::size_t>(row * picture.width + left) * channels;
    for (std::int64_t column = left; column < right; ++column, source += channels) {
      const auto x = static_cast<std::uint64_t>(column - window.x);
      const std::uint64_t last = (side * x + side - 1) / width;
      for (std::uint64_t u = side * x / width; u <= last; ++u) {
        const std::uint64_t weight = overlap(side * x, side * x + side, u * width, u * width + width);
        for (std::size_t c = 0; c < channels; ++c) line[c * side + u] += weight * source[c];
      }
    }
    const std::uint64_t last = (side * y + side - 1) / height;
    for (std::uint64_t v = side * y / height; v <= last; ++v) {
      const std::uint64_t weight = overlap(side * y, side * y + side, v * height, v * height + height);
      for (std::size_t c = 0; c < channels; ++c) {
        for (std::size_t u = 0; u < side; ++u) sums[c * pixels + v * side + u] += weight * line[c * side + u];
      }
    }
  }
  const std::uint64_t area = width * height;
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] = static_cast<std::uint8_t>((sums[channels == 1 ? i % pixels : i] + area / 2) / area);
  }
}

void resize_images(Dataset& data, int side) {
  if (data.side == side) return;
  const ImageShape to{data.channels, side};
  base::ThreadPool pool(base::available_cpus());
  const auto resized = [&](const Split& split) {
    std::vector<std::uint8_t> result(split.labels.size() * to.values());
    pool.run(static_cast<int>(split.labels.size()), [&](int index, int) {
      const std::span<const std::uint8_t> planes = data.image(split, index);
      const auto pixels = static_cast<std::size_t>(data.shape().pixels());
      // The image as a Picture, channels side by side. Its average always has three channels.
      Picture picture{data.side, data.side, data.channels, std::vector<std::uint8_t>(planes.size())};
      for (std::size_t i = 0; i < planes.size(); ++i) {
        picture.samples[i % pixels * static_cast<std::size_t>(data.channels) + i / pixels] = planes[i];
      }
      std::vector<std::uint8_t> average(ImageShape{3, side}.values());
      area_average(picture, window_of(picture, Fit::kStretch), side, average);
      std::copy_n(
          average.begin(), to.values(),
          result.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(index) * to.values()));
    });
    return result;
  };
  std::vector<std::uint8_t> train = resized(data.train), test = resized(data.test);
  data.train.pixels = std::move(train);
  data.test.pixels = std::move(test);
  data.side = side;
  data.hash = content_hash(data);
}

}  // namespace longtail::data
