#include "longtail/data/image.h"

#include "longtail/data/testing.h"

namespace longtail::data {
namespace {

using testing::HasSubstr;

constexpr std::size_t kColour = std::size_t{3} * kPixels;

Picture pattern(int width, int height, int channels) {
  Picture picture{width, height, channels, Bytes(static_cast<std::size_t>(width * height * channels))};
  for (std::size_t i = 0; i < picture.samples.size(); ++i) {
    picture.samples[i] = static_cast<std::uint8_t>(i * 2654435761U >> 13);
  }
  return picture;
}

std::vector<std::uint8_t> averaged(const Picture& picture) {
  Bytes out(kColour);
  area_average(picture, std::span<std::uint8_t, kColour>(out.data(), kColour));
  return out;
}

// The plain way: blow the picture up 32 times in both directions, then every new pixel is the mean of a W by
// H block.
Bytes averaged_slowly(const Picture& picture) {
  Bytes out(kColour);
  const int w = picture.width, h = picture.height;
  for (int c = 0; c < 3; ++c) {
    for (int v = 0; v < kSide; ++v) {
      for (int u = 0; u < kSide; ++u) {
        std::uint64_t sum = 0;
        for (int y = v * h; y < (v + 1) * h; ++y) {
          for (int x = u * w; x < (u + 1) * w; ++x) {
            const int at = ((y / kSide) * w + x / kSide) * picture.channels + (picture.channels == 3 ? c : 0);
            sum += picture.samples[static_cast<std::size_t>(at)];
          }
        }
        const auto area = static_cast<std::uint64_t>(w) * static_cast<std::uint64_t>(h);
        out[static_cast<std::size_t>((c * kSide + v) * kSide + u)] =
            static_cast<std::uint8_t>((sum + area / 2) / area);
      }
    }
  }
  return out;
}

TEST(Image, TheAreaAverageIsExactForEverySize) {
  for (const auto& [width, height] :
       {std::pair{32, 32}, {64, 64}, {33, 31}, {1, 1}, {5, 7}, {100, 3}, {61, 47}, {31, 96}}) {
    for (const int channels : {1, 3}) {
      const Picture picture = pattern(width, height, channels);
      EXPECT_EQ(averaged(picture), averaged_slowly(picture)) << width << "x" << height << "x" << channels;
    }
  }
}

TEST(Image, A32By32PictureKeepsItsPixels) {
  const Picture picture = pattern(32, 32, 3);
  const Bytes out = averaged(picture);
  for (std::size_t i = 0; i < kPixels; ++i) {
    for (std::size_t c = 0; c < 3; ++c) ASSERT_EQ(out[c * kPixels + i], picture.samples[3 * i + c]);
  }
}

TEST(Image, PngGivesBackItsSamples) {
  for (const int channels : {1, 3}) {
    const Picture picture = pattern(19, 23, channels);
    const Picture back = decode_picture(encode_png(19, 23, channels, picture.samples), "a.png");
    EXPECT_EQ(back.width, 19);
    EXPECT_EQ(back.height, 23);
    EXPECT_EQ(back.channels, channels);
    EXPECT_EQ(back.samples, picture.samples);
  }
}

TEST(Image, TransparencyIsLaidOnBlack) {
  const Bytes samples = {200, 100, 50, 255, 200, 100, 50, 0};
  const Picture picture = decode_picture(encode_png(2, 1, 4, samples), "a.png");
  EXPECT_THAT(picture.samples, testing::ElementsAre(200, 100, 50, 0, 0, 0));
}

TEST(Image, HalfTransparentValuesAreHalved) {
  const Bytes colours = {255, 100, 50, 128, 255, 255, 255, 51};
  EXPECT_THAT(decode_picture(encode_png(2, 1, 4, colours), "a.png").samples,
              testing::ElementsAre(128, 50, 25, 51, 51, 51));
  const Bytes greys = {255, 128, 200, 255};
  const Picture grey = decode_picture(encode_png(2, 1, 2, greys), "a.png");
  EXPECT_EQ(grey.channels, 1);
  EXPECT_THAT(grey.samples, testing::ElementsAre(128, 200));
}

std::string png_chunk(const std::string& kind, const std::string& content) {
  const std::string named = kind + content;
  const auto* bytes = reinterpret_cast<const Bytef*>(named.data());
  const uLong sum = crc32(0, bytes, static_cast<uInt>(named.size()));
  return big_endian(static_cast<std::uint32_t>(content.size())) + named +
         big_endian(static_cast<std::uint32_t>(sum));
}

TEST(Image, SixteenBitsAreOnTheScaleOfEight) {
  const Bytes wanted = {0, 10, 50, 128, 200, 255};
  std::string row(1, '\0');  // no filter
  for (const std::uint8_t value : wanted) row.append(2, static_cast<char>(value));
  std::string packed(64, '\0');
  uLongf size = packed.size();
  ASSERT_EQ(compress(reinterpret_cast<Bytef*>(packed.data()), &size,
                     reinterpret_cast<const Bytef*>(row.data()), row.size()),
            Z_OK);
  packed.resize(size);
  const std::string header = big_endian(6) + big_endian(1) + std::string("\x10\0\0\0\0", 5);  // 16 bits, grey
  const std::string file =
      "\x89PNG\r\n\x1a\n" + png_chunk("IHDR", header) + png_chunk("IDAT", packed) + png_chunk("IEND", "");
  EXPECT_EQ(decode_picture(to_bytes(file), "deep.png").samples, wanted);
}

TEST(Image, JpegIsCloseToItsSamplesGreyColourAndFourColour) {
  for (const int channels : {1, 3}) {
    Picture picture{40, 30, channels, Bytes(static_cast<std::size_t>(1200 * channels), 90)};
    const Picture back = decode_picture(encode_jpeg(40, 30, channels, picture.samples), "a.jpg");
    EXPECT_EQ(back.channels, channels);
    ASSERT_EQ(back.samples.size(), picture.samples.size());
    for (const std::uint8_t sample : back.samples) ASSERT_NEAR(sample, 90, 2);
  }
  // Inverted CMYK: (255, 128, 0) under no black is orange; half black halves it.
  Bytes samples;
  for (int i = 0; i < 64; ++i) samples.insert(samples.end(), {255, 128, 0, 128});
  const Picture back = decode_picture(encode_jpeg(8, 8, 4, samples), "a.jpg");
  EXPECT_EQ(back.channels, 3);
  ASSERT_EQ(back.samples.size(), 192U);
  EXPECT_NEAR(back.samples[0], 128, 2);
  EXPECT_NEAR(back.samples[1], 64, 2);
  EXPECT_NEAR(back.samples[2], 0, 2);
}

TEST(Image, EveryTruncationIsAnErrorThatNamesTheFile) {
  const Picture picture = pattern(20, 20, 3);
  for (const Bytes& whole :
       {encode_png(20, 20, 3, picture.samples), encode_jpeg(20, 20, 3, picture.samples)}) {
    // The very end of a PNG (its last chunk is empty) or a JPEG (its end mark) carries no pixels.
    for (std::size_t size = 0; size + 20 < whole.size(); ++size) {
      const Bytes part(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
      EXPECT_THAT(error_of([&] { decode_picture(part, "dir/cat.png"); }), HasSubstr("dir/cat.png")) << size;
    }
  }
}

TEST(Image, AnythingElseIsRefused) {
  EXPECT_EQ(error_of([] { decode_picture(to_bytes("BM6"), "x.bmp"); }),
            "x.bmp: not a PNG, JPEG, WebP or GIF picture; convert it or take it out of the folder");
  EXPECT_THAT(error_of([] { decode_picture({}, "empty.png"); }), HasSubstr("empty.png: the file is empty"));
}

// The last scan of a progressive picture, sent again and again: a file of a few megabytes that decodes for
// minutes.
TEST(Image, AProgressivePictureOfTooManyScansIsRefused) {
  const Picture picture = pattern(40, 30, 3);
  const Bytes good = encode_jpeg(40, 30, 3, picture.samples, true);
  EXPECT_NO_THROW(decode_picture(good, "progressive.jpg"));
  const std::array<std::uint8_t, 2> scan = {0xff, 0xda};
  const auto last = std::find_end(good.begin(), good.end(), scan.begin(), scan.end());
  ASSERT_NE(last, good.end());
  const Bytes again(last, good.end() - 2);
  Bytes bomb(good.begin(), good.end() - 2);
  for (int i = 0; i < 5000; ++i) bomb.insert(bomb.end(), again.begin(), again.end());
  bomb.insert(bomb.end(), good.end() - 2, good.end());
  EXPECT_THAT(error_of([&] { decode_picture(bomb, "bomb.jpg"); }),
              HasSubstr("bomb.jpg: this JPEG picture cannot be read: it has more than 200 scans"));
}

TEST(Image, AHugePictureIsRefusedBeforeItIsAllocated) {
  Bytes png = encode_png(1, 1, 1, Bytes{0});
  // Width and height are at bytes 16 to 23 of a PNG, the checksum of their chunk at 29 to 32.
  const std::string size = big_endian(100000) + big_endian(100000);
  std::copy(size.begin(), size.end(), png.begin() + 16);
  const std::string crc = big_endian(static_cast<std::uint32_t>(crc32(0, png.data() + 12, 17)));
  std::copy(crc.begin(), crc.end(), png.begin() + 29);
  EXPECT_THAT(error_of([&] { decode_picture(png, "huge.png"); }),
              HasSubstr("huge.png: a picture of 100000 by 100000 pixels"));

  Bytes jpeg = encode_jpeg(8, 8, 1, Bytes(64));
  const Bytes mark = {0xff, 0xc0};
  const auto frame = std::search(jpeg.begin(), jpeg.end(), mark.begin(), mark.end());
  ASSERT_NE(frame, jpeg.end());
  std::fill(frame + 5, frame + 9, 0xf0);
  EXPECT_THAT(error_of([&] { decode_picture(jpeg, "huge.jpg"); }),
              HasSubstr("huge.jpg: a picture of 61680 by 61680"));
}

// The plain twin of a window: the black square or the cut is made first, then averaged.
Picture windowed_slowly(const Picture& picture, const Window& window) {
  Picture out{static_cast<int>(window.width), static_cast<int>(window.height), picture.channels, {}};
  for (std::int64_t y = window.y; y < window.y + window.height; ++y) {
    for (std::int64_t x = window.x; x < window.x + window.width; ++x) {
      const bool inside = x >= 0 && y >= 0 && x < picture.width && y < picture.height;
      for (int c = 0; c < picture.channels; ++c) {
        const auto at = static_cast<std::size_t>((y * picture.width + x) * picture.channels + c);
        out.samples.push_back(inside ? picture.samples[at] : std::uint8_t{0});
      }
    }
  }
  return out;
}

TEST(Image, CropShowsTheMiddleAndPadPutsBlackAround) {
  for (const auto& [width, height] : {std::pair{32, 32}, {40, 20}, {21, 50}, {7, 4}, {1, 9}}) {
    const Picture picture = pattern(width, height, 3);
    for (const Fit fit : {Fit::kStretch, Fit::kCrop, Fit::kPad}) {
      const Window window = window_of(picture, fit);
      Bytes out(kColour);
      area_average(picture, window, kSide, out);
      EXPECT_EQ(out, averaged_slowly(windowed_slowly(picture, window))) << width << "x" << height;
      if (fit != Fit::kStretch) {
        EXPECT_EQ(window.width, window.height);
      }
    }
  }
  EXPECT_EQ(window_of(pattern(40, 20, 1), Fit::kCrop).x, 10);
  EXPECT_EQ(window_of(pattern(40, 20, 1), Fit::kPad).y, -10);
  EXPECT_THAT(error_of([] { parse_fit("crob"); }), HasSubstr("did you mean `crop`"));
  EXPECT_THAT(error_of([] { parse_form("framed:28"); }), HasSubstr("framed:ROWSxCOLUMNS"));
  EXPECT_THAT(error_of([] { parse_form("framed:28x33"); }), HasSubstr("framed:28x33"));
}

TEST(Image, WebpGivesBackItsSamplesStillOrAnimated) {
  const Picture picture = pattern(19, 23, 3);
  const Bytes still = encode_webp(19, 23, picture.samples);
  EXPECT_EQ(decode_picture(still, "a.webp").samples, picture.samples);
  const Picture animated = decode_picture(animated_webp(19, 23, picture.samples), "b.webp");
  EXPECT_EQ(animated.width, 19);
  EXPECT_EQ(animated.samples, picture.samples);
  EXPECT_EQ(decode_picture(encode_webp(2, 1, Bytes{5, 5, 5, 9, 9, 9}), "grey.webp").samples, (Bytes{5, 9}));
  EXPECT_THAT(error_of([&] { decode_picture(std::span(still).first(still.size() / 2), "c.webp"); }),
              HasSubstr("c.webp: this WebP picture cannot be read"));
  EXPECT_THAT(error_of([&] { decode_picture(still, "d.webp", 100); }), HasSubstr("19 by 23 pixels"));
}

TEST(Image, GifGivesItsFirstFrame) {
  // Four colours; two frames, of which the second is black.
  const Bytes frame = {0, 1, 2, 3, 3, 2, 1, 0, 0, 0, 1, 1};
  const Bytes file = encode_gif(4, 3, {frame, Bytes(12, 0)}, -1);
  const Picture picture = decode_picture(file, "a.gif");
  EXPECT_EQ(picture.width, 4);
  EXPECT_EQ(picture.channels, 3);
  Bytes expected;
  for (const std::uint8_t index : frame)
    expected.insert(expected.end(), kGifColours.begin() + 3 * index, kGifColours.begin() + 3 * index + 3);
  EXPECT_EQ(picture.samples, expected);
  // What is transparent is black.
  const Picture clear = decode_picture(encode_gif(2, 1, {Bytes{3, 2}}, 3), "b.gif");
  EXPECT_EQ(clear.samples[0] + clear.samples[1] + clear.samples[2], 0);
  EXPECT_EQ(clear.samples[3], kGifColours[6]);
  EXPECT_THAT(error_of([&] { decode_picture(std::span(file).first(40), "c.gif"); }),
              HasSubstr("c.gif: this GIF picture cannot be read"));
  EXPECT_THAT(error_of([&] { decode_picture(file, "d.gif", 5); }), HasSubstr("4 by 3 pixels"));
}

// Halving averages four pixels, doubling repeats one; what the labels say stays.
TEST(Image, ResizedDataSetsAreAreaAverages) {
  Dataset data;
  data.channels = 1;
  data.class_names = {"a", "b"};
  data.train.labels = {0, 1};
  data.test.labels = {1};
  for (int i = 0; i < 2 * kPixels; ++i) data.train.pixels.push_back(static_cast<std::uint8_t>(i * 31 % 251));
  for (int i = 0; i < kPixels; ++i) data.test.pixels.push_back(static_cast<std::uint8_t>(i * 17 % 241));
  seal(data, "here");
  Dataset small = data, large = data;
  resize_images(small, 16);
  resize_images(large, 64);
  for (std::int64_t n = 0; n < 2; ++n) {
    const auto from = data.image(data.train, n), half = small.image(small.train, n),
               twice = large.image(large.train, n);
    ASSERT_EQ(half.size(), 256u);
    ASSERT_EQ(twice.size(), 4096u);
    for (std::size_t y = 0; y < 16; ++y) {
      for (std::size_t x = 0; x < 16; ++x) {
        const std::size_t at = 2 * y * 32 + 2 * x;
        EXPECT_EQ(half[y * 16 + x], (from[at] + from[at + 1] + from[at + 32] + from[at + 33] + 2) / 4);
      }
    }
    for (std::size_t i = 0; i < 4096; ++i) EXPECT_EQ(twice[i], from[i / 128 * 32 + i % 64 / 2]);
  }
  EXPECT_EQ(small.test.labels, data.test.labels);
  EXPECT_NE(small.hash, data.hash);
  resize_images(small, 16);
  EXPECT_EQ(content_hash(small), small.hash);
}

}  // namespace
}  // namespace longtail::data
