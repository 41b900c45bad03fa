#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "longtail/base/gnuplot.h"
#include "longtail/cli/testing.h"

namespace longtail::cli {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;

fs::path scratch(const std::string& name) {
  return fs::path(testing::TempDir()) / ("longtail_theory_" + name);
}

TEST(TheoryCommandTest, ThePapersNumbersArePrintedWithoutAnyData) {
  const Outcome outcome = run_program({"theory", "--dataset", "cifar100", "--rho", "100"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  for (const char* text : {"10,847 images in 100 classes", "5.90", "0.0590", "94.2%", "4.610%", "0.0461%",
                           "x470.6", "0.804", "None -> High", "Low -> High"}) {
    EXPECT_THAT(outcome.out, HasSubstr(text));
  }
}

TEST(TheoryCommandTest, JsonHoldsEveryClassAndEveryEpoch) {
  const Outcome outcome =
      run_program({"theory", "--rho", "100", "--json", "--epoch", "160", "--strategies", "progressive"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const json result = json::parse(outcome.out);
  ASSERT_EQ(result["forecasts"].size(), 1u);
  EXPECT_EQ(result["forecasts"][0]["classes"]["weight"].size(), 100u);
  EXPECT_NEAR(result["forecasts"][0]["lambda"].get<double>(), 160.0 / 199, 1e-12);
  EXPECT_EQ(result["by_epoch"][0]["exact_mse"].size(), 200u);
  EXPECT_EQ(result["exposure"][0]["classes"]["most"].size(), 100u);
}

TEST(TheoryCommandTest, CountsComeFromAFileAndABadLineIsNamed) {
  const fs::path file = scratch("counts.txt");
  base::write_atomically(file, std::string_view("6\n3\n1\n"));
  const Outcome good =
      run_program({"theory", "--counts", file.string(), "--batch-size", "2", "--epochs", "5", "--json"});
  ASSERT_EQ(good.code, 0) << good.err;
  EXPECT_EQ(json::parse(good.out)["class_counts"], json({6, 3, 1}));
  EXPECT_EQ(json::parse(good.out)["groups"], "auto");
  base::write_atomically(file, std::string_view("6\nthree\n1\n"));
  const Outcome bad = run_program({"theory", "--counts", file.string()});
  EXPECT_EQ(bad.code, 1);
  EXPECT_THAT(bad.err, HasSubstr(":2: `three`"));
  fs::remove(file);
}

TEST(TheoryCommandTest, WrongUsageHasItsExitCode) {
  EXPECT_EQ(run_program({"theory", "--epoch", "200"}).code, 2);
  EXPECT_EQ(run_program({"theory", "--rho", "-1"}).code, 2);
  EXPECT_EQ(run_program({"theory", "--format", "bmp"}).code, 2);
  const Outcome misspelt = run_program({"theory", "--strategies", "unifrm"});
  EXPECT_EQ(misspelt.code, 2);
  EXPECT_THAT(misspelt.err, HasSubstr("did you mean `uniform`?"));
  const Outcome late = run_program({"theory", "--strategies", "deferred", "--epochs", "90"});
  EXPECT_EQ(late.code, 2);
  EXPECT_THAT(late.err, HasSubstr("`strategy` is `deferred`, which changes at epoch 160"));
  const Outcome large = run_program({"theory", "--batch-size", "20000"});
  EXPECT_EQ(large.code, 2);
  EXPECT_THAT(large.err, HasSubstr("a batch of 20000 is larger than an epoch of 10847 draws"));
  const Outcome idle = run_program({"theory", "--counts", "a.txt", "--rho", "10"});
  EXPECT_EQ(idle.code, 2);
  EXPECT_THAT(idle.err, HasSubstr("so --rho would do nothing"));
  for (const char* strategy : {"adaptive", "focus", "deferred:then=adaptive"}) {
    const Outcome ahead = run_program({"theory", "--strategies", strategy});
    EXPECT_EQ(ahead.code, 2) << strategy;
    EXPECT_THAT(ahead.err, HasSubstr("cannot be computed ahead of one")) << strategy;
  }
  const Outcome nothing = run_program({"theory", "--sigma2", "0", "--norm2", "0"});
  EXPECT_EQ(nothing.code, 2);
  EXPECT_THAT(nothing.err, HasSubstr("give one of them a value above 0"));
}

TEST(TheoryCommandTest, EveryEpochIsShownOnce) {
  const auto shown = [](std::vector<std::string> more) {
    std::vector<std::string> all = {"theory", "--rho", "100", "--strategies", "progressive", "--json"};
    all.insert(all.end(), more.begin(), more.end());
    std::vector<int> epochs;
    const json whole = json::parse(run_program(all).out);
    for (const json& one : whole["forecasts"]) epochs.push_back(one["epoch"]);
    return epochs;
  };
  EXPECT_THAT(shown({"--epochs", "1"}), ElementsAre(0));
  EXPECT_THAT(shown({"--epochs", "2"}), ElementsAre(0, 1));
  EXPECT_THAT(shown({"--epochs", "5"}), ElementsAre(0, 4));
  EXPECT_THAT(shown({"--epochs", "6"}), ElementsAre(0, 4, 5));
  EXPECT_THAT(shown({"--epoch", "160,160,3"}), ElementsAre(3, 160));
}

TEST(TheoryCommandTest, ARatioToNoVarianceIsADash) {
  const Outcome outcome = run_program({"theory", "--rho", "100", "--sigma2", "0"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, testing::Not(HasSubstr("nan")));
}

TEST(TheoryCommandTest, ClassesWithoutImagesAreNotCounted) {
  const fs::path file = scratch("gaps.txt");
  base::write_atomically(file, std::string_view("10\n0\n5\n1\n"));
  const Outcome outcome =
      run_program({"theory", "--counts", file.string(), "--batch-size", "4", "--epochs", "2"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("16 images in 3 classes"));
  fs::remove(file);
}

TEST(TheoryCommandTest, FiguresAndNumbersGoIntoTheFolder) {
  if (!base::has_gnuplot()) GTEST_SKIP() << "gnuplot is not installed";
  const fs::path folder = scratch("figures");
  fs::remove_all(folder);
  const Outcome outcome =
      run_program({"theory", "--rho", "50", "--epochs", "20", "--out", folder.string(), "--format", "svg"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  for (const char* name :
       {"theory.json", "theory_weights.svg", "theory_ratios.svg", "theory_mse.svg", "theory_exposure.svg"}) {
    EXPECT_TRUE(fs::exists(folder / name)) << name;
  }
  EXPECT_THAT(base::read_text(folder / "theory_weights.svg"), HasSubstr("Class-Balanced"));
  fs::remove_all(folder);
}

}  // namespace
}  // namespace longtail::cli
