#include "longtail/data/idx.h"

#include "longtail/data/pictures.h"
#include "longtail/data/registry.h"
#include "longtail/data/testing.h"

namespace longtail::data {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

std::string idx_images(std::uint32_t count, std::uint32_t rows, std::uint32_t columns) {
  std::string text = big_endian(0x803) + big_endian(count) + big_endian(rows) + big_endian(columns);
  for (std::uint32_t i = 0; i < count * rows * columns; ++i) text += static_cast<char>(1 + i % 255);
  return text;
}
std::string idx_labels(const std::string& labels) {
  return big_endian(0x801) + big_endian(static_cast<std::uint32_t>(labels.size())) + labels;
}
std::string refusal(const Bytes& file) {
  return error_of([&] { parse_idx_images(file, "some.gz"); });
}

TEST(Idx, CentresAn28By28ImageOnBlack) {
  const Bytes pixels = parse_idx_images(to_bytes(idx_images(2, 28, 28)), "file");
  ASSERT_EQ(pixels.size(), 2U * kPixels);
  for (int y = 0; y < kSide; ++y) {
    for (int x = 0; x < kSide; ++x) {
      const bool inside = y >= 2 && y < 30 && x >= 2 && x < 30;
      const int index = 784 + (y - 2) * 28 + x - 2;
      EXPECT_EQ(pixels[static_cast<std::size_t>(kPixels + y * kSide + x)], inside ? 1 + index % 255 : 0);
    }
  }
}

TEST(Idx, AFullSizedImageStaysAsItIs) {
  const std::string file = idx_images(1, 32, 32);
  const Bytes pixels = parse_idx_images(to_bytes(file), "file");
  EXPECT_EQ(std::string(pixels.begin(), pixels.end()), file.substr(16));
}

TEST(Idx, GzippedAndPlainAreTheSame) {
  const Bytes plain = to_bytes(idx_images(5, 28, 28));
  EXPECT_EQ(parse_idx_images(plain, "a"), parse_idx_images(gzip(plain), "b"));
  EXPECT_THAT(parse_idx_labels(gzip(to_bytes(idx_labels("\x03\x09"))), "c"), ElementsAre(3, 9));
}

TEST(Idx, TruncationIsFoundPlainAndGzipped) {
  const Bytes plain = to_bytes(idx_images(3, 28, 28));
  const Bytes packed = gzip(plain);
  for (std::size_t size = 0; size < plain.size(); size += 97) {
    EXPECT_NE(refusal({plain.begin(), plain.begin() + static_cast<std::ptrdiff_t>(size)}), "");
  }
  for (std::size_t size = 0; size < packed.size(); ++size) {
    EXPECT_NE(refusal({packed.begin(), packed.begin() + static_cast<std::ptrdiff_t>(size)}), "") << size;
  }
}

TEST(Idx, AWrongChecksumInAGzippedFileIsFound) {
  Bytes packed = gzip(to_bytes(idx_images(3, 28, 28)));
  packed[packed.size() - 6] ^= 1;  // of the CRC
  EXPECT_THAT(refusal(packed), HasSubstr("some.gz: the compressed data is damaged (incorrect data check)"));
}

TEST(Idx, BytesAfterTheLastImageAreAnError) {
  Bytes plain = to_bytes(idx_images(1, 28, 28));
  plain.push_back(0);
  EXPECT_THAT(refusal(plain), HasSubstr("1 bytes follow its last item"));
  EXPECT_THAT(refusal(gzip(plain)), HasSubstr("bytes after its last item"));
}

TEST(Idx, AHeaderThatPromisesTooMuchAllocatesNothing) {
  const std::string header = big_endian(0x803) + big_endian(0xffffffff) + big_endian(32) + big_endian(32);
  EXPECT_THAT(refusal(to_bytes(header)), HasSubstr("promises 4294967295 images"));
  EXPECT_THAT(refusal(gzip(to_bytes(header))), HasSubstr("promises 4294967295 images"));
  EXPECT_THAT(refusal(to_bytes(idx_images(1, 33, 28))),
              HasSubstr("images of 33 by 28 pixels; at most 32 by 32"));
  EXPECT_THAT(refusal(to_bytes(idx_labels("\x01"))), HasSubstr("not an IDX file of images"));
}

void write_tiny_idx(const fs::path& folder, const std::string& train, const std::string& test) {
  write_file(folder / "train-images-idx3-ubyte",
             idx_images(static_cast<std::uint32_t>(train.size()), 28, 28));
  write_file(folder / "train-labels-idx1-ubyte.gz", gzip(to_bytes(idx_labels(train))));
  write_file(folder / "t10k-images-idx3-ubyte.gz",
             gzip(to_bytes(idx_images(static_cast<std::uint32_t>(test.size()), 28, 28))));
  write_file(folder / "t10k-labels-idx1-ubyte", idx_labels(test));
}

TEST(Idx, AFolderOfYourOwnLoadsWithMeasuredConstants) {
  const TempFolder folder;
  write_tiny_idx(folder.path(), std::string("\0\1\2", 3), std::string("\2\0", 2));
  const Dataset data = load_dataset("idx:" + folder.path().string());
  EXPECT_EQ(data.channels, 1);
  EXPECT_THAT(data.class_names, ElementsAre("0", "1", "2"));
  EXPECT_GT(data.mean[0], 0.3F);
  EXPECT_GT(data.deviation[0], 0.2F);
}

TEST(Idx, APictureIsFramedAsTheImagesOfTheFilesAre) {
  const TempFolder folder;
  write_tiny_idx(folder.path(), std::string("\0\1", 2), std::string("\1\0", 2));
  const Dataset data = load_dataset("idx:" + folder.path().string());
  EXPECT_EQ(data.form, "framed:28x28");
  const std::string samples = idx_images(1, 28, 28).substr(16);  // as the first training image has them
  write_file(folder / "first.png", encode_png(28, 28, 1, to_bytes(samples)));
  const auto first = data.image(data.train, 0);
  EXPECT_EQ(read_picture(folder / "first.png", parse_form(data.form), data.shape()),
            Bytes(first.begin(), first.end()));
  std::string form = "none";
  parse_idx_images(to_bytes(idx_images(1, 32, 32)), "file", &form);
  EXPECT_EQ(form, "none");
  parse_idx_images(to_bytes(idx_images(1, 20, 28)), "file", &form);
  EXPECT_EQ(form, "framed:20x28");
}

TEST(Idx, ErrorsOfAFolderNameWhatIsMissingOrWrong) {
  const TempFolder folder;
  const auto load = [&] { load_dataset("idx:" + folder.path().string()); };
  EXPECT_THAT(error_of(load), HasSubstr("there is no `train-images-idx3-ubyte`"));
  write_tiny_idx(folder.path(), std::string("\0\1", 2), "\5");
  EXPECT_THAT(error_of(load), HasSubstr("image 0 of the test split has the label 5; there are 2 classes"));
  write_tiny_idx(folder.path(), std::string("\0\1", 2), std::string("\0", 1));
  write_file(folder / "t10k-labels-idx1-ubyte", idx_labels("\1\1"));
  EXPECT_THAT(error_of(load), HasSubstr("has 1 images but"));
  fs::remove(folder / "t10k-labels-idx1-ubyte");
  EXPECT_THAT(error_of(load), HasSubstr("there is no test split: `t10k-labels-idx1-ubyte`"));
}

}  // namespace
}  // namespace longtail::data
