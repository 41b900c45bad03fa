#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>

#include "longtail/base/hash.h"
#include "longtail/base/test_paths.h"
#include "longtail/cli/testing.h"
#include "longtail/data/testing.h"

namespace longtail::cli {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

const fs::path kTestData = base::source_dir() + "/longtail/data/testdata";

// The labels of CIFAR-100 as a file that --labels reads.
class SubsetCommand : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / fmt::format("longtail_subset_command_{}", ::getpid());
    fs::create_directories(folder_);
    std::string text;
    for (const std::uint8_t label : base::read_bytes(kTestData / "cifar100_fine_labels.u8")) {
      text += fmt::format("{}\n", label);
    }
    base::write_atomically(labels(), text);
  }
  void TearDown() override { fs::remove_all(folder_); }

  fs::path labels() const { return folder_ / "labels.txt"; }
  fs::path out() const { return folder_ / "subset.txt"; }
  Outcome run(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"subset", "--labels", labels().string()});
    return run_program(arguments);
  }

  fs::path folder_;
};

TEST_F(SubsetCommand, WritesWhatNumpyChooses) {
  std::istringstream cases(base::read_text(kTestData / "numpy_subsets.txt"));
  std::string line;
  int number = 0;
  while (std::getline(cases, line)) {
    if (line.starts_with('#') || ++number % 12 != 1) continue;  // a few of them: the library's test takes all
    std::istringstream in(line);
    std::string profile, rho, n_max, seed, expected;
    in >> profile >> rho >> n_max >> seed >> expected;
    const Outcome outcome =
        run({"--profile", profile, "--rho", rho, "--n-max", n_max, "--seed", seed, "--out", out()});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(base::sha256(base::read_text(out())), expected) << line;
  }
  EXPECT_GT(number, 100);
}

TEST_F(SubsetCommand, LeavesOutUnreadablePicturesIfAsked) {
  for (const char* name : {"cat/1.png", "cat/2.png", "cat/3.png", "dog/1.png", "dog/2.png", "dog/3.png"}) {
    data::write_file(folder_ / "photos" / name, data::flat_png(40, 40, 1, 2, 3));
  }
  data::write_file(folder_ / "photos/dog/map.pdf", "not a picture");
  const std::vector<std::string> words = {"subset", "--dataset", "folder:" + (folder_ / "photos").string()};
  EXPECT_THAT(run_program(words).err, HasSubstr("--skip-unreadable"));
  std::vector<std::string> skipping = words;
  skipping.push_back("--skip-unreadable");
  const Outcome outcome = run_program(skipping);
  EXPECT_EQ(outcome.code, 0) << outcome.err;
}

TEST_F(SubsetCommand, EqualsTheGoldenFilesByteForByte) {
  std::istringstream file(base::read_text(base::source_dir() + "/longtail/data/testdata/golden_subsets.txt"));
  int cases = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#')) continue;
    std::istringstream in(line);
    std::string rho, seed, expected;
    ASSERT_TRUE(in >> rho >> seed >> expected) << line;
    EXPECT_EQ(run({"--rho", rho, "--seed", seed, "--out", out()}).code, 0);
    EXPECT_EQ(base::sha256(base::read_text(out())), expected) << line;
    ++cases;
  }
  EXPECT_EQ(cases, 9);
}

TEST_F(SubsetCommand, PrintsTheRowsOfThePapersTable) {
  const Outcome ten = run({"--rho", "10"});
  for (const char* words :
       {"19,572 of 50,000", "smallest class  49\n", "median class    158\n", "69 head, 31 medium, 0 tail"}) {
    EXPECT_THAT(ten.out, HasSubstr(words));
  }
  const Outcome fifty = run({"--rho", "50"});
  for (const char* words :
       {"12,607", "smallest class  9\n", "median class    71\n", "41 head, 40 medium, 19 tail"}) {
    EXPECT_THAT(fifty.out, HasSubstr(words));
  }
  const Outcome hundred = run({"--rho", "100", "--seed", "42"});
  for (const char* words : {"10,847", "largest class   500\n", "smallest class  5\n", "median class    50\n",
                            "35 head, 34 medium, 31 tail (paper)", "sha256          "}) {
    EXPECT_THAT(hundred.out, HasSubstr(words));
  }
  EXPECT_THAT(run({"--groups", "field"}).out, HasSubstr("tail (field)"));
}

TEST_F(SubsetCommand, ListsTheClassesWhenAsked) {
  const Outcome outcome = run({"--classes"});
  EXPECT_THAT(outcome.out, HasSubstr("\n      0     500  head    0\n"));
  EXPECT_THAT(outcome.out, HasSubstr("\n     99       5  tail    99\n"));
}

TEST_F(SubsetCommand, RefusesInSentencesAndWritesNothing) {
  const auto refused = [&](std::vector<std::string> arguments, int code, const std::string& words) {
    arguments.insert(arguments.end(), {"--out", out()});
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.code, code) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr(words));
    EXPECT_FALSE(fs::exists(out()));
  };
  refused({"--rho", "0.5"}, 2, "`rho` is `0.5`; it must be at least 1");
  refused({"--profile", "expo"}, 2, "did you mean `exp`?");
  refused({"--groups", "5"}, 2, "two thresholds");
  refused({"--n-max", "501"}, 1, "class 0 has 500 images, but the profile asks for 501");
  refused({"--seed", "-1"}, 1, "from 0 to 4294967295");
  refused({"--profile", "counts"}, 1, "counts_file");
  refused({"--class-order", "nowhere.txt"}, 1, "nowhere.txt");
  base::write_atomically(labels(), "0\n-1\n");
  refused({}, 1, "label -1 is out of range");
  base::write_atomically(labels(), "0\nx\n");
  refused({}, 1, "labels.txt:2: `x` is not a whole number");
  base::write_atomically(labels(), "\n");
  refused({}, 1, "it holds no labels");
}

TEST_F(SubsetCommand, NamesTheFolderThatCannotBeWritten) {
  const Outcome outcome = run({"--out", folder_ / "no" / "such" / "folder.txt"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("folder.txt"));
  EXPECT_EQ(outcome.out, "");
}

}  // namespace
}  // namespace longtail::cli
