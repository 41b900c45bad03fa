#include "longtail/data/arrays.h"

#include "longtail/data/install.h"
#include "longtail/data/registry.h"
#include "longtail/data/testing.h"

namespace longtail::data {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

Dataset tiny() {
  Dataset data;
  data.class_names = {"one", "two words"};
  const std::string pixels = test_pixels(5);
  data.train = {{pixels.begin(), pixels.begin() + 3 * 3072}, {0, 1, 0}};
  data.test = {{pixels.begin() + 3 * 3072, pixels.end()}, {1, 0}};
  seal(data, "tiny");
  return data;
}

std::string npy(const std::string& header, const std::string& data) {
  return std::string("\x93NUMPY\x01\x00", 8) + little_endian(static_cast<std::uint32_t>(header.size()), 2) +
         header + data;
}
std::string fault(const std::string& file) {
  return error_of([&] { parse_npy(to_bytes(file), "x.npy"); });
}

TEST(Arrays, WhatIsImportedIsFoundByNameAndIsTheSame) {
  const TempFolder folder;
  const Dataset data = tiny();
  EXPECT_EQ(import_own("birds", data, folder.path()), folder / "birds");
  const Dataset back = load_dataset("birds", folder.path());
  EXPECT_EQ(back.hash, data.hash);
  EXPECT_EQ(back.class_names, data.class_names);
  EXPECT_EQ(back.name, "birds");
  EXPECT_THAT(contents(folder.path()),
              ElementsAre("birds", "birds/class_names.txt", "birds/test_images.npy", "birds/test_labels.npy",
                          "birds/train_images.npy", "birds/train_labels.npy"));
}

TEST(Arrays, ImportingAgainReplacesAndLeavesNothingElse) {
  const TempFolder folder;
  import_own("birds", tiny(), folder.path());
  Dataset other = tiny();
  other.train.labels[0] = 1;
  seal(other, "other");
  import_own("birds", other, folder.path());
  EXPECT_EQ(load_dataset("birds", folder.path()).hash, other.hash);
  EXPECT_EQ(contents(folder.path()).size(), 6U);
}

TEST(Arrays, AFolderThatNoImportMadeIsNotReplaced) {
  const TempFolder folder;
  write_file(folder / "birds/robin/1.png", "a picture");
  const auto before = contents(folder.path());
  EXPECT_THAT(error_of([&] { import_own("birds", tiny(), folder.path()); }),
              HasSubstr("holds `robin`, which is not part of the data, so it is not replaced"));
  EXPECT_EQ(contents(folder.path()), before);
  write_file(folder / "notes", "a file");
  EXPECT_THAT(error_of([&] { own_place("notes", folder.path()); }), HasSubstr("is not a folder of data"));
}

TEST(Arrays, ClassNamesThatALineCannotHoldAreRefusedAndTheOldImportStays) {
  const TempFolder folder;
  import_own("birds", tiny(), folder.path());
  for (const char* name : {"", " ", "wren ", "a\nb"}) {
    Dataset other = tiny();
    other.class_names[1] = name;
    EXPECT_THAT(error_of([&] { import_own("birds", other, folder.path()); }), HasSubstr("cannot be kept"))
        << name;
  }
  EXPECT_EQ(load_dataset("birds", folder.path()).hash, tiny().hash);
}

TEST(Arrays, ASideOfTheirOwnIsKeptIfThatIsAskedFor) {
  const TempFolder folder;
  Dataset data = tiny();
  resize_images(data, 64);
  import_own("birds", data, folder.path());
  PictureOptions keep;
  keep.keep_side = true;
  EXPECT_EQ(load_dataset("birds", folder.path(), keep).hash, data.hash);
  EXPECT_EQ(load_dataset("birds", folder.path()).side, 32);
}

TEST(Arrays, ANameWithASlashCannotEscape) {
  const TempFolder folder;
  EXPECT_THAT(error_of([&] { import_own("../birds", tiny(), folder.path()); }),
              HasSubstr("cannot be the name"));
  EXPECT_TRUE(contents(folder.path()).empty());
}

TEST(Arrays, ReadsWhatNumPyWrites) {
  // numpy.save("x.npy", numpy.array([3, 1], "<i8")) of NumPy 1.24.
  const std::string header =
      "{'descr': '<i8', 'fortran_order': False, 'shape': (2,), }                              \n";
  const NpyHeader parsed = parse_npy(to_bytes(npy(header, std::string(16, '\0'))), "x.npy");
  EXPECT_EQ(parsed.type, "<i8");
  EXPECT_THAT(parsed.shape, ElementsAre(2U));
  EXPECT_EQ(parsed.data_at, 10 + header.size());
}

TEST(Arrays, LabelsMayBeBytesOrLongAndClassesNeedNoNames) {
  const TempFolder folder;
  import_own("birds", tiny(), folder.path());
  write_file(folder / "birds/train_labels.npy",
             npy("{'descr': '|u1', 'fortran_order': False, 'shape': (3,), }\n", std::string("\0\1\0", 3)));
  write_file(folder / "birds/test_labels.npy",
             npy("{'descr': '<i8', 'fortran_order': False, 'shape': (2,), }\n",
                 std::string("\1\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 16)));
  fs::remove(folder / "birds/class_names.txt");
  const Dataset data = load_dataset("arrays:" + (folder / "birds").string());
  EXPECT_EQ(data.hash, tiny().hash);
  EXPECT_THAT(data.class_names, ElementsAre("0", "1"));
}

TEST(Arrays, ABlankNameIsRefusedInsteadOfShiftingTheNamesBehindIt) {
  const TempFolder folder;
  import_own("birds", tiny(), folder.path());
  const auto load = [&] { return load_dataset("birds", folder.path()).class_names; };
  write_file(folder / "birds/class_names.txt", "one\ntwo words\n\n \n");
  EXPECT_THAT(load(), ElementsAre("one", "two words"));
  write_file(folder / "birds/class_names.txt", "\xef\xbb\xbfone\r\ntwo words\r\n");  // as Windows saves it
  EXPECT_THAT(load(), ElementsAre("one", "two words"));
  write_file(folder / "birds/class_names.txt", "one\n\ntwo words\n");
  EXPECT_THAT(error_of([&] { load(); }),
              HasSubstr("class_names.txt: line 2 is blank; it is the name of class 1"));
}

TEST(Arrays, HowPicturesBecameImagesIsKeptBesideThem) {
  const TempFolder folder;
  Dataset data = tiny();
  data.form = "crop";
  import_own("birds", data, folder.path());
  EXPECT_EQ(load_dataset("birds", folder.path()).form, "crop");
  EXPECT_EQ(load_dataset("birds", folder.path(), {.fit = Fit::kCrop}).hash, data.hash);
  EXPECT_THAT(error_of([&] { load_dataset("birds", folder.path(), {.fit = Fit::kPad}); }),
              HasSubstr("so a fit of pad would do nothing"));
  write_file(folder / "birds/picture_form.txt", "framed:28x99");
  EXPECT_THAT(error_of([&] { load_dataset("birds", folder.path()); }), HasSubstr("framed:28x99"));
}

TEST(Arrays, DamagedHeadersAndWrongSizesAreRefused) {
  const std::string good = "{'descr': '|u1', 'fortran_order': False, 'shape': (2, 2), }\n";
  EXPECT_EQ(fault(npy(good, "abcd")), "");
  EXPECT_THAT(fault(npy(good, "abc")), HasSubstr("truncated or damaged"));
  EXPECT_THAT(fault(npy(good, "abcde")), HasSubstr("do not agree with its shape"));
  EXPECT_THAT(fault("\x93NUMPY"), HasSubstr("not an array as numpy.save writes it"));
  EXPECT_THAT(fault(std::string("\x93NUMPY\x01\x00\xff\xff", 10)), HasSubstr("truncated"));
  EXPECT_THAT(fault(npy("{'descr': '|u1', 'fortran_order': True, 'shape': (2, 2), }\n", "abcd")),
              HasSubstr("in C order"));
  EXPECT_THAT(fault(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }\n", "abcd")),
              HasSubstr("`<f4`"));
  EXPECT_THAT(fault(npy("{'descr': '|u1', 'fortran_order': False, 'shape': (0, 3), }\n", "")),
              HasSubstr("there is nothing in it"));
  EXPECT_THAT(
      fault(npy("{'descr': '|u1', 'fortran_order': False, 'shape': (9999999999999, 9999999999999), }\n",
                "abcd")),
      HasSubstr("larger than its data"));
}

TEST(Arrays, FaultsOfAFolderAreNamed) {
  const TempFolder folder;
  import_own("birds", tiny(), folder.path());
  const auto load = [&] { return error_of([&] { load_dataset("birds", folder.path()); }); };
  write_file(
      folder / "birds/train_labels.npy",
      npy("{'descr': '<i4', 'fortran_order': False, 'shape': (1,), }\n", std::string("\xff\xff\xff\xff", 4)));
  EXPECT_THAT(load(), HasSubstr("the label of image 0 is out of range"));
  fs::remove(folder / "birds/test_images.npy");
  EXPECT_THAT(load(), HasSubstr("there is no test split"));
}

}  // namespace
}  // namespace longtail::data
