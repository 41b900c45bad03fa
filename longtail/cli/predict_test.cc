// predict on folders as people have them: links, loops, and what cannot be read.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "longtail/base/error.h"
#include "longtail/cli/predict_pictures.h"
#include "longtail/cli/testing.h"
#include "longtail/cli/testing_tiny_data.h"
#include "longtail/data/testing.h"

namespace longtail::cli {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

class PredictCommand : public testing::Test {
 protected:
  PredictCommand() {
    base::make_folder(folder_ / "data");
    write_tiny_data(folder_ / "data", "train", 32, 1);
    write_tiny_data(folder_ / "data", "t10k", 8, 2);
    const Outcome trained =
        run_program({"train", "--dataset", "idx:" + (folder_ / "data").string(), "--model", "resnet20",
                     "--epochs", "1", "--batch-size", "16", "--out", run_});
    EXPECT_EQ(trained.code, 0) << trained.err;
    for (const char* name : {"pictures/b.png", "pictures/in/a.png", "elsewhere/c.png"})
      data::write_file(folder_ / name, data::flat_png(9, 9, 1, 2, 3));
  }
  // The pictures that it says something of, in their order.
  std::vector<std::string> predicted(const Outcome& outcome) const {
    std::vector<std::string> names;
    for (const auto& one : nlohmann::json::parse(outcome.out))
      names.push_back(
          fs::path(one.at("picture").get<std::string>()).lexically_relative(folder_.path()).string());
    return names;
  }
  Outcome predict(const std::string& what) const {
    return run_program({"predict", run_, (folder_ / what).string(), "--json", "--top", "1"});
  }

  data::TempFolder folder_;
  std::string run_ = (folder_ / "run").string();
};

TEST_F(PredictCommand, FollowsLinksToFoldersAndGoesRoundInNoCircle) {
  fs::create_directory_symlink(folder_ / "elsewhere", folder_ / "pictures/far");
  fs::create_directory_symlink("..", folder_ / "pictures/in/up");
  fs::create_directory_symlink(folder_ / "pictures", folder_ / "elsewhere/back");
  const Outcome outcome = predict("pictures");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(predicted(outcome), ElementsAre("pictures/b.png", "pictures/far/c.png", "pictures/in/a.png"));
}

TEST_F(PredictCommand, NamesWhatItCannotReadAndSaysTheRest) {
  fs::create_symlink("gone.png", folder_ / "pictures/dangling.png");
  fs::create_symlink("loop", folder_ / "pictures/loop");
  const Outcome outcome = predict("pictures");
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(predicted(outcome), ElementsAre("pictures/b.png", "pictures/in/a.png"));
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("2 of 4 pictures cannot be read"),
                                 HasSubstr((folder_ / "pictures/dangling.png").string() + ": No such file"),
                                 HasSubstr((folder_ / "pictures/loop").string() + ": Too many")));
  fs::create_directory(folder_ / "empty");
  EXPECT_THAT(predict("empty").err, HasSubstr("there is no picture in this folder"));
}

TEST_F(PredictCommand, NamesAFolderThatItMayNotReadAndSaysTheRest) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may read every folder";
  fs::permissions(folder_ / "pictures/in", fs::perms::none);
  const Outcome outcome = predict("pictures");
  fs::permissions(folder_ / "pictures/in", fs::perms::owner_all);
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(predicted(outcome), ElementsAre("pictures/b.png"));
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("1 folder cannot be read"),
                                 HasSubstr("cannot read the folder " + (folder_ / "pictures/in").string())));
}

// Of folders without the files, since root may read every folder.
TEST(PredictPicturesTest, SaysHowManyOfWhatCannotBeRead) {
  const auto said = [](const FoundPictures& found, const std::vector<std::string>& pictures) -> std::string {
    try {
      refuse_unread(found, pictures);
    } catch (const base::Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(said({{"a", "b"}, {}}, {}), "");
  EXPECT_EQ(said({{"a"}, {}}, {"no a"}), "1 of 1 picture cannot be read:\n  no a");
  EXPECT_EQ(said({{"a", "b"}, {}}, {"no b"}), "1 of 2 pictures cannot be read:\n  no b");
  EXPECT_EQ(said({{"a"}, {"no in"}}, {}), "1 folder cannot be read:\n  no in");
  EXPECT_EQ(said({{"a"}, {"no in"}}, {"no a"}), "2 pictures or folders cannot be read:\n  no in\n  no a");
}

}  // namespace
}  // namespace longtail::cli
