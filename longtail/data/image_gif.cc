#include <gif_lib.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "longtail/base/error.h"
#include "longtail/data/image_formats.h"

namespace longtail::data::detail {
namespace {

using base::fail;

struct Source {
  std::span<const std::uint8_t> rest;
};

int read_source(GifFileType* gif, GifByteType* out, int wanted) {
  auto* source = static_cast<Source*>(gif->UserData);
  const std::size_t size = std::min(source->rest.size(), static_cast<std::size_t>(std::max(wanted, 0)));
  std::memcpy(out, source->rest.data(), size);
  source->rest = source->rest.subspan(size);
  return static_cast<int>(size);
}

struct GifEnd {
  void operator()(GifFileType* gif) const { DGifCloseFile(gif, nullptr); }
};

// Reads record by record up to the first frame: giflib's own function would decode every frame of a long
// animation.
class FirstFrame {
 public:
  FirstFrame(std::span<const std::uint8_t> file, const std::string& where, std::uint64_t most_pixels)
      : where_(where), most_pixels_(most_pixels), source_{file} {
    int error = 0;
    gif_.reset(DGifOpen(&source_, read_source, &error));
    if (!gif_) damaged(error);
    check_size(static_cast<std::uint64_t>(gif_->SWidth), static_cast<std::uint64_t>(gif_->SHeight),
               most_pixels_, where_);
  }

  Picture decode() {
    for (;;) {
      GifRecordType type = UNDEFINED_RECORD_TYPE;
      if (DGifGetRecordType(gif_.get(), &type) != GIF_OK) damaged(gif_->Error);
      if (type == IMAGE_DESC_RECORD_TYPE) return frame();
      if (type == TERMINATE_RECORD_TYPE) fail("{}: this GIF file holds no picture", where_);
      if (type == EXTENSION_RECORD_TYPE) extension();
    }
  }

 private:
  [[noreturn]] void damaged(int error) const {
    const char* reason = GifErrorString(error);
    fail("{}: this GIF picture cannot be read: {}", where_, reason ? reason : "it is damaged");
  }

  // Only the transparent colour matters.
  void extension() {
    int code = 0;
    GifByteType* block = nullptr;
    if (DGifGetExtension(gif_.get(), &code, &block) != GIF_OK) damaged(gif_->Error);
    GraphicsControlBlock control{};
    if (code == GRAPHICS_EXT_FUNC_CODE && block != nullptr &&
        DGifExtensionToGCB(block[0], block + 1, &control) == GIF_OK) {
      transparent_ = control.TransparentColor;
    }
    while (block != nullptr) {
      if (DGifGetExtensionNext(gif_.get(), &block) != GIF_OK) damaged(gif_->Error);
    }
  }

  Picture frame() {
    if (DGifGetImageDesc(gif_.get()) != GIF_OK) damaged(gif_->Error);
    const GifImageDesc& image = gif_->Image;
    check_size(static_cast<std::uint64_t>(image.Width), static_cast<std::uint64_t>(image.Height),
               most_pixels_, where_);
    const ColorMapObject* colours = image.ColorMap ? image.ColorMap : gif_->SColorMap;
    if (colours == nullptr) fail("{}: this GIF picture has no colours", where_);
    Picture picture{gif_->SWidth, gif_->SHeight, 3, {}};
    picture.samples.resize(static_cast<std::size_t>(gif_->SWidth) * static_cast<std::size_t>(gif_->SHeight) *
                           3);
    std::vector<GifPixelType> line(static_cast<std::size_t>(image.Width));
    // Interlaced lines come in four passes.
    constexpr std::array<int, 4> kFirst = {0, 4, 2, 1}, kStep = {8, 8, 4, 2};
    const std::size_t passes = image.Interlace ? 4 : 1;
    for (std::size_t pass = 0; pass < passes; ++pass) {
      for (int y = image.Interlace ? kFirst[pass] : 0; y < image.Height;
           y += image.Interlace ? kStep[pass] : 1) {
        if (DGifGetLine(gif_.get(), line.data(), image.Width) != GIF_OK) damaged(gif_->Error);
        put_line(picture, image.Top + y, image.Left, line, *colours);
      }
    }
    drop_equal_channels(picture);
    return picture;
  }

  // What is transparent or outside the canvas stays black or unseen.
  void put_line(Picture& picture, int y, int left, const std::vector<GifPixelType>& line,
                const ColorMapObject& colours) const {
    if (y < 0 || y >= picture.height) return;
    for (std::size_t i = 0; i < line.size(); ++i) {
      const std::int64_t x = left + static_cast<std::int64_t>(i);
      if (x < 0 || x >= picture.width || line[i] == transparent_ || line[i] >= colours.ColorCount) continue;
      const GifColorType& colour = colours.Colors[line[i]];
      auto* out = picture.samples.data() + (static_cast<std::int64_t>(y) * picture.width + x) * 3;
      out[0] = colour.Red;
      out[1] = colour.Green;
      out[2] = colour.Blue;
    }
  }

  const std::string& where_;
  std::uint64_t most_pixels_;
  Source source_;
  std::unique_ptr<GifFileType, GifEnd> gif_;
  int transparent_ = NO_TRANSPARENT_COLOR;
};

}  // namespace

Picture decode_gif(std::span<const std::uint8_t> file, const std::string& where, std::uint64_t most_pixels) {
  return FirstFrame(file, where, most_pixels).decode();
}

}  // namespace longtail::data::detail
