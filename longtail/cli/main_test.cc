#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "longtail/base/scoped_variable.h"
#include "longtail/base/text.h"
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

// An unset variable of the shell (--out "$OUT") must not mean the default, another data set or no limit.
TEST(Program, RefusesAnEmptyValue) {
  const std::vector<std::vector<std::string>> commands = {{"report", testing::TempDir(), "--out", ""},
                                                          {"report", ""},
                                                          {"study", "run", "paper.toml", "--out", ""},
                                                          {"study", "run", "--out", "x", "--for", ""},
                                                          {"sample", "--counts", ""},
                                                          {"sample", "--indices", "3", "--shard", ""},
                                                          {"subset", "--labels", ""},
                                                          {"train", "--out", ""},
                                                          {"train", "--out", "x", "--counts-file", ""},
                                                          {"theory", "--strategies", "uniform", ""}};
  for (const auto& words : commands) {
    const Outcome outcome = run_program(words);
    SCOPED_TRACE(base::join(words, " "));
    EXPECT_EQ(outcome.code, 2);
    EXPECT_THAT(outcome.err, HasSubstr("empty"));
  }
}

// Whatever a command does with a path that the system will not follow, it speaks in sentences.
TEST(Program, NeverShowsTheRawWordsOfTheLibrary) {
  const std::string loop = testing::TempDir() + "longtail_loop." + std::to_string(getpid());
  std::filesystem::remove(loop);
  std::filesystem::create_symlink(loop, loop);
  const std::vector<std::vector<std::string>> commands = {
      {"report", loop},
      {"compare", loop, loop},
      {"evaluate", loop},
      {"export", loop, "--out", loop},
      {"train", "--out", loop},
      {"train", "--dataset", "folder:" + loop, "--out", loop + ".run"},
      {"data", "info", "folder:" + loop},
      {"study", "status", loop},
      {"study", "check", loop},
      {"study", "run", "--out", loop},
      {"probe", loop}};
  for (const auto& words : commands) {
    const Outcome outcome = run_program(words);
    SCOPED_TRACE(words[0] + " " + words[1]);
    EXPECT_THAT(outcome.code, testing::AnyOf(1, 2));
    EXPECT_THAT(outcome.err, HasSubstr(loop));
    for (const char* raw : {"filesystem error", "status:", "basic_", "what()", "std::"})
      EXPECT_THAT(outcome.err, testing::Not(HasSubstr(raw)));
  }
  std::filesystem::remove(loop);
}

// The words of a line that are no example; only a single word may be longer than the width.
void expect_width(const std::string& text, std::size_t width) {
  for (const std::string& line : base::split(text, '\n')) {
    if (line.starts_with("  longtail ")) continue;
    const bool one_word = line.find(' ', line.find_first_not_of(' ')) == std::string::npos;
    EXPECT_TRUE(line.size() <= width || one_word) << line;
  }
}

TEST(Program, BarePrintsTheCommandsAndHelpExplainsOne) {
  const Outcome bare = run_program({});
  EXPECT_EQ(bare.code, 0);
  EXPECT_EQ(bare.out, run_program({"--help"}).out);
  EXPECT_EQ(bare.out, run_program({"help"}).out);
  EXPECT_THAT(bare.out, HasSubstr("\n  study       Run a grid"));
  EXPECT_EQ(run_program({"help", "study", "run"}).out, run_program({"study", "run", "--help"}).out);
  const Outcome unknown = run_program({"help", "study", "rnu"});
  EXPECT_EQ(unknown.code, 2);
  EXPECT_THAT(unknown.err, HasSubstr("`longtail study` has no command `rnu`; did you mean `run`?"));
}

TEST(Program, HelpIsBrokenAtTheWidthOfTheTerminal) {
  for (const char* columns : {"60", "80", "100"}) {
    const base::ScopedVariable width("COLUMNS", columns);
    for (const char* command : {"train", "sample", "study", "report", "probe", "data"}) {
      SCOPED_TRACE(std::string(command) + " at " + columns);
      expect_width(run_program({command, "--help"}).out, static_cast<std::size_t>(std::stoi(columns)));
    }
  }
}

TEST(Program, ExplanationsOfOptionsStayInTheirColumn) {
  for (const char* command : {"train", "sample", "report", "probe", "subset", "recommend"}) {
    int sections = 0;
    bool options = false;
    for (const std::string& line : base::split(run_program({command, "--help"}).out, '\n')) {
      if (line == "Options:" || line == "Arguments:") {
        options = true;
        ++sections;
      } else if (line.empty()) {
        options = false;
      } else if (options) {
        EXPECT_THAT(line, testing::StartsWith("  ")) << command;
      }
    }
    EXPECT_GT(sections, 0) << command;
  }
}

TEST(Program, ManPageAndCompletionsNameEveryCommandAndFlag) {
  const std::string man = run_program({"help", "--man"}).out;
  const std::string bash = run_program({"help", "--completion", "bash"}).out;
  const std::string fish = run_program({"help", "--completion", "fish"}).out;
  EXPECT_THAT(man, testing::StartsWith(".TH LONGTAIL 1"));
  EXPECT_THAT(man, HasSubstr(".SS \"longtail study run\""));
  EXPECT_THAT(man, HasSubstr("\\fB\\-\\-retry\\-failed\\fR"));
  EXPECT_THAT(man, testing::Not(HasSubstr("run\\-folder"))) << "what is hidden in --help is hidden here";
  EXPECT_THAT(fish, HasSubstr("-l retry-failed"));
  // bash itself completes with it.
  const auto completes = [&](const std::string& words, const std::string& current) {
    const std::string file = testing::TempDir() + "completion.bash";
    base::write_atomically(
        file, bash + "COMP_WORDS=(longtail " + words + " '" + current +
                  "'); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _longtail; echo \"${COMPREPLY[*]}\"\n");
    EXPECT_EQ(std::system(("bash " + file + " > " + file + ".out").c_str()), 0);
    return base::read_text(file + ".out");
  };
  EXPECT_EQ(completes("", "tr"), "train\n");
  EXPECT_EQ(completes("study", "st"), "status\n");
  EXPECT_EQ(completes("study run", "--retry"), "--retry-failed\n");
  EXPECT_EQ(completes("sample --per", "g"), "group\n");
  EXPECT_EQ(completes("help", "tr"), "train\n");
  EXPECT_EQ(completes("help study", "st"), "status\n");
  EXPECT_EQ(completes("help", "--man"), "--man\n");
  EXPECT_EQ(completes("help train", testing::TempDir()), "\n") << "no files: there is nothing to explain";
  // A name with blanks is one word.
  const std::string blanks = testing::TempDir() + "completion of a  name";
  base::write_atomically(blanks, "");
  EXPECT_EQ(completes("compare", testing::TempDir() + "completion of"), blanks + "\n");
  EXPECT_EQ(completes("sample --counts", testing::TempDir() + "completion of"), blanks + "\n");
}

}  // namespace
}  // namespace longtail::cli
