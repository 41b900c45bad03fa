#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>

#include <cstring>

#include "longtail/base/file.h"
#include "longtail/base/text.h"
#include "longtail/cli/testing.h"

namespace longtail::cli {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

// The words of the line that begins with `first`.
std::vector<std::string> words_of(const std::string& text, const std::string& first) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream in(line);
    std::vector<std::string> words;
    for (std::string word; in >> word;) words.push_back(word);
    if (!words.empty() && words[0] == first) return words;
  }
  return {};
}

TEST(SampleCommand, ShowsDeclaredAndCountedPerClass) {
  const Outcome outcome =
      run_program({"sample", "--rho", "100", "--strategy", "progressive", "--epoch", "160"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  // Epoch 160 of 200: lambda = 160/199; (1 - lambda) 5 / 10847 + lambda / 100.
  const double p = (1 - 160.0 / 199) * 5 / 10847 + 160.0 / 199 / 100;
  const auto words = words_of(outcome.out, "99");
  ASSERT_EQ(words.size(), 7u) << outcome.out;
  EXPECT_EQ(words[1], "5");
  EXPECT_EQ(words[2], fmt::format("{:.7f}", p));
  EXPECT_EQ(words[3], fmt::format("{:.4f}", 128 * p));
  EXPECT_EQ(words[4], fmt::format("{:.3f}%", 100 * std::pow(1 - p, 128)));
  EXPECT_NEAR(std::stod(words[6]), p, 5 * std::sqrt(p / 1e6));
  EXPECT_THAT(outcome.out, HasSubstr("degrees of freedom, p = "));
}

TEST(SampleCommand, ShowsGroups) {
  const Outcome outcome = run_program(
      {"sample", "--rho", "100", "--strategy", "class_balanced", "--per", "group", "--draws", "100000"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const auto words = words_of(outcome.out, "tail");
  ASSERT_EQ(words.size(), 8u) << outcome.out;
  EXPECT_EQ(words[1], "31");
  EXPECT_EQ(words[2], "325");
  EXPECT_EQ(words[3], "0.3100000");
}

TEST(SampleCommand, CountsAnEpochWithoutReplacementExactly) {
  const Outcome outcome =
      run_program({"sample", "--rho", "100", "--strategy", "uniform", "--draws", "21694"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(words_of(outcome.out, "0")[5], "1,000");  // two epochs of 500
  EXPECT_EQ(words_of(outcome.out, "99")[5], "10");
  EXPECT_THAT(outcome.out, HasSubstr("each once per epoch"));
}

TEST(SampleCommand, TakesCountsOfOnesOwn) {
  const fs::path file = fs::temp_directory_path() / fmt::format("longtail_counts_{}.txt", ::getpid());
  base::write_atomically(file, "90\n0\n10\n");
  const Outcome outcome = run_program(
      {"sample", "--counts", file, "--strategy", "power:q=1", "--batch-size", "8", "--draws", "5000"});
  EXPECT_EQ(words_of(outcome.out, "2")[2], "0.1000000") << outcome.err;
  EXPECT_EQ(words_of(outcome.out, "1")[5], "0");
  base::write_atomically(file, "3\n-1\n");
  EXPECT_THAT(run_program({"sample", "--counts", file}).err, HasSubstr("-1 is not a number of images"));
  base::write_atomically(file, "0\n");
  EXPECT_THAT(run_program({"sample", "--counts", file}).err, HasSubstr("no images"));
  fs::remove(file);
}

TEST(SampleCommand, CountsOnlyTheClassesThatHaveImages) {
  const fs::path file = fs::temp_directory_path() / fmt::format("longtail_gaps_{}.txt", ::getpid());
  base::write_atomically(file,
                         "\xef\xbb\xbf"
                         "10\r\n0\r\n5\r\n1\r\n");  // as a spreadsheet saves it
  const Outcome outcome = run_program(
      {"sample", "--counts", file, "--strategy", "stratified", "--batch-size", "16", "--draws", "1600"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("16 images in 3 classes"));
  EXPECT_THAT(outcome.out, HasSubstr("of the 3 classes on average"));
  fs::remove(file);
}

TEST(SampleCommand, ClassesOfOnesOwnAreGroupedInThirds) {
  const fs::path file = fs::temp_directory_path() / fmt::format("longtail_thirds_{}.txt", ::getpid());
  base::write_atomically(file, "90\n60\n30\n");  // all medium by the paper's thresholds
  const auto classes_in = [&](const std::string& group, const std::string& groups) {
    const auto words = words_of(
        run_program({"sample", "--counts", file, "--per", "group", "--groups", groups, "--draws", "1000"})
            .out,
        group);
    return words.size() > 1 ? words[1] : "";
  };
  for (const char* group : {"head", "medium", "tail"}) EXPECT_EQ(classes_in(group, "default"), "1") << group;
  EXPECT_EQ(classes_in("medium", "paper"), "3");
  fs::remove(file);
}

TEST(SampleCommand, RefusesInSentences) {
  const auto refused = [](std::vector<std::string> arguments, const std::string& words) {
    arguments.insert(arguments.begin(), "sample");
    const Outcome outcome = run_program(arguments);
    EXPECT_EQ(outcome.code, 2) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr(words));
  };
  refused({"--strategy", "progresive"}, "did you mean `progressive`?");
  refused({"--strategy", "adaptive"}, "cannot be computed ahead of one");
  refused({"--strategy", "focus"}, "cannot be computed ahead of one");
  refused({"--strategy", "progressive:gamma=-1"}, "`gamma` is `-1`; it must be above 0");
  refused({"--epoch", "200"}, "there is no epoch 200 in a training of 200");
  refused({"--batch-size", "20000"}, "a batch of 20000 is larger than an epoch of 10847 draws");
  refused({"--per", "image"}, "image");
  refused({"--counts", "a.txt", "--labels", "b.txt"}, "excludes");
  refused({"--counts", "a.txt", "--rho", "10"}, "so --rho would do nothing");
  refused({"--counts", "a.txt", "--dataset", "mnist"}, "so --dataset would do nothing");
  refused({"--counts", "a.txt", "--data", "b"}, "so --data would do nothing");
  refused({"--labels", "a.txt", "--dataset", "mnist"}, "excludes");
  refused({"--seed", "99999999999999999999"}, "99999999999999999999 is out of range");
  refused({"--shard", "1/4"}, "--shard goes with --out or --indices");
  refused({"--indices", "4", "--shard", "9/4"}, "write I/N with I from 1 to N");
  refused({"--indices", "4", "--out", "x.npy"}, "excludes");
  refused({"--draws", "0"}, "0 is not above 0");
  refused({"--epoch", "-1"}, "-1 is below 0");
  refused({"--epochs", "ten"}, "`ten` is not a number");
  refused({"--epochs", "0x10"}, "`0x10` is not a number");
  refused({"--epochs", "2.5"}, "`2.5` is not a whole number");
  refused({"--strategy", "deferred", "--epochs", "90"},
          "`strategy` is `deferred`, which changes at epoch 160");
  refused({"--strategy", "stratified:of=deferred", "--epochs", "90"}, "which changes at epoch 160");
  refused({"--strategy", "deferred:then=deferred(at=500),at=10"}, "which changes at epoch 500");
  refused({"--strategy", "repeat_factor:threshold=2"}, "it must be above 0 and at most 1");
  refused({"--out", "epoch.csv"}, "epoch.csv ends neither with .npy nor with .txt");
  refused({"--strategy", "uniform", "--indices", "10848"}, "an epoch without replacement has 10847 indices");
  refused({"--labels", "a.txt", "--skip-unreadable"}, "excludes");
}

// A script that counts with `seq -w` writes 042; in C that would be 34.
TEST(SampleCommand, ANumberWithALeadingZeroIsDecimal) {
  const auto indices = [](const std::string& seed, const std::string& epoch) {
    return run_program({"sample", "--seed", seed, "--epoch", epoch, "--indices", "5"}).out;
  };
  EXPECT_EQ(indices("042", "010"), indices("42", "10"));
  EXPECT_NE(indices("042", "010"), indices("34", "8"));
}

TEST(SampleCommand, PrintsTheIndicesOfAShard) {
  const auto lines = [](std::vector<std::string> more) {
    std::vector<std::string> all = {"sample", "--strategy", "progressive", "--epoch", "100"};
    all.insert(all.end(), more.begin(), more.end());
    const Outcome outcome = run_program(all);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return base::split(outcome.out, '\n');
  };
  const auto all = lines({"--indices", "8"});
  const auto second = lines({"--indices", "4", "--shard", "2/2"});
  ASSERT_EQ(all.size(), 9U);
  ASSERT_EQ(second.size(), 5U);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(second[i], all[2 * i + 1]);
}

TEST(SampleCommand, HelpTeachesTheStrategies) {
  const Outcome outcome = run_program({"sample", "--help"});
  EXPECT_EQ(outcome.code, 0);
  for (const char* name : {"uniform", "class_balanced", "square_root", "progressive", "power",
                           "effective_number", "repeat_factor", "deferred", "gamma: above 0 (default 1)"}) {
    EXPECT_THAT(outcome.out, HasSubstr(name));
  }
}

TEST(SampleCommand, WritesTheIndicesOfAnEpochWhoseShardsAreItsParts) {
  const std::string out = testing::TempDir() + "sample_epoch";
  const auto sample = [&](std::vector<std::string> more) {
    std::vector<std::string> all = {"sample", "--strategy", "progressive", "--epoch",
                                    "100",    "--draws",    "1000"};
    all.insert(all.end(), more.begin(), more.end());
    return run_program(all);
  };
  ASSERT_EQ(sample({"--out", out + ".txt"}).code, 0);
  ASSERT_EQ(sample({"--out", out + ".npy"}).code, 0);
  ASSERT_EQ(sample({"--out", out + "1.txt", "--shard", "1/2"}).code, 0);
  ASSERT_EQ(sample({"--out", out + "2.txt", "--shard", "2/2"}).code, 0);
  const auto all = base::split(base::read_text(out + ".txt"), '\n');
  const auto first = base::split(base::read_text(out + "1.txt"), '\n');
  const auto second = base::split(base::read_text(out + "2.txt"), '\n');
  ASSERT_EQ(all.size(), 10847u + 1);
  for (std::size_t i = 0; i < 10847; ++i) ASSERT_EQ(all[i], (i % 2 == 0 ? first : second)[i / 2]) << i;
  const std::string npy = base::read_text(out + ".npy");
  ASSERT_EQ(npy.size(), 128 + 8 * 10847u);
  EXPECT_EQ(npy.substr(0, 6), "\x93NUMPY");
  EXPECT_THAT(npy.substr(10, 118),
              HasSubstr("{'descr': '<i8', 'fortran_order': False, 'shape': (10847,), }"));
  std::int64_t last = 0;
  std::memcpy(&last, npy.data() + npy.size() - 8, 8);
  EXPECT_EQ(std::to_string(last), all[10846]);
  EXPECT_EQ(sample({"--out", out + ".csv"}).code, 2);
  EXPECT_THAT(sample({"--out", out + ".txt", "--shard", "3/2"}).err,
              HasSubstr("write I/N with I from 1 to N"));
}

}  // namespace
}  // namespace longtail::cli
