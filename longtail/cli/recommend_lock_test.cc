// One command at a time in the folder of an answer, as a person meets it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "longtail/base/file.h"
#include "longtail/cli/testing.h"
#include "longtail/data/testing.h"
#include "longtail/study/lock.h"

namespace longtail::cli {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST(RecommendLock, ASecondCommandOnAFolderIsRefusedByTheNameOfTheFirst) {
  const data::TempFolder folder;
  const fs::path out = folder / "answer";
  base::make_folder(out);
  base::make_folder(folder / "photos");
  const std::vector<std::string> words = {"recommend", (folder / "photos").string(), "--out", out.string()};
  auto first = study::FileLock::try_take(out / "recommend.lock");
  ASSERT_TRUE(first);
  const Outcome second = run_program(words);
  EXPECT_EQ(second.code, 1) << second.out;
  EXPECT_THAT(second.err, AllOf(HasSubstr("another `longtail recommend` works in " + out.string()),
                                HasSubstr(study::host_name() + ", process " + std::to_string(::getpid()))));
  first.reset();
  EXPECT_THAT(run_program(words).err, Not(HasSubstr("another `longtail recommend`")));
}

TEST(RecommendLock, ARefusedCommandTakesAwayOnlyAFolderThatItMade) {
  const data::TempFolder folder;
  base::make_folder(folder / "there");
  for (const char* out : {"there", "none"}) {
    const Outcome wrong =
        run_program({"recommend", (folder / "fotos").string(), "--out", (folder / out).string()});
    EXPECT_EQ(wrong.code, 2) << wrong.err;
    EXPECT_THAT(wrong.err, HasSubstr("there is no folder"));
  }
  EXPECT_TRUE(fs::exists(folder / "there"));
  EXPECT_FALSE(fs::exists(folder / "none"));
}

}  // namespace
}  // namespace longtail::cli
