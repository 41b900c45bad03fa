#include "longtail/study/slurm.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "longtail/study/command.h"

namespace longtail::study {
namespace {

using testing::HasSubstr;
using testing::Not;

SubmitOptions options() {
  SubmitOptions options;
  options.program = "/opt/it's here/longtail";
  options.folder = "/shared/my study";
  return options;
}

TEST(BatchScript, IsAnArrayWithOneTaskARunThatIsRequeued) {
  const std::string script = batch_script("paper", {"a", "b", "c"}, "/shared/list", options());
  EXPECT_THAT(script, HasSubstr("#!/bin/sh\n#SBATCH --job-name=longtail-paper\n#SBATCH --array=0-2\n"));
  EXPECT_THAT(script, HasSubstr("#SBATCH --requeue\n"));
  EXPECT_THAT(script, Not(HasSubstr("--partition")));
}

TEST(BatchScript, HandsOnWhatIsAskedFor) {
  SubmitOptions all = options();
  all.partition = "cpu";
  all.time = "2:00:00";
  all.cpus = 4;
  all.max_parallel = 7;
  all.data = "/shared/data";
  const std::string script = batch_script("paper", {"a", "b"}, "/shared/list", all);
  EXPECT_THAT(script, HasSubstr("--array=0-1%7\n"));
  EXPECT_THAT(script, HasSubstr("#SBATCH --partition=cpu\n"));
  EXPECT_THAT(script, HasSubstr("#SBATCH --time=2:00:00\n"));
  EXPECT_THAT(script, HasSubstr("#SBATCH --cpus-per-task=4\n"));
  EXPECT_THAT(script, HasSubstr(" --threads 4 --data '/shared/data'"));
}

TEST(BatchScript, QuotesPathsAndKeepsOddNamesOutOfTheHeader) {
  const std::string script = batch_script("a\n#SBATCH --uid=0", {"a"}, "/shared/list", options());
  EXPECT_THAT(script, HasSubstr("'/opt/it'\\''s here/longtail' study run --out '/shared/my study'"));
  EXPECT_THAT(script, Not(HasSubstr("\n#SBATCH --uid")));
}

TEST(BatchScript, IsAShellScriptThatParses) {
  const CommandResult result = run_command({"sh", "-n", "-c", batch_script("paper", {"a"}, "/l", options())});
  EXPECT_EQ(result.code, 0) << result.err;
}

TEST(Squeue, IsReadIntoWordsForEachRun) {
  const std::vector<SlurmJob> jobs = {{"12", {"run-a", "run-b"}}, {"13", {"run-c"}}};
  const SlurmWords words = parse_squeue(
      "12_0|RUNNING|node3|12:04|None\n12_1|PENDING||0:00|Resources\n13_0|PENDING||0:00|None\n14_0|RUNNING|x|"
      "1|None\n"
      "12_9|RUNNING|x|1|None\nnonsense\n15|RUNNING|x|1|None\n",
      jobs);
  EXPECT_EQ(words, (SlurmWords{{"run-a", "RUNNING on node3 for 12:04"},
                               {"run-b", "PENDING (Resources)"},
                               {"run-c", "PENDING"}}));
}

TEST(Command, GivesBackWhatAProgramSays) {
  const CommandResult result = run_command({"sh", "-c", "echo out; echo err >&2; exit 3"});
  EXPECT_TRUE(result.found);
  EXPECT_EQ(result.code, 3);
  EXPECT_EQ(result.out, "out\n");
  EXPECT_EQ(result.err, "err\n");
  EXPECT_FALSE(run_command({"no-such-program-anywhere"}).found);
}

TEST(Command, QuotesAWordForTheShell) {
  for (const std::string word : {"plain", "two words", "it's", "$HOME `x` \"y\"", ""}) {
    EXPECT_EQ(run_command({"sh", "-c", "printf %s " + shell_quoted(word)}).out, word);
  }
}

}  // namespace
}  // namespace longtail::study
