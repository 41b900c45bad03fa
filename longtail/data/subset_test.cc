#include "longtail/data/subset.h"
#include "longtail/base/test_paths.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <numeric>
#include <set>
#include <sstream>

#include "longtail/base/error.h"
#include "longtail/base/file.h"
#include "longtail/base/hash.h"
#include "longtail/data/groups.h"
#include "longtail/data/numpy_random.h"
#include "longtail/data/profile.h"

namespace longtail::data {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

const fs::path kTestData = base::source_dir() + "/longtail/data/testdata";

std::vector<std::int32_t> cifar_labels() {
  const auto bytes = base::read_bytes(kTestData / "cifar100_fine_labels.u8");
  return {bytes.begin(), bytes.end()};
}

std::string as_lines(const Subset& subset) {
  std::string text;
  for (const std::int32_t index : subset.indices) text += std::to_string(index) + "\n";
  return text;
}

std::string message_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const base::Error& error) {
    return error.what();
  }
  return "(nothing thrown)";
}

// A file that is gone after the test.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& text)
      : path_(fs::temp_directory_path() / ("longtail_subset_" + std::to_string(::getpid()))) {
    std::ofstream(path_) << text;
  }
  ~TemporaryFile() { fs::remove(path_); }
  std::string path() const { return path_.string(); }

 private:
  fs::path path_;
};

TEST(NumpyRandom, ShufflesAsNumpyDoes) {
  std::ifstream file(kTestData / "numpy_random.txt");
  std::string line;
  int cases = 0;
  while (std::getline(file, line)) {
    if (line.starts_with('#')) continue;
    std::istringstream in(line);
    std::int64_t seed = 0;
    in >> seed;
    std::vector<int> expected(17), values(17);
    for (int& value : expected) in >> value;
    ASSERT_TRUE(in);
    std::iota(values.begin(), values.end(), 0);
    NumpyRandomState(seed).shuffle(std::span(values));
    EXPECT_EQ(values, expected) << "seed " << seed;
    ++cases;
  }
  EXPECT_EQ(cases, 8);
}

// np.random.RandomState(42): randint(0, 2**32, 2, np.uint64), then bounded 64-bit draws by the same masked
// rejection.
TEST(NumpyRandom, DrawsTheBitsOfMersenneTwister) {
  NumpyRandomState random(42);
  EXPECT_EQ(random.next32(), 1608637542u);
  EXPECT_EQ(random.next32(), 3421126067u);
  EXPECT_EQ(NumpyRandomState(42).next64(), (std::uint64_t{1608637542} << 32) | 3421126067u);
  EXPECT_EQ(random.interval(0), 0u);
  for (const std::uint64_t max : {1ull, 7ull, 8ull, 0xffffffffull, 0x100000000ull, ~0ull}) {
    for (int i = 0; i < 50; ++i) EXPECT_LE(random.interval(max), max);
  }
}

TEST(NumpyRandom, RefusesSeedsThatNumpyRefuses) {
  EXPECT_THAT(message_of([] { NumpyRandomState(-1); }), HasSubstr("from 0 to 4294967295"));
  EXPECT_THAT(message_of([] { NumpyRandomState(std::int64_t{1} << 32); }), HasSubstr("4294967296"));
}

TEST(Subset, EqualsTheOneThatNumpyMakesForAnySeedRatioAndSize) {
  const auto labels = cifar_labels();
  std::ifstream file(kTestData / "numpy_subsets.txt");
  std::string line;
  int cases = 0;
  while (std::getline(file, line)) {
    if (line.starts_with('#')) continue;
    std::istringstream in(line);
    SubsetConfig config;
    std::int64_t seed = 0;
    std::string expected;
    in >> config.profile >> config.rho >> config.n_max >> seed >> expected;
    ASSERT_TRUE(in) << line;
    EXPECT_EQ(base::sha256(as_lines(make_subset(config, labels, 100, seed))), expected) << line;
    ++cases;
  }
  EXPECT_GT(cases, 100);
}

TEST(Subset, EqualsThePublishedGoldenFilesByteForByte) {
  const auto labels = cifar_labels();
  std::ifstream file(kTestData / "golden_subsets.txt");
  int cases = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#')) continue;
    std::istringstream in(line);
    double rho = 0;
    std::int64_t seed = 0;
    std::string expected;
    ASSERT_TRUE(in >> rho >> seed >> expected) << line;
    EXPECT_EQ(base::sha256(as_lines(make_subset({.rho = rho}, labels, 100, seed))), expected) << line;
    ++cases;
  }
  EXPECT_EQ(cases, 9);
}

TEST(Subset, HasTheSizesOfThePapersTable) {
  const auto labels = cifar_labels();
  struct Row {
    double rho;
    std::int64_t total, min;
    double median;
    std::array<int, 3> groups;
  };
  for (const Row& row : {Row{10, 19572, 49, 157.5, {69, 31, 0}}, Row{50, 12607, 9, 70.5, {41, 40, 19}},
                         Row{100, 10847, 5, 49.5, {35, 34, 31}}}) {
    const Subset subset = make_subset({.rho = row.rho}, labels, 100, 42);
    const CountStatistics statistics = count_statistics(subset.counts);
    EXPECT_EQ(subset.size(), row.total);
    EXPECT_EQ(statistics.total, row.total);
    EXPECT_EQ(statistics.max, 500);
    EXPECT_EQ(statistics.min, row.min);
    EXPECT_EQ(statistics.median, row.median);
    EXPECT_EQ(Groups::parse("paper").sizes(subset.counts), row.groups);
  }
}

TEST(Subset, KeepsImagesOfTheRightClassEachOnceClassAfterClass) {
  const auto labels = cifar_labels();
  const Subset subset = make_subset({.rho = 50, .class_order = "shuffled"}, labels, 100, 7);
  std::set<std::int32_t> seen(subset.indices.begin(), subset.indices.end());
  EXPECT_EQ(static_cast<std::int64_t>(seen.size()), subset.size());
  std::size_t at = 0;
  for (std::size_t k = 0; k < 100; ++k) {
    EXPECT_EQ(subset.first[k], static_cast<std::int64_t>(at));
    for (std::int64_t i = 0; i < subset.counts[k]; ++i) {
      EXPECT_EQ(labels[static_cast<std::size_t>(subset.indices[at++])], static_cast<std::int32_t>(k));
    }
  }
  EXPECT_EQ(at, subset.indices.size());
}

TEST(Subset, OfOneSeedAreNestedWhateverTheProfile) {
  const auto labels = cifar_labels();
  const Subset full = make_subset({.rho = 1}, labels, 100, 3);
  for (const SubsetConfig& config : {SubsetConfig{.rho = 100}, SubsetConfig{.profile = "step", .rho = 10},
                                     SubsetConfig{.rho = 20, .class_order = "shuffled:5"}}) {
    const Subset part = make_subset(config, labels, 100, 3);
    for (std::size_t k = 0; k < 100; ++k) {
      for (std::int64_t i = 0; i < part.counts[k]; ++i) {
        ASSERT_EQ(part.indices[static_cast<std::size_t>(part.first[k] + i)],
                  full.indices[static_cast<std::size_t>(full.first[k] + i)]);
      }
    }
  }
}

TEST(Subset, NaturalKeepsEveryImageInFileOrderForEverySeed) {
  const std::vector<std::int32_t> labels = {2, 0, 2, 2, 0};
  for (const std::int64_t seed : {1, 2}) {
    const Subset subset = make_subset({.profile = "natural"}, labels, 4, seed);
    EXPECT_THAT(subset.indices, ElementsAre(1, 4, 0, 2, 3));
    EXPECT_THAT(subset.counts, ElementsAre(2, 0, 3, 0));
    EXPECT_THAT(subset.first, ElementsAre(0, 2, 2, 5));
  }
}

TEST(Subset, HashDependsOnTheIndicesAlone) {
  Subset subset;
  subset.indices = {1, 2};
  // printf '\1\0\0\0\2\0\0\0' | sha256sum
  EXPECT_EQ(subset.hash(), "34fb5c825de7ca4aea6e712f19d439c1da0c92c37b423936c5f618545ca4fa1f");
}

TEST(Profile, OfOneClassOrWithoutImbalanceIsFlat) {
  EXPECT_THAT(exponential_profile(1, 500, 100), ElementsAre(500));
  EXPECT_THAT(step_profile(1, 500, 100), ElementsAre(500));
  EXPECT_THAT(exponential_profile(3, 500, 1), ElementsAre(500, 500, 500));
  EXPECT_THAT(step_profile(3, 500, 1), ElementsAre(500, 500, 500));
}

TEST(Profile, NeverLeavesAClassWithoutImages) {
  EXPECT_THAT(exponential_profile(3, 10, 1e6), ElementsAre(10, 1, 1));
  EXPECT_THAT(step_profile(3, 10, 1e6), ElementsAre(10, 1, 1));
  EXPECT_THAT(step_profile(4, 500, 100), ElementsAre(500, 500, 5, 5));
}

TEST(Profile, TakesTheSmallestClassWhenNothingIsSaidOfTheLargest) {
  const std::vector<std::int64_t> available = {6000, 5000, 7000};
  EXPECT_THAT(profile_counts({.rho = 100}, available), ElementsAre(5000, 500, 50));
  EXPECT_THAT(profile_counts({.rho = 100, .n_max = 400}, available), ElementsAre(400, 40, 4));
}

TEST(Profile, FollowsAClassOrderFromAFileOrASeed) {
  const std::vector<std::int64_t> available(4, 80);
  const TemporaryFile file("# largest first\n2\n\n0 # then\n3\n1\n");
  EXPECT_THAT(profile_counts({.rho = 8, .class_order = file.path()}, available), ElementsAre(40, 10, 80, 20));
  const std::vector<std::int64_t> many(50, 500);
  const auto by_seven = profile_counts({.class_order = "shuffled:7"}, many, 1);
  EXPECT_EQ(by_seven, profile_counts({.class_order = "shuffled"}, many, 7));
  EXPECT_EQ(by_seven, profile_counts({.class_order = "shuffled:7"}, many, 2));
  EXPECT_NE(by_seven, profile_counts({.class_order = "shuffled"}, many, 8));
  auto sorted = by_seven;
  std::sort(sorted.rbegin(), sorted.rend());
  EXPECT_EQ(sorted, profile_counts({}, many));
}

TEST(Profile, ReadsCountsFromAFile) {
  const std::vector<std::int64_t> available = {10, 10, 10};
  const TemporaryFile file("3\n0\n10\n");
  EXPECT_THAT(profile_counts({.profile = "counts", .counts_file = file.path()}, available),
              ElementsAre(3, 0, 10));
}

TEST(Profile, ReadsCountsThatASpreadsheetSavedWithAByteOrderMark) {
  const std::vector<std::int64_t> available = {10, 10, 10};
  const TemporaryFile file(
      "\xef\xbb\xbf"
      "3\r\n0\r\n10\r\n");
  EXPECT_THAT(profile_counts({.profile = "counts", .counts_file = file.path()}, available),
              ElementsAre(3, 0, 10));
}

TEST(Profile, SaysWhatIsWrong) {
  const std::vector<std::int64_t> available = {10, 10, 10};
  const auto with_file = [&](const std::string& text) {
    const TemporaryFile file(text);
    return message_of([&] { profile_counts({.profile = "counts", .counts_file = file.path()}, available); });
  };
  const auto with_order = [&](const std::string& text) {
    const TemporaryFile file(text);
    return message_of([&] { profile_counts({.class_order = file.path()}, available); });
  };
  EXPECT_THAT(with_file("1\n2\n"), HasSubstr("2 counts for 3 classes"));
  EXPECT_THAT(with_file("1\ntwo\n3\n"), HasSubstr(":2: `two` is not a whole number"));
  EXPECT_THAT(with_file("1\n-2\n3\n"), HasSubstr("class 1 has the count -2"));
  EXPECT_THAT(with_file("0\n0\n0\n"), HasSubstr("every count is 0"));
  EXPECT_THAT(with_file("1\n2\n11\n"), HasSubstr("class 2 has 10 images, but the profile asks for 11"));
  EXPECT_THAT(with_order("0\n1\n1\n"), HasSubstr("label 1 is there twice"));
  EXPECT_THAT(with_order("0\n1\n3\n"), HasSubstr("label 3 is not in 0 ... 2"));
  EXPECT_THAT(with_order("0\n1\n"), HasSubstr("2 labels"));
  EXPECT_THAT(message_of([&] { profile_counts({.class_order = "shufled"}, available); }),
              HasSubstr("shufled"));
  EXPECT_THAT(message_of([&] { profile_counts({.class_order = "shuffled:x"}, available); }),
              HasSubstr("shuffled:7"));
  EXPECT_THAT(message_of([&] { profile_counts({.profile = "counts"}, available); }),
              HasSubstr("counts_file"));
  EXPECT_THAT(message_of([&] { profile_counts({.counts_file = "mine.txt"}, available); }),
              HasSubstr("choose the profile `counts` or leave the file out"));
  EXPECT_THAT(message_of([&] { profile_counts({.n_max = 11}, available); }), HasSubstr("asks for 11"));
  EXPECT_THAT(message_of([&] { profile_counts({.profile = "Natural"}, available); }),
              HasSubstr("did you mean `natural`?"));
  EXPECT_THAT(message_of([&] {
                make_subset({.profile = "expo"}, std::vector<std::int32_t>{0, 1}, 2, 1);
              }),
              HasSubstr("`profile` is `expo`; it must be one of default, exp, step, natural, counts"));
  EXPECT_THAT(message_of([&] { profile_counts({.n_max = -5}, available); }),
              HasSubstr("`n_max` is `-5`; it must be at least 0"));
  EXPECT_THAT(message_of([&] { profile_counts({.rho = std::nan("")}, available); }),
              HasSubstr("`rho` is `nan`; it must be at least 1"));
  EXPECT_THAT(message_of([&] {
                profile_counts({}, std::vector<std::int64_t>{3, 0});
              }),
              HasSubstr("class 1 has no images"));
  EXPECT_THAT(message_of([&] {
                make_subset({}, std::vector<std::int32_t>{0, 3}, 3, 1);
              }),
              HasSubstr("image 1 has the label 3"));
}

TEST(Profile, WhatSaysHowClassesAreCutIsRefusedWhereTheyAreNotCut) {
  const auto refusal = [](const SubsetConfig& config, bool ratio, const char* dataset = "folder:birds") {
    return message_of([&] { refuse_idle_cut(decided(config, dataset), dataset, ratio); });
  };
  const std::string none = "(nothing thrown)";
  EXPECT_EQ(refusal({}, false), none);
  EXPECT_THAT(refusal({}, true), HasSubstr("profile `natural` (the default for your own data) takes none"));
  EXPECT_THAT(
      refusal({.n_max = 9}, false),
      HasSubstr(
          "`n_max` says how classes are cut, but the profile `natural` (the default for your own data)"));
  EXPECT_THAT(refusal({.class_order = "shuffled"}, false), HasSubstr("leave `class_order` out"));
  EXPECT_THAT(refusal({.profile = "counts", .n_max = 9}, false, "cifar100"),
              HasSubstr("the profile `counts` does not"));
  for (const char* profile : {"exp", "step"})
    EXPECT_EQ(refusal({.profile = profile, .n_max = 9, .class_order = "shuffled"}, true), none);
  EXPECT_EQ(refusal({.n_max = 9, .class_order = "shuffled"}, true, "cifar100"), none);
}

TEST(Profile, ParametersAreCheckedWhereTheyAreDescribed) {
  const auto table = subset_params();
  SubsetConfig config;
  EXPECT_THAT(message_of([&] { table.set(config, "profile", "expo"); }), HasSubstr("did you mean `exp`?"));
  EXPECT_THAT(message_of([&] { table.set(config, "rho", "0.5"); }), HasSubstr("at least 1"));
  EXPECT_THAT(message_of([&] { table.set(config, "groups", "papr"); }), HasSubstr("did you mean `paper`?"));
  EXPECT_EQ(table.find("rho")->info.section, "data");
}

TEST(Groups, CutTheClassesAtTheirThresholds) {
  const std::vector<std::int64_t> counts = {101, 100, 21, 20, 19, 0};
  EXPECT_THAT(Groups::parse("paper").sizes(counts), ElementsAre(1, 2, 3));
  EXPECT_THAT(Groups::parse("field").sizes(counts), ElementsAre(1, 3, 2));
  EXPECT_THAT(Groups::parse(" 50, 19").sizes(counts), ElementsAre(2, 2, 2));
  EXPECT_THAT(Groups::parse("paper").trained_sizes(counts), ElementsAre(1, 2, 2));
  EXPECT_EQ(Groups::parse(" 50, 19").name(), "50,19");
  EXPECT_EQ(Groups::parse("field").name(), "field");
  EXPECT_EQ(Groups::parse("paper").of(counts)[3], Group::kTail);
}

TEST(Groups, AutoCutsTheClassesIntoThirdsAndNeverPartsClassesOfOneSize) {
  const auto sizes = [](std::vector<std::int64_t> counts) {
    return Groups::parse("auto").trained_sizes(counts);
  };
  EXPECT_THAT(sizes({9, 8, 7, 6, 5, 4, 3, 2, 1}), ElementsAre(3, 3, 3));
  EXPECT_THAT(sizes({1, 400, 30, 8, 90, 0, 60, 5, 200, 15, 120}), ElementsAre(3, 4, 3));  // 10 with images
  EXPECT_THAT(sizes({3, 2, 1}), ElementsAre(1, 1, 1));
  EXPECT_THAT(sizes({50, 50, 50, 50, 50, 2}), ElementsAre(5, 0, 1));
  EXPECT_THAT(sizes({7, 7, 7}), ElementsAre(3, 0, 0));  // no tail at all
  EXPECT_THAT(Groups::parse("auto").trained_sizes(std::vector<std::int64_t>{3, 2, 1},
                                                  std::vector<std::int64_t>{5, 0, 1}),
              ElementsAre(1, 0, 1));
  const std::vector<std::int64_t> counts = {10, 1, 5};
  EXPECT_THAT(Groups::parse("auto").of(counts), ElementsAre(Group::kHead, Group::kTail, Group::kMedium));
  EXPECT_EQ(Groups::parse("auto").decided(counts).of(5), Group::kMedium);
  EXPECT_THAT(message_of([] { Groups::parse("auto").of(5); }), HasSubstr("not known here"));
}

// Against all pairs of cuts, for every way in which up to nine classes can have equal sizes.
TEST(Groups, AutoIsAsNearToThirdsAsClassesOfOneSizeAllow) {
  const auto sizes = [](const std::vector<std::int64_t>& counts) {
    return Groups::parse("auto").sizes(counts);
  };
  EXPECT_THAT(sizes({500, 100, 20, 20, 1}), ElementsAre(2, 2, 1));
  EXPECT_THAT(sizes({9, 9, 9, 5, 5, 1}), ElementsAre(3, 2, 1));
  EXPECT_THAT(sizes({300, 200, 100, 50, 50, 50, 50, 2}), ElementsAre(3, 4, 1));
  for (int classes = 3; classes <= 9; ++classes) {
    for (int pattern = 0; pattern < 1 << (classes - 1); ++pattern) {
      std::vector<std::int64_t> counts = {20};
      std::vector<int> cuts;
      for (int k = 1; k < classes; ++k) {
        const int smaller = (pattern >> (k - 1)) & 1;
        counts.push_back(counts.back() - smaller);
        if (smaller) cuts.push_back(k);
      }
      if (cuts.size() < 2) continue;
      const auto off = [&](int a, int b) {
        return std::abs(3 * a - classes) + std::abs(3 * b - 2 * classes);
      };
      int best = 1000;
      for (const int a : cuts) {
        for (const int b : cuts) best = a < b ? std::min(best, off(a, b)) : best;
      }
      const auto [head, medium, tail] = sizes(counts);
      EXPECT_TRUE(head > 0 && medium > 0 && tail > 0) << classes << " " << pattern;
      EXPECT_EQ(off(head, head + medium), best) << classes << " " << pattern;
    }
  }
}

TEST(Groups, RefuseWhatIsNoDefinition) {
  EXPECT_THAT(message_of([] { Groups::parse("100"); }), HasSubstr("two thresholds such as `100,20`"));
  EXPECT_THAT(message_of([] { Groups::parse("20,100"); }), HasSubstr("overlap"));
  EXPECT_THAT(message_of([] { Groups::parse("100,20,5"); }), HasSubstr("no definition"));
  EXPECT_THAT(message_of([] { Groups::parse(""); }), HasSubstr("no definition"));
  EXPECT_THAT(message_of([] { Groups::parse("third"); }), HasSubstr("paper, field, auto, thresholds"));
  EXPECT_THAT(message_of([] { Groups::parse("thresholds:middle=3"); }), HasSubstr("head, tail"));
}

TEST(Groups, ByThresholdsAreNamedByThem) {
  EXPECT_EQ(Groups::parse(" 50 , 5 ").name(), "50,5");
  EXPECT_EQ(Groups::parse("thresholds:tail=5,head=50").name(), "50,5");
  EXPECT_EQ(Groups::parse("default").name(), "paper");
}

TEST(CountStatistics, MedianIsTheMeanOfTheMiddleTwo) {
  EXPECT_EQ(count_statistics(std::vector<std::int64_t>{9, 1, 4}).median, 4);
  EXPECT_EQ(count_statistics(std::vector<std::int64_t>{9, 1, 4, 5}).median, 4.5);
}

}  // namespace
}  // namespace longtail::data
