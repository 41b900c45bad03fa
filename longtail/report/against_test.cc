// Which of our runs the paper's findings are judged by: one momentum, the paper's seeds, the same seeds on both sides.
#include "longtail/report/against.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "longtail/base/test_paths.h"
#include "longtail/report/test_logs.h"

namespace longtail::report {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// What is said of each claim, with our numbers.
std::vector<std::string> verdicts_of(const Against& against) {
  std::vector<std::string> all;
  for (const Claim& one : against.claims)
    all.push_back(
        fmt::format("{} at {}: {} ({})", one.sentence, one.rho, verdict_words(one.ours), one.ours.words));
  return all;
}

std::set<std::string> momenta_of(const Results& results) {
  std::set<std::string> all;
  for (const RunResult& run : results.runs) all.insert(momentum_of(run));
  return all;
}

TEST(MomentumTest, TheCommittedRunsOfBothMomentaGiveTheClaimsOfThePlainOnesInAnyOrder) {
  const std::string folder = base::source_dir() + "/results/";
  const std::filesystem::path plain = folder + "cifar100-lt-as-run", both = folder + "both-ways",
                              nesterov = folder + "cifar100-lt";
  const auto expected = verdicts_of(against_paper(read_results(std::vector{plain}), {}));
  for (const auto& paths :
       {std::vector{both, plain}, std::vector{plain, both}, std::vector{nesterov, plain}}) {
    const Results results = read_results(paths);
    EXPECT_EQ(momenta_of(results).size(), 2u);
    EXPECT_THAT(momenta_of(comparable_with_paper(results)), ElementsAre("plain"));
    const Against against = against_paper(results, {});
    EXPECT_EQ(verdicts_of(against), expected);
    EXPECT_THAT(
        against.statements,
        Contains(testing::AllOf(HasSubstr("runs with plain momentum: between runs of two momenta"),
                                HasSubstr("curves only: "), HasSubstr(" with Nesterov's momentum."))));
  }
  EXPECT_THAT(against_paper(read_results(std::vector{plain}), {}).statements,
              Not(Contains(HasSubstr("two momenta"))));
}

// A run of two momenta is two runs; of a run on two engines the one on the engine of its seed's others is taken.
TEST(MomentumTest, TheMomentumWithMostCellsIsTakenThenMostRunsThenPlain) {
  const auto add = [](const test::Folder& logs, const std::string& strategy, std::int64_t seed,
                      const char* nesterov, const std::string& engine = "onednn") {
    train::RunLog log = test::make_log({strategy, 100, seed, 200});
    log.config["nesterov"] = nesterov;
    log.fingerprint.engine = engine;
    logs.add(fmt::format("{}_{}_{}_{}", strategy, seed, nesterov, engine), log);
  };
  const auto taken = [](const test::Folder& logs) {
    return comparable_with_paper(read_results(std::vector{logs.path()}));
  };
  const test::Folder logs("momenta");
  add(logs, "uniform", 42, "true");
  add(logs, "uniform", 42, "false");
  EXPECT_THAT(momenta_of(taken(logs)), ElementsAre("plain"));
  add(logs, "uniform", 123, "true");
  EXPECT_THAT(momenta_of(taken(logs)), ElementsAre("Nesterov"));
  EXPECT_EQ(missing_of_paper(taken(logs)).find("Of the paper's 36 runs, 34 are missing here."), 0u);
  add(logs, "progressive", 42, "false");
  EXPECT_THAT(momenta_of(taken(logs)), ElementsAre("plain"));
  EXPECT_THAT(taken(logs).warnings, ElementsAre(HasSubstr("go by the 2 runs with plain momentum")));
  add(logs, "uniform", 42, "false", "amx");
  const Results twice = taken(logs);
  EXPECT_THAT(twice.warnings,
              Contains(HasSubstr("Uniform (engine=amx, nesterov=false) at ρ = 100, seed 42")));
  EXPECT_EQ(twice.find(Series("uniform"), Condition(100), 42)->log->fingerprint.engine, "onednn");
}

TEST(MissingTest, OnlyThePapersSeedsCountAsItsRuns) {
  std::vector<RunResult> runs;
  for (RunResult run : paper_results().runs) {
    if (run.rho == 100 && run.strategy == "uniform") run.seed += 1000;
    if (run.rho == 100 && run.strategy == "progressive" && run.seed != 42) run.seed += 1000;
    runs.push_back(std::move(run));
  }
  const Results results = detail::arrange(std::move(runs), {}, {});
  EXPECT_EQ(missing_of_paper(comparable_with_paper(results)),
            "Of the paper's 36 runs, 5 are missing here. ρ = 100: Uniform, Progressive (seeds 123, 456).");
}

TEST(RangeTest, GrowsByTheSeedsThatAllEightCellsHave) {
  const auto words = [](bool with_another) {
    std::vector<RunResult> runs;
    for (RunResult run : paper_results().runs) {
      if (run.rho == 50 || run.seed != 42) continue;
      runs.push_back(run);
      // A seed at rho = 10 only, in which class-balanced is far below the others.
      if (!with_another || run.rho != 10) continue;
      run.seed = 7;
      if (run.strategy == "class_balanced") run.best[0] = 1;
      runs.push_back(std::move(run));
    }
    const Against against = against_paper(detail::arrange(std::move(runs), {}, {}), {});
    const Claim& last = against.claims.back();
    EXPECT_EQ(last.rho, "10, 100");
    return fmt::format("{}: {}", verdict_words(last.ours), last.ours.words);
  };
  EXPECT_EQ(words(true), words(false));
  EXPECT_THAT(words(true), HasSubstr("holds so far"));

  std::vector<RunResult> apart;
  for (RunResult run : paper_results().runs) {
    if (run.rho != 50 && run.seed == (run.rho == 10 ? 42 : 123)) apart.push_back(std::move(run));
  }
  const Against none = against_paper(detail::arrange(std::move(apart), {}, {}), {});
  EXPECT_EQ(none.claims.back().ours.words, "no seed that all four have at both");
  EXPECT_EQ(verdict_words(none.claims.back().ours), "cannot be told");
}

TEST(ProtocolTest, ARebalancedRunHasTheEpochsOfItsTraining) {
  const test::Folder logs("rebalanced_protocol");
  train::RunLog log = test::make_log({"uniform", 100, 42, 1});
  log.config["rebalance"] = "ncm";
  log.parent = train::Parent{.protocol = "p", .network = "n", .epochs = 200};
  logs.add("ncm", log);
  const std::vector<std::string> refusals =
      against_paper(read_results(std::vector{logs.path()}), {}).refusals;
  EXPECT_THAT(refusals,
              ElementsAre(testing::AllOf(HasSubstr("The protocol differs: rebalance (none there, ncm here)."),
                                         Not(HasSubstr("epochs")))));
}

TEST(CsvAgainstTest, OtherDataThanThePapersAreRefused) {
  std::vector<std::string> warnings;
  const auto refusals = [&](const std::string& data) {
    const Results results = detail::arrange(
        read_csv("rho,strategy,seed,overall,head,medium,tail,data\n100,uniform,42,40,66,39,11," + data + "\n",
                 "a.csv", warnings),
        {}, {});
    return against_paper(results, {}).refusals;
  };
  EXPECT_THAT(refusals(""), IsEmpty());
  EXPECT_THAT(refusals("cifar100"), IsEmpty());
  EXPECT_THAT(refusals("cifar10"), ElementsAre(HasSubstr("dataset (cifar100 there, cifar10 here)")));
  EXPECT_THAT(warnings, IsEmpty());
}

}  // namespace
}  // namespace longtail::report
