#include "longtail/base/gnuplot.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "longtail/base/confine.h"
#include "longtail/base/error.h"
#include "longtail/base/file.h"

namespace longtail::base {
namespace {

std::filesystem::path scratch(const std::string& name) {
  return std::filesystem::path(testing::TempDir()) / ("longtail_gnuplot_test_" + name);
}

TEST(GnuplotTest, TheSameFigureHasTheSameBytes) {
  if (!has_gnuplot()) GTEST_SKIP() << "gnuplot is not installed";
  Figure figure;
  figure.block("line", "0 1\n1 3\n2 2\n");
  figure.script("plot $line with lines title 'class_balanced'");
  for (const char* ending : {".pdf", ".svg", ".png"}) {
    const auto path = scratch(std::string("line") + ending);
    figure.write(path);
    const auto first = read_bytes(path);
    figure.write(path);
    EXPECT_GT(first.size(), 500u) << ending;
    EXPECT_EQ(first, read_bytes(path)) << ending;
    std::filesystem::remove(path);
  }
}

TEST(GnuplotTest, AComplaintOfGnuplotIsRepeatedAndNoFileIsLeft) {
  if (!has_gnuplot()) GTEST_SKIP() << "gnuplot is not installed";
  Figure figure;
  figure.script("plot nonsense(");
  try {
    figure.write(scratch("bad.pdf"));
    FAIL() << "gnuplot took nonsense";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("bad.pdf"));
    EXPECT_THAT(error.what(), testing::HasSubstr("nonsense"));
  }
  EXPECT_FALSE(std::filesystem::exists(scratch("bad.pdf")));
}

// Every way that gnuplot has to start a program or to write a file, as a script: what a name that broke out
// of its quotes could do.
TEST(GnuplotTest, AScriptCanNeitherRunACommandNorWriteAFile) {
  if (!has_gnuplot()) GTEST_SKIP() << "gnuplot is not installed";
  const std::filesystem::path mark = scratch("pwned");
  const std::string touch = "touch " + mark.string();
  const std::vector<std::string> scripts = {"system('" + touch + "')",
                                            "system '" + touch + "'",
                                            "x = system('" + touch + "')",
                                            "!" + touch,
                                            "x = \"`" + touch + "`\"",
                                            "plot '< " + touch + "'",
                                            "set print '|" + touch + "'; print 1",
                                            "set output '|" + touch + "'\nplot x\nset output",
                                            "set output '" + mark.string() + "'\nplot x\nset output",
                                            "set print '" + mark.string() + "'; print 1",
                                            "set table '" + mark.string() + "'\nplot x\nunset table",
                                            "save '" + mark.string() + "'",
                                            "shell " + touch,
                                            "load '< " + touch + "'"};
  for (const std::string& script : scripts) {
    Figure figure;
    figure.script(script);
    figure.script("plot sin(x)");
    try {
      figure.write(scratch("figure.svg"));
    } catch (const Error&) {  // gnuplot may go on without what it was refused, or stop
    }
    EXPECT_FALSE(std::filesystem::exists(mark)) << script;
    std::filesystem::remove(mark);
  }
  std::filesystem::remove(scratch("figure.svg"));
}

// What the kernel refuses is refused to any program, in any language.
TEST(ConfineTest, AConfinedProgramStartsNoOtherAndWritesNothingButItsOutput) {
  const std::filesystem::path mark = scratch("mark"), out = scratch("out"), messages = scratch("messages");
  const ConfinedOptions options{{"PATH=/usr/bin:/bin"}, out.string(), messages.string()};
  const auto run = [&](const std::string& script) { return run_confined("sh", {"-c", script}, options); };
  ASSERT_EQ(run("echo hello").end, ConfinedEnd::kExited);
  EXPECT_EQ(read_text(out), "hello\n");
  for (const std::string& script : std::vector<std::string>{
           "exec touch " + mark.string(), "touch " + mark.string(), "echo x >" + mark.string(),
           "echo x >>" + mark.string(), "(echo x)", "echo x | read y"}) {
    EXPECT_NE(run(script).code, 0) << script;
    EXPECT_FALSE(std::filesystem::exists(mark)) << script;
  }
  EXPECT_EQ(run("read line </etc/hostname; echo read").code, 0) << "reading is allowed";
  EXPECT_EQ(run_confined("no-such-program", {}, options).end, ConfinedEnd::kNoProgram);
  for (const auto& path : {mark, out, messages}) std::filesystem::remove(path);
}

TEST(GnuplotTest, AnUnknownEndingIsRefused) { EXPECT_THROW(Figure().write("figure.bmp"), Error); }

}  // namespace
}  // namespace longtail::base
