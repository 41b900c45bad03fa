#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "longtail/cli/testing.h"

namespace longtail::cli {
namespace {

using testing::HasSubstr;

TEST(Program, SuggestsTheFlagThatWasMeant) {
  const Outcome outcome = run_program({"train", "--epoch", "3", "--out", "/nowhere"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(outcome.err, "longtail: `longtail train` has no flag `--epoch`; did you mean `--epochs`?\n");
}

TEST(Program, SuggestsTheCommandThatWasMeant) {
  const Outcome outcome = run_program({"trian"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(outcome.err, "longtail: `longtail` has no command `trian`; did you mean `train`?\n");
  EXPECT_EQ(run_program({"study", "rnu"}).err,
            "longtail: `longtail study` has no command `rnu`; did you mean `run`?\n");
}

TEST(Program, SaysWhatABadValueIsAndHowToGetHelp) {
  const Outcome outcome = run_program({"train", "--epochs", "0", "--out", "/nowhere"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("`epochs` is `0`; it must be at least 1"));
  EXPECT_EQ(run_program({"--help"}).code, 0);
}

}  // namespace
}  // namespace longtail::cli
