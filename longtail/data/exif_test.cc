#include "longtail/data/exif.h"

#include "longtail/data/testing.h"

namespace longtail::data {
namespace {

// An Exif block with the orientation as its second entry.
Bytes block(int orientation, bool little) {
  std::string text = little ? "II" : "MM";
  const auto number = [&](std::uint32_t value, int bytes) {
    const std::string low_first = little_endian(value, bytes);
    text += little ? low_first : std::string(low_first.rbegin(), low_first.rend());
  };
  number(42, 2);
  number(8, 4);
  number(2, 2);
  for (const auto& [tag, value] : {std::pair{0x10f, 7}, std::pair{0x112, orientation}}) {
    number(static_cast<std::uint32_t>(tag), 2);
    number(3, 2);
    number(1, 4);
    number(static_cast<std::uint32_t>(value), 2);
    number(0, 2);
  }
  return to_bytes(text);
}

// The block in an APP1 segment behind the first marker.
Bytes marked_jpeg(const Bytes& jpeg, const Bytes& exif) {
  std::string text("\xff\xd8\xff\xe1", 4);
  const auto size = static_cast<std::uint32_t>(exif.size() + 8);
  text += static_cast<char>(size >> 8);
  text += static_cast<char>(size & 255);
  text += std::string("Exif\0\0", 6);
  text.append(exif.begin(), exif.end());
  text.append(jpeg.begin() + 2, jpeg.end());
  return to_bytes(text);
}

TEST(Exif, TheMarkIsReadInBothByteOrdersAndOnlyIfItIsOne) {
  for (const bool little : {true, false}) {
    for (int value = 1; value <= 8; ++value) EXPECT_EQ(exif_orientation(block(value, little)), value);
    EXPECT_EQ(exif_orientation(block(9, little)), 1);
    const Bytes whole = block(6, little);
    for (std::size_t size = 0; size < whole.size() - 2; ++size) {
      const int read = exif_orientation(std::span(whole).first(size));
      EXPECT_TRUE(read == 1 || size >= 8 + 2 + 12 + 10) << size;
    }
  }
  EXPECT_EQ(exif_orientation(to_bytes("II*")), 1);
}

TEST(Exif, APictureIsTurnedTheWayItsMarkSays) {
  // 1 2 3
  // 4 5 6
  const Picture stored{3, 2, 1, {1, 2, 3, 4, 5, 6}};
  const std::vector<Bytes> upright = {{1, 2, 3, 4, 5, 6}, {3, 2, 1, 6, 5, 4}, {6, 5, 4, 3, 2, 1},
                                      {4, 5, 6, 1, 2, 3}, {1, 4, 2, 5, 3, 6}, {4, 1, 5, 2, 6, 3},
                                      {6, 3, 5, 2, 4, 1}, {3, 6, 2, 5, 1, 4}};
  for (int mark = 1; mark <= 8; ++mark) {
    Picture picture = stored;
    turn_upright(picture, mark);
    EXPECT_EQ(picture.samples, upright[static_cast<std::size_t>(mark - 1)]) << mark;
    EXPECT_EQ(picture.width, mark < 5 ? 3 : 2);
  }
}

TEST(Exif, TheMarkOfAFileIsObeyed) {
  Bytes samples(16 * 8, 200);
  for (std::size_t i = 0; i < samples.size(); ++i)
    samples[i] = i % 16 < 8 ? 0 : 255;  // black left, white right
  const Bytes jpeg = encode_jpeg(16, 8, 1, samples);
  EXPECT_EQ(orientation_of(jpeg), 1);
  EXPECT_EQ(orientation_of(marked_jpeg(jpeg, block(6, true))), 6);
  const Picture turned = decode_picture(marked_jpeg(jpeg, block(6, false)), "a.jpg");
  EXPECT_EQ(turned.width, 8);
  EXPECT_EQ(turned.height, 16);
  EXPECT_LT(turned.samples.front(), 10);  // black above, white below
  EXPECT_GT(turned.samples.back(), 245);
}

}  // namespace
}  // namespace longtail::data
