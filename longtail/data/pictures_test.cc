#include "longtail/data/pictures.h"

#include "longtail/data/registry.h"
#include "longtail/data/testing.h"

namespace longtail::data {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

// Two classes, colours that tell the pictures apart.
void write_pictures(const fs::path& folder) {
  write_file(folder / "train/cat/2.png", flat_png(40, 20, 20, 0, 0));
  write_file(folder / "train/cat/1.png", flat_png(7, 9, 10, 0, 0));
  write_file(folder / "train/cat/.hidden", "not a picture");
  write_file(folder / "train/dog/a.jpeg", encode_jpeg(32, 32, 1, Bytes(1024, 200)));
  write_file(folder / "test/cat/x.PNG", flat_png(64, 64, 30, 0, 0));
  write_file(folder / "test/dog/y.png", flat_png(3, 3, 40, 0, 0));
}

TEST(Pictures, AFolderIsReadClassByClassInTheOrderOfNames) {
  const TempFolder folder;
  write_pictures(folder.path());
  const Dataset data = load_dataset("folder:" + folder.path().string());
  EXPECT_THAT(data.class_names, ElementsAre("cat", "dog"));
  EXPECT_THAT(data.train.labels, ElementsAre(0, 0, 1));
  EXPECT_THAT(data.test.labels, ElementsAre(0, 1));
  EXPECT_EQ(data.channels, 3);
  EXPECT_EQ(data.image(data.train, 0)[0], 10);
  EXPECT_EQ(data.image(data.train, 1)[0], 20);
  EXPECT_EQ(data.image(data.train, 2)[0], 200);            // grey among colour: the same
  EXPECT_EQ(data.image(data.train, 2)[2 * kPixels], 200);  // in every channel
  EXPECT_EQ(data.image(data.test, 1)[0], 40);
  EXPECT_NEAR(data.mean[0], (10 + 20 + 200) / 3.0 / 255.0, 1e-5);
}

TEST(Pictures, OnlyGreyPicturesMakeOneChannel) {
  const TempFolder folder;
  for (const char* name : {"train/a/1.png", "train/b/1.png", "test/a/1.png", "test/b/1.png"}) {
    write_file(folder / name, encode_png(5, 5, 1, Bytes(25, 77)));
  }
  const Dataset data = load_dataset("folder:" + folder.path().string());
  EXPECT_EQ(data.channels, 1);
  EXPECT_EQ(data.train.pixels, Bytes(2 * kPixels, 77));
  EXPECT_EQ(data.deviation[0], 1.0F);  // flat: nothing to divide by
}

TEST(Pictures, TheValidationFolderStandsInForTheTestFolder) {
  const TempFolder folder;
  write_pictures(folder.path());
  fs::rename(folder / "test", folder / "val");
  EXPECT_EQ(load_dataset("folder:" + folder.path().string()).test.size(), 2);
}

TEST(Pictures, FaultsOfAFolderAreNamed) {
  const auto fault = [](const std::function<void(const fs::path&)>& harm) {
    const TempFolder folder;
    write_pictures(folder.path());
    harm(folder.path());
    return error_of([&] { load_dataset("folder:" + folder.path().string()); });
  };
  EXPECT_THAT(fault([](const fs::path& p) { fs::remove_all(p / "test"); }),
              HasSubstr("there is no test split"));
  EXPECT_THAT(fault([](const fs::path& p) { fs::remove_all(p / "train"); }),
              HasSubstr("there is no folder `train`"));
  EXPECT_THAT(fault([](const fs::path& p) { fs::remove(p / "train/dog/a.jpeg"); }),
              HasSubstr("train/dog: the class folder is empty"));
  EXPECT_THAT(fault([](const fs::path& p) { fs::remove(p / "test/dog/y.png"); }),
              HasSubstr("test/dog: the class folder is empty"));
  EXPECT_THAT(fault([](const fs::path& p) { fs::remove_all(p / "test/dog"); }),
              HasSubstr("test: there is no folder for the class `dog`"));
  EXPECT_THAT(fault([](const fs::path& p) { fs::rename(p / "test/dog", p / "test/dgo"); }),
              HasSubstr("the class `dgo` has no training pictures"));
  EXPECT_THAT(fault([](const fs::path& p) { write_file(p / "train/cat/3.png", "junk"); }),
              HasSubstr("train/cat/3.png: not a PNG or JPEG picture"));
  EXPECT_THAT(fault([](const fs::path& p) { fs::resize_file(p / "train/cat/2.png", 60); }),
              HasSubstr("train/cat/2.png: this PNG picture cannot be read"));
  EXPECT_THAT(fault([](const fs::path& p) { write_file(p / "train/stray.png", "x"); }),
              HasSubstr("train/stray.png: expected only a folder for each class"));
  EXPECT_THAT(fault([](const fs::path& p) { fs::create_directories(p / "train/cat/more"); }),
              HasSubstr("train/cat/more: it is not a regular file"));
}

TEST(Pictures, ListFilesGiveTheSameImagesAsTheFolder) {
  const TempFolder folder;
  write_pictures(folder.path());
  write_file(folder / "train.txt", "train/cat/1.png 0\r\ntrain/cat/2.png 0\n\n train/dog/a.jpeg\t1");
  write_file(folder / "test.txt", "test/cat/x.PNG 0\ntest/dog/y.png 1\n");
  const std::string name = "list:" + (folder / "train.txt").string() + "," + (folder / "test.txt").string();
  const Dataset lists = load_dataset(name);
  const Dataset pictures = load_dataset("folder:" + folder.path().string());
  EXPECT_EQ(lists.hash, pictures.hash);
  EXPECT_THAT(lists.class_names, ElementsAre("0", "1"));
}

TEST(Pictures, PathsInAListAreRelativeToTheDataFolderIfOneIsGiven) {
  const TempFolder folder;
  write_pictures(folder / "images");
  write_file(folder / "lists/train.txt", "train/cat/1.png 0\ntrain/dog/a.jpeg 1\n");
  write_file(folder / "lists/test.txt", "test/dog/y.png 1\n");
  const std::string name =
      "list:" + (folder / "lists/train.txt").string() + "," + (folder / "lists/test.txt").string();
  EXPECT_THAT(error_of([&] { load_dataset(name); }), HasSubstr("cannot read"));
  EXPECT_EQ(load_dataset(name, folder / "images").train.size(), 2);
}

TEST(Pictures, FaultsOfAListAreNamedWithTheirLine) {
  const auto fault = [](std::string_view text) {
    return error_of([&] { parse_picture_list(text, "", "train.txt"); });
  };
  EXPECT_EQ(fault("a.png 0\nb.png\n"), "train.txt, line 2: expected `path label`, found `b.png`");
  EXPECT_EQ(fault("a.png x"), "train.txt, line 1: the label `x` is not a whole number");
  EXPECT_THAT(fault("\n\na b.png -1"), HasSubstr("train.txt, line 3: the label -1 is out of range"));
  EXPECT_THAT(fault("a.png 99999999999"), HasSubstr("label 99999999999 is out of range"));
  EXPECT_EQ(fault(" \n"), "train.txt: there is no picture in the list");
}

TEST(Pictures, LabelsOfListsMustHaveNoGapsAndAgree) {
  const TempFolder folder;
  write_pictures(folder.path());
  const auto load = [&](const std::string& train, const std::string& test) {
    write_file(folder / "train.txt", train);
    write_file(folder / "test.txt", test);
    return error_of([&] {
      load_dataset("list:" + (folder / "train.txt").string() + "," + (folder / "test.txt").string());
    });
  };
  EXPECT_THAT(load("train/cat/1.png 0\ntrain/dog/a.jpeg 2\n", "test/dog/y.png 0\n"),
              HasSubstr("no picture has the label 1"));
  EXPECT_THAT(load("train/cat/1.png 0\n", "test/dog/y.png 3\n"),
              AllOf(HasSubstr("label 3"), HasSubstr("only the labels 0 to 0")));
  EXPECT_THAT(load("train/gone.png 0\n", "test/dog/y.png 0\n"), HasSubstr("train/gone.png: No such file"));
  EXPECT_THAT(error_of([] { load_dataset("list:train.txt"); }), HasSubstr("should be list:TRAIN,TEST"));
}

}  // namespace
}  // namespace longtail::data
