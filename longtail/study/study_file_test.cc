#include "longtail/study/study_file.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "longtail/base/error.h"

namespace longtail::study {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// The message of the error that the text makes.
std::string parse_refusal(const std::string& text) {
  try {
    parse_study(text, "some/test.toml");
  } catch (const base::UsageError& error) {
    return error.what();
  }
  return "(accepted)";
}

std::string refusal_of_set(const std::string& assignment) {
  StudyFile study = parse_study("", "test.toml");
  try {
    override_setting(study, assignment);
  } catch (const base::UsageError& error) {
    return error.what();
  }
  return "(accepted)";
}

TEST(StudyFile, KeepsTheOrderInWhichKeysAreWritten) {
  const StudyFile study = parse_study(
      "[train]\nlr = 0.2\nepochs = 3\n[grid]\nstrategy = [\"uniform\"]\nrho = [10, 5]\n", "x.toml");
  std::vector<std::string> keys;
  for (const Setting& setting : study.settings) keys.push_back(setting.key);
  EXPECT_THAT(keys, ElementsAre("lr", "epochs", "strategy", "rho"));
  EXPECT_THAT(study.find("rho")->values, ElementsAre("10", "5"));
}

TEST(StudyFile, IsNamedByItsFileUnlessItSaysOtherwise) {
  EXPECT_EQ(parse_study("", "a/b/paper.toml").name, "paper");
  EXPECT_EQ(parse_study("name = \"mine\"", "paper.toml").name, "mine");
}

TEST(StudyFile, TakesAListForAScalarAsAnAxisInAnySection) {
  EXPECT_TRUE(parse_study("[train]\nlr = [0.1, 0.2]", "x.toml").find("lr")->axis());
  EXPECT_FALSE(parse_study("[train]\nlr = [0.1]", "x.toml").find("lr")->axis());
}

TEST(StudyFile, TakesAListOfNumbersForMilestonesAsOneValueAndAListOfListsAsAnAxis) {
  EXPECT_THAT(parse_study("[train]\nmilestones = [160, 180]", "x.toml").find("milestones")->values,
              ElementsAre("160,180"));
  EXPECT_THAT(
      parse_study("[grid]\nmilestones = [[160, 180], [120, 160]]", "x.toml").find("milestones")->values,
      ElementsAre("160,180", "120,160"));
  EXPECT_THAT(parse_study("[train]\nmilestones = []", "x.toml").find("milestones")->values, ElementsAre(""));
}

TEST(StudyFile, WritesEqualValuesAlike) {
  EXPECT_EQ(parse_study("[data]\nrho = 100.0", "x.toml").find("rho")->values[0],
            parse_study("[data]\nrho = 100", "x.toml").find("rho")->values[0]);
  EXPECT_EQ(parse_study("[train]\nstrategy = \"progressive:gamma=1\"", "x.toml").find("strategy")->values[0],
            "progressive");
}

TEST(StudyFile, RefusesAnUnknownKeyWithItsLineAndASuggestion) {
  EXPECT_EQ(parse_refusal("[train]\nlr = 0.1\nepoch = 3\n"),
            "some/test.toml:3: unknown key `epoch` in [train]; did you mean `epochs`?");
  EXPECT_THAT(parse_refusal("[grid]\n\ngama = [1, 2]\n"),
              HasSubstr("test.toml:3: unknown key `gama` in [grid]; did you mean `gamma`?"));
  EXPECT_THAT(parse_refusal("nam = \"x\""), HasSubstr("did you mean `name`?"));
}

TEST(StudyFile, RefusesAnUnknownSectionAndAKeyInTheWrongOne) {
  EXPECT_THAT(parse_refusal("[trains]\nlr = 0.1"),
              HasSubstr("test.toml:1: unknown section [trains]; did you mean `train`?"));
  EXPECT_EQ(parse_refusal("[train]\nrho = 10"), "some/test.toml:2: `rho` belongs to [data], not [train]");
}

TEST(StudyFile, RefusesImpossibleValuesWithTheirLine) {
  EXPECT_THAT(parse_refusal("[train]\n\nepochs = 0"),
              HasSubstr("test.toml:3: `epochs` is `0`; it must be at least 1"));
  EXPECT_THAT(parse_refusal("[train]\nlr = [0.1, -1]"), HasSubstr("test.toml:2: `lr` is `-1`"));
  EXPECT_THAT(parse_refusal("[train]\nepochs = \"many\""), HasSubstr("must be a whole number"));
  EXPECT_THAT(parse_refusal("[grid]\nstrategy = [\"unifrom\"]"), HasSubstr("did you mean `uniform`?"));
  EXPECT_THAT(parse_refusal("[train]\nepochs = 1979-05-27"), HasSubstr("plain value"));
  EXPECT_THAT(parse_refusal("[train]\nmilestones = [1.5]"), HasSubstr("whole numbers"));
}

TEST(StudyFile, RefusesAnEmptyAxis) {
  EXPECT_THAT(parse_refusal("[grid]\nseed = []"),
              HasSubstr("test.toml:2: `seed` is an empty list, so the grid has no run"));
  EXPECT_THAT(parse_refusal("[grid]\nmilestones = []"), HasSubstr("empty list"));
}

TEST(StudyFile, RefusesTheSameValueOrKeyTwice) {
  EXPECT_THAT(parse_refusal("[grid]\nseed = [1, 2, 1]"), HasSubstr("`seed` has `1` twice"));
  EXPECT_THAT(parse_refusal("[grid]\nrho = [10, 10.0]"), HasSubstr("`rho` has `10` twice"));
  EXPECT_THAT(parse_refusal("[train]\nseed = 1\n[grid]\nseed = [1, 2]"),
              HasSubstr(":4: `seed` was given before, at some/test.toml:2"));
}

TEST(StudyFile, RefusesAnAxisThatChangesNothing) {
  EXPECT_THAT(parse_refusal("[run]\nthreads = [1, 2]"), HasSubstr("cannot be an axis"));
}

TEST(StudyFile, RefusesForATrainerWhatCannotBeHandedOnOrWrittenDown) {
  const std::string trainer = "[trainer]\ncommand = [\"x\"]\n";
  EXPECT_THAT(parse_refusal(trainer + "[trainer.params]\nx = inf"), HasSubstr("test.toml:4: `x` is inf"));
  EXPECT_THAT(parse_refusal(trainer + "[trainer.params]\nx = [1.5, nan]"), HasSubstr("JSON cannot say"));
  EXPECT_THAT(parse_refusal(trainer + "time_limit = \"0s\""),
              HasSubstr("test.toml:3: `time_limit`: `0s` is no length of time"));
  for (const char* wrong : {"\\u001b[2J", "\\u007f"}) {
    const std::string text = "\"" + std::string(wrong) + "\"";
    for (const std::string& study : {fmt::format("{}[trainer.params]\nx = {}", trainer, text),
                                     fmt::format("{}[trainer.params]\nx = [1, {}]", trainer, text),
                                     fmt::format("{}[trainer.params]\n{} = 1", trainer, text),
                                     fmt::format("[trainer]\ncommand = [\"x\", {}]", text)}) {
      EXPECT_THROW(parse_study(study, "test.toml"), base::Error) << study;
    }
  }
  EXPECT_EQ(parse_refusal(trainer + "[trainer.params]\nx = \"two\\nlines\\tand a tab\""), "(accepted)");
}

TEST(StudyFile, RefusesWhatIsNotToml) {
  EXPECT_THAT(parse_refusal("[train\nlr = 1"), HasSubstr("some/test.toml:1: "));
  EXPECT_THAT(parse_refusal("[train]\nlr = = 1"), HasSubstr("some/test.toml:2: "));
}

TEST(Override, ReplacesAValueAnAxisOrAddsOne) {
  StudyFile study = parse_study("[train]\nepochs = 200\n[grid]\nseed = [1, 2]\nrho = [10, 100]", "x.toml");
  override_setting(study, "train.epochs=20");
  override_setting(study, "train.seed = 7");
  override_setting(study, "grid.rho=[50]");
  override_setting(study, "train.strategy=square_root");
  EXPECT_THAT(study.find("epochs")->values, ElementsAre("20"));
  EXPECT_THAT(study.find("seed")->values, ElementsAre("7"));
  EXPECT_THAT(study.find("rho")->values, ElementsAre("50"));
  EXPECT_THAT(study.find("strategy")->values, ElementsAre("square_root"));
  EXPECT_EQ(study.settings[1].key, "seed") << "an overridden key keeps its place";
}

TEST(Override, RefusesWhatTheFileWouldBeRefusedFor) {
  EXPECT_THAT(refusal_of_set("epochs=20"), HasSubstr("section.key=value"));
  EXPECT_THAT(refusal_of_set("train.epochs"), HasSubstr("section.key=value"));
  EXPECT_THAT(refusal_of_set("trains.epochs=20"), HasSubstr("did you mean `train`?"));
  EXPECT_THAT(refusal_of_set("train.epochs=0"), HasSubstr("at least 1"));
  EXPECT_THAT(refusal_of_set("grid.strategy=[uniform]"), HasSubstr("the list does not parse"));
}

TEST(StrategyParameters, AreThoseOfTheStrategies) {
  EXPECT_THAT(strategy_parameters(), testing::Contains("gamma"));
  EXPECT_TRUE(strategy_takes("progressive", "gamma"));
  EXPECT_TRUE(strategy_takes("progressive:gamma=2", "gamma"));
  EXPECT_FALSE(strategy_takes("uniform", "gamma"));
}

}  // namespace
}  // namespace longtail::study
