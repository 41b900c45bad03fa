#include <webp/decode.h>
#include <webp/demux.h>

#include <algorithm>
#include <memory>

#include "longtail/base/error.h"
#include "longtail/data/image_formats.h"

namespace longtail::data::detail {
namespace {

using base::fail;

struct DemuxerEnd {
  void operator()(WebPDemuxer* demuxer) const { WebPDemuxDelete(demuxer); }
};

// One image, still or a frame, as red, green, blue and transparency.
Picture decode_still(std::span<const std::uint8_t> bytes, int width, int height, const std::string& where) {
  Picture picture{width, height, 4, {}};
  const auto row = static_cast<std::size_t>(width) * 4;
  picture.samples.resize(row * static_cast<std::size_t>(height));
  if (WebPDecodeRGBAInto(bytes.data(), bytes.size(), picture.samples.data(), picture.samples.size(),
                         static_cast<int>(row)) == nullptr) {
    fail("{}: this WebP picture cannot be read: it is damaged or ends early", where);
  }
  return picture;
}

// The first frame of an animation on its canvas.
Picture first_frame(std::span<const std::uint8_t> file, int width, int height, const std::string& where,
                    std::uint64_t most_pixels) {
  const WebPData data{file.data(), file.size()};
  const std::unique_ptr<WebPDemuxer, DemuxerEnd> demuxer(WebPDemux(&data));
  WebPIterator frame{};
  if (!demuxer || WebPDemuxGetFrame(demuxer.get(), 1, &frame) == 0) {
    fail("{}: this WebP animation cannot be read: it has no whole first frame", where);
  }
  const std::unique_ptr<WebPIterator, void (*)(WebPIterator*)> end(&frame, WebPDemuxReleaseIterator);
  check_size(static_cast<std::uint64_t>(frame.width), static_cast<std::uint64_t>(frame.height), most_pixels,
             where);
  const Picture still =
      decode_still({frame.fragment.bytes, frame.fragment.size}, frame.width, frame.height, where);
  Picture canvas{width, height, 4, {}};
  canvas.samples.resize(static_cast<std::size_t>(width) * static_cast<std::size_t>(height) * 4);
  for (int y = 0; y < frame.height && y + frame.y_offset < height; ++y) {
    const int visible = std::min(frame.width, width - frame.x_offset);
    if (visible <= 0) break;
    const auto from = static_cast<std::ptrdiff_t>(y) * frame.width * 4;
    const auto to = (static_cast<std::ptrdiff_t>(y + frame.y_offset) * width + frame.x_offset) * 4;
    std::copy_n(still.samples.begin() + from, static_cast<std::ptrdiff_t>(visible) * 4,
                canvas.samples.begin() + to);
  }
  return canvas;
}

}  // namespace

Picture decode_webp(std::span<const std::uint8_t> file, const std::string& where, std::uint64_t most_pixels) {
  WebPBitstreamFeatures features{};
  if (WebPGetFeatures(file.data(), file.size(), &features) != VP8_STATUS_OK) {
    fail("{}: this WebP picture cannot be read: its header is damaged or ends early", where);
  }
  check_size(static_cast<std::uint64_t>(features.width), static_cast<std::uint64_t>(features.height),
             most_pixels, where);
  Picture picture = features.has_animation != 0
                        ? first_frame(file, features.width, features.height, where, most_pixels)
                        : decode_still(file, features.width, features.height, where);
  lay_on_black(picture);
  drop_equal_channels(picture);
  return picture;
}

}  // namespace longtail::data::detail
