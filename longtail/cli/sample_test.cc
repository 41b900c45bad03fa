#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>

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
  EXPECT_THAT(outcome.out, HasSubstr("each once an epoch"));
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

TEST(SampleCommand, RefusesInSentences) {
  const auto refused = [](std::vector<std::string> arguments, const std::string& words) {
    arguments.insert(arguments.begin(), "sample");
    const Outcome outcome = run_program(arguments);
    EXPECT_EQ(outcome.code, 2) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr(words));
  };
  refused({"--strategy", "progresive"}, "did you mean `progressive`?");
  refused({"--strategy", "progressive:gamma=-1"}, "`gamma` is `-1`; it must be above 0");
  refused({"--epoch", "200"}, "there is no epoch 200 in a training of 200");
  refused({"--batch-size", "20000"}, "a batch of 20000 is larger than an epoch of 10847 draws");
  refused({"--per", "image"}, "image");
  refused({"--counts", "a.txt", "--labels", "b.txt"}, "excludes");
}

TEST(SampleCommand, HelpTeachesTheStrategies) {
  const Outcome outcome = run_program({"sample", "--help"});
  EXPECT_EQ(outcome.code, 0);
  for (const char* name : {"uniform", "class_balanced", "square_root", "progressive", "power",
                           "effective_number", "repeat_factor", "deferred", "gamma: above 0 (default 1)"}) {
    EXPECT_THAT(outcome.out, HasSubstr(name));
  }
}

}  // namespace
}  // namespace longtail::cli
