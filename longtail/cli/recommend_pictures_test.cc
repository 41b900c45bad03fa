// What `longtail recommend` refuses and says of pictures before it measures or trains anything.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "longtail/cli/testing.h"
#include "longtail/data/testing.h"

namespace longtail::cli {
namespace {

namespace fs = std::filesystem;
using data::contents;
using data::write_file;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class RecommendPictures : public testing::Test {
 protected:
  RecommendPictures() { write_classes(folder_ / "q"); }
  ~RecommendPictures() override { fs::current_path(before_); }

  static void write_classes(const fs::path& folder) {
    for (const char* name : {"auk/1.png", "auk/2.png", "auk/3.png", "tit/1.png", "tit/2.png", "tit/3.png"})
      write_file(folder / name, data::flat_png(9, 9, 1, 2, 3));
  }
  // Refused with that code and these words; nothing is left behind.
  void expect_refused(std::vector<std::string> words, int code, const std::string& why) const {
    words.insert(words.begin(), "recommend");
    const auto before = contents(folder_.path());
    const Outcome outcome = run_program(words);
    EXPECT_EQ(outcome.code, code) << outcome.out << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr(why));
    EXPECT_EQ(contents(folder_.path()), before);
  }

  data::TempFolder folder_;
  fs::path before_ = fs::current_path();
};

TEST_F(RecommendPictures, AnAnswerAmongThePicturesIsRefused) {
  const std::string q = (folder_ / "q").string();
  const std::string why = "would lie among the pictures, in " + fs::canonical(q).string();
  expect_refused({q, "--out", q}, 2, why);
  expect_refused({q, "--out", q + "/answer"}, 2, why + "/answer; give --out DIR");
  fs::create_directory_symlink("q", folder_ / "link");
  expect_refused({q, "--out", (folder_ / "link/answer").string()}, 2, why + "/answer");
  fs::current_path(q);  // the name without --out
  expect_refused({"."}, 2, why + "/recommend-q");
  expect_refused({"folder:."}, 2, why + "/recommend-q");
  fs::current_path(folder_.path());  // beside them, but a folder of the answer is among them
  const std::string here = "would lie among the pictures, in " + fs::canonical(".").string();
  for (const auto& [pictures, part] :
       {std::pair("data", "data/pictures"), std::pair("data/pictures", "data/pictures"),
        std::pair("runs", "runs"), std::pair("report", "report")}) {
    write_classes(folder_ / pictures);
    expect_refused({pictures, "--out", "."}, 2, here + "/" + part + "; give --out DIR");
    fs::remove_all(folder_ / pictures);
  }
}

TEST_F(RecommendPictures, PathsThatAStudyCannotHoldAreRefused) {
  const std::string q = (folder_ / "q").string();
  expect_refused({q, "--out", (folder_ / "a\nb").string()}, 1,
                 "the path of the answer (--out) has a control character");
  expect_refused({q, "--out", (folder_ / "V\xf6gel").string()}, 1,
                 "the path of the answer (--out) is not UTF-8");
  write_classes(folder_ / "V\xf6gel");
  fs::current_path(folder_.path());
  expect_refused({"V\xf6gel", "--out", (folder_ / "out").string()}, 1,
                 "the path of the pictures is not UTF-8");
  fs::create_directory(folder_ / "a\nb");
  fs::current_path(folder_ / "a\nb");
  expect_refused({q}, 1, "the path of the answer (--out) has a control character");
}

TEST_F(RecommendPictures, WhatWasMeantIsSaid) {
  const std::string q = (folder_ / "q").string(), out = (folder_ / "out").string();
  expect_refused({q, "--out", out, "--strategies", "uniform,progressive"}, 2,
                 "separated by blanks, not by commas");
  expect_refused({"--out", out, "--strategies", "uniform", "progressive", "--", (folder_ / "p").string()}, 2,
                 "there is no folder");
  expect_refused({q, "--out", out, "--data", q}, 2, "--data would do nothing beside `folder:" + q);
  const std::string arrays = (folder_ / "arrays").string();
  ASSERT_EQ(run_program({"data", "import", "birds", q, "--data", arrays}).code, 0);
  expect_refused({arrays + "/birds", "--out", out}, 2, "give arrays:" + arrays + "/birds");
}

TEST_F(RecommendPictures, ThePublishedDataIsMeantWhateverFolderIsThere) {
  fs::create_directory(folder_ / "fashion_mnist");
  write_file(folder_ / "fashion_mnist/train-images-idx3-ubyte", "damaged");
  fs::current_path(folder_.path());
  expect_refused({"fashion_mnist", "--data", folder_.path().string(), "--out", "out"}, 1,
                 "fashion_mnist: there is no training split");
}

TEST_F(RecommendPictures, NamesOfFilesAreShownToTheTerminalAndNotObeyed) {
  write_file(folder_ / "one/auk/\x1b[31m.png", "no picture");
  for (const char* name : {"1.png", "2.png", "3.png"})
    write_file(folder_ / "one/auk" / name, data::flat_png(9, 9, 1, 2, 3));
  const Outcome outcome = run_program(
      {"recommend", (folder_ / "one").string(), "--out", (folder_ / "out").string(), "--skip-unreadable"});
  EXPECT_THAT(outcome.err, HasSubstr("one class only"));
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("\\x1b[31m.png"), Not(HasSubstr("\x1b"))));

  fs::rename(folder_ / "q/tit", folder_ / "one/tit");
  const Outcome trained = run_program({"train", "--dataset", "folder:" + (folder_ / "one").string(),
                                       "--skip-unreadable", "--model", "resnet20", "--epochs", "1",
                                       "--batch-size", "2", "--out", (folder_ / "run").string()});
  EXPECT_EQ(trained.code, 0) << trained.err;
  EXPECT_THAT(trained.out, AllOf(HasSubstr("\\x1b[31m.png"), Not(HasSubstr("\x1b"))));
}

}  // namespace
}  // namespace longtail::cli
