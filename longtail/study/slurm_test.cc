#include "longtail/study/slurm.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "longtail/base/error.h"
#include "longtail/base/file.h"
#include "longtail/base/hostile_names.h"
#include "longtail/base/quote.h"
#include "longtail/base/text.h"
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

TEST(BatchScript, TakesPartitionsAsSlurmWritesThemAndRefusesWhatIsNone) {
  for (const char* partition : {"cpu", "cpu,long", "a_b-c.d"}) {
    SubmitOptions good = options();
    good.partition = partition;
    EXPECT_THAT(batch_script("paper", {"a"}, "/shared/list", good),
                HasSubstr(std::string("#SBATCH --partition=") + partition + "\n"));
  }
  for (const char* partition : {"cpu long", ",cpu", "cpu,", "cpu\n#SBATCH --uid=0", "$(id)"}) {
    SubmitOptions odd = options();
    odd.partition = partition;
    EXPECT_THROW(batch_script("paper", {"a"}, "/shared/list", odd), base::UsageError) << partition;
  }
}

TEST(BatchScript, AsksForGpusAndRefusesWhatIsNoNumberOfThem) {
  EXPECT_THAT(batch_script("paper", {"a"}, "/shared/list", options()), Not(HasSubstr("--gpus")));
  for (const char* gpus : {"1", "8", "a100:2"}) {
    SubmitOptions good = options();
    good.gpus = gpus;
    EXPECT_THAT(batch_script("paper", {"a"}, "/shared/list", good),
                HasSubstr(std::string("#SBATCH --gpus=") + gpus + "\n"));
  }
  for (const char* gpus : {"two", "-1", "1 2", "a100:", ":2", "1\n#SBATCH --uid=0", "$(id)"}) {
    SubmitOptions odd = options();
    odd.gpus = gpus;
    EXPECT_THROW(batch_script("paper", {"a"}, "/shared/list", odd), base::UsageError) << gpus;
  }
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

TEST(BatchScript, RefusesATimeThatIsNone) {
  for (const char* time : {"1:00\n#SBATCH --uid=0", "1h", "", "-1", "1:00:00:00", "2-", "$(id)"}) {
    SubmitOptions odd = options();
    odd.time = time;
    if (odd.time.empty()) continue;
    EXPECT_THROW(batch_script("paper", {"a"}, "/l", odd), base::UsageError) << time;
  }
  for (const char* time : {"90", "90:00", "1:30:00", "2-12", "2-12:30:00"}) {
    SubmitOptions good = options();
    good.time = time;
    EXPECT_NO_THROW(batch_script("paper", {"a"}, "/l", good)) << time;
  }
}

// As Slurm would run it: the script with everything in it named by somebody who wants more.
TEST(BatchScript, RunsNothingThatIsHiddenInAName) {
  const std::filesystem::path folder =
      std::filesystem::path(testing::TempDir()) / fmt::format("hostile_script.{}", ::getpid());
  std::filesystem::create_directories(folder);
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(folder);
  for (const std::string& name : base::hostile_names()) {
    SubmitOptions odd;
    odd.program = "/bin/true";
    odd.folder = name;
    odd.data = name;
    odd.partition = "cpu,long";
    if (std::any_of(name.begin(), name.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20; })) {
      EXPECT_THROW(batch_script(name, {name}, name, odd), base::UsageError);
      odd.folder = odd.data = "plain";
    }
    const std::string list = odd.folder;
    const std::string script = batch_script(name, {name}, list, odd);
    std::size_t headers = 0;
    for (const std::string& line : base::split(script, '\n')) headers += line.starts_with("#SBATCH ");
    EXPECT_EQ(headers, 6u) << script;
    base::write_atomically("script.sh", script);
    run_command({"env", "SLURM_ARRAY_TASK_ID=0", "SLURM_JOB_ID=1", "sh", "script.sh"});
    EXPECT_FALSE(std::filesystem::exists("PWNED")) << name;
    base::write_atomically("script.sh", [&] {
      SubmitOptions program = odd;
      program.program = "./" + list;
      return batch_script(name, {name}, "list", program);
    }());
    run_command({"env", "SLURM_ARRAY_TASK_ID=0", "SLURM_JOB_ID=1", "sh", "script.sh"});
    EXPECT_FALSE(std::filesystem::exists("PWNED")) << name;
  }
  std::filesystem::current_path(before);
  std::filesystem::remove_all(folder);
}

TEST(Sbatch, AnswersWithTheIdOfAJobWhateverTheSiteGreetsWith) {
  EXPECT_EQ(parse_sbatch("123\n"), "123");
  EXPECT_EQ(parse_sbatch("123;cluster\n"), "123");
  EXPECT_EQ(parse_sbatch("Welcome to the cluster!\nYour quota: 5\n\n123\n"), "123");
  for (const char* text : {"", "\n", "Submitted batch job 123", "123\nGoodbye."}) {
    try {
      parse_sbatch(text);
      FAIL() << text;
    } catch (const base::Error& error) {
      EXPECT_THAT(error.what(), HasSubstr("squeue --me")) << text;
    }
  }
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
    EXPECT_EQ(run_command({"sh", "-c", "printf %s " + base::quote::shell(word)}).out, word);
  }
}

}  // namespace
}  // namespace longtail::study
