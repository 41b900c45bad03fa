#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "longtail/base/test_paths.h"
#include "longtail/cli/testing.h"
#include "longtail/train/config.h"

namespace longtail::cli {
namespace {

using testing::HasSubstr;

TEST(ParamsCommand, PrintsTheCommittedPage) {
  const Outcome outcome = run_program({"params", "--markdown"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.out, base::read_text(base::source_dir() + "/docs/parameters.md"))
      << "`longtail params --markdown > docs/parameters.md` makes it anew";
}

TEST(ParamsCommand, NamesEveryParameter) {
  const Outcome outcome = run_program({"params"});
  for (const std::string& name : train::run_params().names())
    EXPECT_THAT(outcome.out, HasSubstr("  " + name + " "));
}

}  // namespace
}  // namespace longtail::cli
