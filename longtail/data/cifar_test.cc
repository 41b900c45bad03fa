#include "longtail/data/cifar.h"

#include "longtail/data/registry.h"
#include "longtail/data/testing.h"

namespace longtail::data {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

std::string binary_records(const std::vector<std::string>& labels, const std::string& pixels) {
  std::string text;
  for (std::size_t i = 0; i < labels.size(); ++i) text += labels[i] + pixels.substr(i * 3072, 3072);
  return text;
}

// CIFAR-10 in five batches of two images each, labels 0..9 in order.
void write_tiny_cifar10(const fs::path& folder, bool binary, bool column_major = false) {
  std::vector<std::string> names;
  std::string lines;
  for (int i = 0; i < 10; ++i) {
    names.push_back("class" + std::to_string(i));
    lines += names.back() + "\n";
  }
  binary ? write_file(folder / "batches.meta.txt", lines + "\n")
         : write_file(folder / "batches.meta", pickled_dict({{"label_names", pickled_list(names)}}));
  for (int batch = 0; batch < 6; ++batch) {
    const std::string stem = batch < 5 ? "data_batch_" + std::to_string(batch + 1) : "test_batch";
    const std::int32_t first = batch < 5 ? 2 * batch : 3;
    std::string pixels = test_pixels(2, static_cast<unsigned>(batch));
    if (binary) {
      write_file(folder / (stem + ".bin"),
                 binary_records({little_endian(static_cast<std::uint32_t>(first), 1),
                                 little_endian(static_cast<std::uint32_t>(first + 1), 1)},
                                pixels));
      continue;
    }
    if (column_major) {
      std::string columns(pixels.size(), '\0');
      for (std::size_t i = 0; i < pixels.size(); ++i) columns[i % 3072 * 2 + i / 3072] = pixels[i];
      pixels = columns;
    }
    write_file(folder / stem, pickled_dict({{"data", pickled_matrix(2, 3072, pixels, column_major)},
                                            {"labels", pickled_list<std::int32_t>({first, first + 1})}}));
  }
}

TEST(Cifar, BothFormsOfTheSameImagesHaveTheSameHash) {
  const TempFolder folder;
  write_tiny_cifar10(folder / "py", false);
  write_tiny_cifar10(folder / "bin", true);
  write_tiny_cifar10(folder / "fortran", false, true);
  const Dataset python = load_dataset("cifar:" + (folder / "py").string());
  const Dataset binary = load_dataset("cifar:" + (folder / "bin").string());
  const Dataset fortran = load_dataset("cifar:" + (folder / "fortran").string());
  EXPECT_THAT(python.train.labels, ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9));
  EXPECT_THAT(python.test.labels, ElementsAre(3, 4));
  EXPECT_EQ(python.class_names, binary.class_names);
  EXPECT_EQ(python.train.pixels, binary.train.pixels);
  EXPECT_EQ(python.hash, binary.hash);
  EXPECT_EQ(python.hash, fortran.hash);
  const std::string second = test_pixels(2, 1);
  EXPECT_EQ(std::string(python.train.pixels.begin() + 2 * 3072, python.train.pixels.begin() + 4 * 3072),
            second);
}

TEST(Cifar, TheFineLabelIsTheSecondByteOfACifar100Record) {
  Bytes bytes = to_bytes(binary_records({"\x05\x63", "\x06\x11"}, test_pixels(2)));
  EXPECT_THAT(take_cifar_binary(bytes, 2, "file"), ElementsAre(99, 17));
  EXPECT_EQ(std::string(bytes.begin(), bytes.end()), test_pixels(2));
}

TEST(Cifar, ATruncatedFileIsNamed) {
  const TempFolder folder;
  const fs::path path = write_tiny_cifar100(folder.path(), 2, 2, 1);
  fs::resize_file(path / "train", 5000);
  EXPECT_THAT(
      error_of([&] { load_dataset("cifar:" + path.string()); }),
      testing::AllOf(HasSubstr((path / "train").string()), HasSubstr("truncated"), HasSubstr("5000 bytes")));
  Bytes bytes(3073);
  EXPECT_THAT(error_of([&] { take_cifar_binary(bytes, 2, "train.bin"); }),
              HasSubstr("train.bin: truncated: 3073 bytes are not a whole number of records of 3074 bytes"));
}

TEST(Cifar, ALabelOutOfRangeIsAnErrorWithTheImageAndTheLabel) {
  const TempFolder folder;
  const fs::path path = write_tiny_cifar100(folder.path(), 2, 2, 1);
  write_file(path / "test", pickled_dict({{"fine_labels", pickled_list<std::int32_t>({0, 2})},
                                          {"data", pickled_matrix(2, 3072, test_pixels(2))}}));
  EXPECT_EQ(error_of([&] { load_dataset("cifar:" + path.string()); }),
            path.string() + ": image 1 of the test split has the label 2; there are 2 classes, 0 to 1");
}

TEST(Cifar, AMissingTestFileIsAMissingSplit) {
  const TempFolder folder;
  const fs::path path = write_tiny_cifar100(folder.path(), 2, 2, 1);
  fs::remove(path / "test");
  EXPECT_THAT(error_of([&] { load_dataset("cifar:" + path.string()); }),
              HasSubstr("there is no test split (the file `test`)"));
}

TEST(Cifar, PixelsAndLabelsMustAgree) {
  Bytes bytes = to_bytes(pickled_dict(
      {{"fine_labels", pickled_list<std::int32_t>({0})}, {"data", pickled_matrix(2, 3072, test_pixels(2))}}));
  EXPECT_THAT(error_of([&] { take_cifar_pickle(bytes, "fine_labels", "file"); }),
              HasSubstr("`data` is 2 by 3072; expected 1 rows"));
}

}  // namespace
}  // namespace longtail::data
