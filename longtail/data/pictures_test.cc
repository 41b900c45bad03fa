#include "longtail/data/pictures.h"

#include <set>

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
  EXPECT_THAT(fault([](const fs::path& p) { fs::remove_all(p / "train"); }),
              HasSubstr("there is no folder `train`"));
  EXPECT_THAT(fault([](const fs::path& p) { write_file(p / "train/cat/3.png", "junk"); }),
              HasSubstr("train/cat/3.png: not a PNG, JPEG, WebP or GIF picture"));
  EXPECT_THAT(fault([](const fs::path& p) { fs::resize_file(p / "train/cat/2.png", 60); }),
              HasSubstr("train/cat/2.png: this PNG picture cannot be read"));
  EXPECT_THAT(fault([](const fs::path& p) { write_file(p / "train/stray.png", "x"); }),
              HasSubstr("train/stray.png: expected only a folder for each class"));
  EXPECT_THAT(fault([](const fs::path& p) { fs::create_directories(p / "train/cat/more"); }),
              HasSubstr("train/cat/more is a folder inside a class folder; put the pictures into"));
  EXPECT_THAT(fault([](const fs::path& p) {
                fs::remove_all(p / "test");
                write_file(p / "test/1.png", flat_png(3, 3, 1, 1, 1));  // as for a competition
              }),
              HasSubstr("test: there is no class folder in it; move it away"));
}

TEST(Pictures, EveryFileThatCannotBeUsedIsInOneListAndCanBeSkipped) {
  const TempFolder folder;
  write_pictures(folder.path());
  write_file(folder / "train/cat/3.png", "junk");
  write_file(folder / "test/dog/z.gif", "GIF89a");
  write_file(folder / "train/stray.txt", "x");
  const std::string name = "folder:" + folder.path().string();
  EXPECT_THAT(error_of([&] { load_dataset(name); }),
              AllOf(HasSubstr("3 of 8 files cannot be used"), HasSubstr("--skip-unreadable"),
                    HasSubstr("train/cat/3.png: not a PNG"), HasSubstr("test/dog/z.gif: this GIF"),
                    HasSubstr("train/stray.txt: expected only a folder")));
  const Dataset data = load_dataset(name, "", {.skip_unreadable = true});
  EXPECT_THAT(data.train.labels, ElementsAre(0, 0, 1));
  EXPECT_THAT(data.test.labels, ElementsAre(0, 1));
  ASSERT_EQ(data.remarks.size(), 1U);
  EXPECT_THAT(data.remarks[0], AllOf(HasSubstr("3 of 8 files"), HasSubstr("z.gif"), HasSubstr("left out")));
}

TEST(Pictures, AClassWithoutTestPicturesIsTrainedAndOneWithTestPicturesOnlyIsLeftOut) {
  const TempFolder folder;
  write_pictures(folder.path());
  fs::rename(folder / "test/dog", folder / "test/ant");
  fs::create_directories(folder / "train/eel");
  const Dataset data = load_dataset("folder:" + folder.path().string());
  EXPECT_THAT(data.class_names, ElementsAre("cat", "dog"));
  EXPECT_THAT(data.train.labels, ElementsAre(0, 0, 1));
  EXPECT_THAT(data.test.labels, ElementsAre(0));
  EXPECT_THAT(data.remarks,
              ElementsAre("1 class has no test pictures, is trained and is left out of the means: dog.",
                          "1 class has test pictures only and is left out: ant.",
                          "1 class has no pictures and is left out: eel."));
}

TEST(Pictures, WithoutATestFolderAPartOfEachClassIsSetAsideAlwaysTheSame) {
  const TempFolder folder;
  for (int i = 0; i < 30; ++i)
    write_file(folder / fmt::format("dog/{}.png", i), flat_png(3, 3, static_cast<std::uint8_t>(i), 0, 0));
  for (int i = 0; i < 9; ++i) write_file(folder / fmt::format("cat/{}.png", i), flat_png(3, 3, 90, 0, 0));
  write_file(folder / "auk/1.png", flat_png(3, 3, 7, 0, 0));
  const Dataset data = load_dataset("folder:" + folder.path().string());
  EXPECT_THAT(data.class_names, ElementsAre("auk", "cat", "dog"));
  EXPECT_EQ(std::count(data.train.labels.begin(), data.train.labels.end(), 2), 24);
  EXPECT_EQ(std::count(data.test.labels.begin(), data.test.labels.end(), 2), 6);
  EXPECT_EQ(std::count(data.test.labels.begin(), data.test.labels.end(), 1), 3);
  EXPECT_EQ(std::count(data.train.labels.begin(), data.train.labels.end(), 0), 1);
  EXPECT_EQ(data.picture_side, 3);
  ASSERT_EQ(data.remarks.size(), 2U);
  EXPECT_THAT(data.remarks[0], HasSubstr("9 of 40 pictures are set aside for testing"));
  EXPECT_THAT(data.remarks[1], HasSubstr("left out of the means: auk"));
  // `train` alone is split in the same way, and one more picture moves at most one other.
  fs::create_directories(folder / "train");
  for (const char* name : {"dog", "cat", "auk"}) fs::rename(folder / name, folder / "train" / name);
  EXPECT_EQ(load_dataset("folder:" + folder.path().string()).hash, data.hash);
  const auto dogs = [](const Dataset& set) {
    std::set<int> reds;
    for (std::int64_t i = 0; i < set.test.size(); ++i) {
      if (set.test.labels[static_cast<std::size_t>(i)] == 2) reds.insert(set.image(set.test, i)[0]);
    }
    return reds;
  };
  write_file(folder / "train/dog/new.png", flat_png(3, 3, 200, 0, 0));
  const std::set<int> before = dogs(data), after = dogs(load_dataset("folder:" + folder.path().string()));
  std::vector<int> stayed;
  std::set_intersection(before.begin(), before.end(), after.begin(), after.end(), std::back_inserter(stayed));
  EXPECT_GE(stayed.size(), 5U);
}

TEST(Pictures, AClassMayBeCalledTrain) {
  const TempFolder folder;
  for (const char* name : {"train", "bus", "test"}) {
    for (int i = 0; i < 4; ++i)
      write_file(folder / fmt::format("{}/{}.png", name, i),
                 flat_png(3, 3, static_cast<std::uint8_t>(i), 0, 0));
  }
  const Dataset data = load_dataset("folder:" + folder.path().string());
  EXPECT_THAT(data.class_names, ElementsAre("bus", "test", "train"));
  EXPECT_EQ(data.train.size(), 9);
  EXPECT_EQ(data.test.size(), 3);
}

TEST(Pictures, AFlatFolderCalledLikeAPartIsAClassAndThatIsSaid) {
  const TempFolder folder;
  for (const char* name : {"auk/1.png", "auk/2.png", "auk/3.png", "test/1.png", "test/2.png", "test/3.png"})
    write_file(folder / name, flat_png(3, 3, 1, 1, 1));
  const Dataset data = load_dataset("folder:" + folder.path().string());
  EXPECT_THAT(data.class_names, ElementsAre("auk", "test"));
  EXPECT_EQ(data.remarks.back(),
            "`test` is taken for a class, as there is no folder in it; move it away if it is none.");
}

TEST(Pictures, PartsInCapitalsAreToldHowPartsAreCalled) {
  const TempFolder folder;
  for (const char* name : {"Training/auk/1.png", "Training/tit/1.png", "Training/wren/1.png",
                           "Test/auk/1.png", "more/wren/1.png"})
    write_file(folder / name, flat_png(3, 3, 1, 1, 1));
  EXPECT_THAT(
      error_of([&] { load_dataset("folder:" + folder.path().string()); }),
      AllOf(HasSubstr("Training/auk and 2 more are folders inside a class folder"),
            HasSubstr("called `train` or `test`, in small letters, not `Training`"),
            HasSubstr("in small letters, not `Test`"),
            testing::EndsWith(
                "more/wren is a folder inside a class folder; put the pictures into the class folder, "
                "or give the folder that holds the classes")));
}

TEST(Pictures, TestPicturesThatAreTrainedOnAreCounted) {
  const TempFolder folder;
  write_pictures(folder.path());
  fs::remove_all(folder / "test");
  fs::create_directory_symlink("train", folder / "test");
  EXPECT_THAT(load_dataset("folder:" + folder.path().string()).remarks,
              ElementsAre("3 test pictures are training pictures too: the accuracy on them says little."));
  write_file(folder / "train.txt", "train/cat/1.png 0\ntrain/dog/a.jpeg 1\n");
  write_file(folder / "test.txt", "train/cat/2.png 0\nlists/../train/dog/a.jpeg 1\n");
  fs::create_directory(folder / "lists");
  const auto lists = [&](const std::string& train, const std::string& test) {
    return load_dataset("list:" + (folder / train).string() + "," + (folder / test).string()).remarks;
  };
  EXPECT_THAT(lists("train.txt", "test.txt"),
              ElementsAre("1 test picture is a training picture too: the accuracy on it says little."));
  EXPECT_THAT(lists("train.txt", "train.txt"),
              ElementsAre(HasSubstr("2 test pictures are training pictures too")));
}

TEST(Pictures, APictureInTwoClassesOfAPartIsAFault) {
  const TempFolder folder;
  write_pictures(folder.path());
  fs::create_symlink("../cat/2.png", folder / "train/dog/b.png");
  const std::string name = "folder:" + folder.path().string();
  EXPECT_THAT(error_of([&] { load_dataset(name); }),
              HasSubstr("train/dog/b.png is in two classes, cat and dog"));
  const Dataset data = load_dataset(name, "", {.skip_unreadable = true});
  EXPECT_THAT(data.train.labels, ElementsAre(0, 1));
  EXPECT_THAT(data.remarks, ElementsAre(HasSubstr("1 of 6 files cannot be used and are left out")));
  write_file(folder / "train.txt", "train/cat/1.png 0\ntrain/cat/1.png 0\ntrain/cat/1.png 1\n");
  write_file(folder / "test.txt", "test/cat/x.PNG 0\n");
  EXPECT_THAT(
      error_of([&] {
        load_dataset("list:" + (folder / "train.txt").string() + "," + (folder / "test.txt").string());
      }),
      HasSubstr("train/cat/1.png is in two classes, 0 and 1"));
}

TEST(Pictures, ATestPartWithoutAClassOfTheTrainingPartIsRefusedByBothNames) {
  const TempFolder folder;
  write_pictures(folder.path());
  fs::rename(folder / "test/cat", folder / "test/Cat");
  EXPECT_EQ(load_dataset("folder:" + folder.path().string()).test.size(), 1);
  fs::rename(folder / "test/dog", folder / "test/Dog");
  EXPECT_THAT(error_of([&] { load_dataset("folder:" + folder.path().string()); }),
              HasSubstr("no class of the test part has training pictures (test: Cat, Dog; train: cat, dog)"));
}

TEST(Pictures, NothingBesideTheTrainingFolderIsPassedOverUnsaid) {
  const TempFolder folder;
  write_pictures(folder.path());
  const std::string name = "folder:" + folder.path().string();
  fs::create_directories(folder / ".git");
  write_file(folder / "README.txt", "birds");
  EXPECT_THAT(load_dataset(name).remarks, ElementsAre());
  write_file(folder / "val/cat/x.png", flat_png(3, 3, 30, 0, 0));
  EXPECT_THAT(load_dataset(name).remarks, ElementsAre(HasSubstr("the pictures in `val` are not used")));
  fs::rename(folder / "val", folder / "valid");
  EXPECT_THAT(load_dataset(name).remarks, ElementsAre(HasSubstr("the pictures in `valid` are not used")));
  fs::remove_all(folder / "test");
  EXPECT_THAT(error_of([&] { load_dataset(name); }),
              AllOf(HasSubstr("beside `train` lies `valid`"), HasSubstr("called `test` or `val`")));
  write_file(folder / "bus/1.png", flat_png(3, 3, 30, 0, 0));
  EXPECT_THAT(error_of([&] { load_dataset(name); }), HasSubstr("beside `train` lies `bus`, `valid`"));
}

TEST(Pictures, TheTestPartIsAFifthButFiveWhereThatIsNoMoreThanAThird) {
  const std::vector<std::pair<int, int>> sizes = {{1, 0},  {2, 0},  {3, 1},  {8, 2},   {14, 4},
                                                  {15, 5}, {24, 5}, {30, 6}, {400, 80}};
  for (const auto& [count, part] : sizes) EXPECT_EQ(test_part_size(count), part) << count;
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

TEST(Pictures, AListMayBeginWithAByteOrderMark) {
  const auto entries = parse_picture_list(
      "\xef\xbb\xbf"
      "a.png 0\r\n",
      "", "train.txt");
  ASSERT_EQ(entries.size(), 1u);
  EXPECT_EQ(entries[0].path, "a.png");
}

TEST(Pictures, LabelsThatOnlyOneListHasAreSaid) {
  const TempFolder folder;
  write_pictures(folder.path());
  const auto load = [&](const std::string& train, const std::string& test) {
    write_file(folder / "train.txt", train);
    write_file(folder / "test.txt", test);
    return load_dataset("list:" + (folder / "train.txt").string() + "," + (folder / "test.txt").string());
  };
  const Dataset data =
      load("train/cat/1.png 0\ntrain/dog/a.jpeg 2\n", "test/dog/y.png 2\ntest/cat/x.PNG 3\n");
  EXPECT_THAT(data.class_names, ElementsAre("0", "2"));
  EXPECT_THAT(data.train.labels, ElementsAre(0, 1));
  EXPECT_THAT(data.test.labels, ElementsAre(1));
  EXPECT_THAT(data.remarks, ElementsAre(HasSubstr("left out of the means: 0"),
                                        HasSubstr("has test pictures only and is left out: 3"),
                                        HasSubstr("has no pictures and is left out: 1")));
  EXPECT_THAT(error_of([&] { load("train/gone.png 0\n", "test/dog/y.png 0\n"); }),
              HasSubstr("train/gone.png: No such file"));
  EXPECT_THAT(error_of([] { load_dataset("list:train.txt"); }), HasSubstr("should be list:TRAIN,TEST"));
}

}  // namespace
}  // namespace longtail::data
