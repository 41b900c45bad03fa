// Beside the paper: its own numbers, its published logs, and partial or contrary ones of ours.
#include "longtail/report/claims.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "longtail/base/test_paths.h"
#include "longtail/report/against.h"
#include "longtail/report/report.h"
#include "longtail/report/tables.h"
#include "longtail/report/test_logs.h"

namespace longtail::report {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// By its sentence and its ratio: "..., ρ = 100".
const Claim& claim(const std::vector<Claim>& claims, const std::string& sentence) {
  for (const Claim& one : claims) {
    if (one.sentence + ", ρ = " + one.rho == sentence) return one;
  }
  throw std::runtime_error("no claim " + sentence);
}

// Some of the paper's runs, as a CSV of ours.
Results some_runs(
    const std::function<bool(const RunResult&)>& wanted,
    const std::function<void(RunResult&)>& change = [](RunResult&) {}) {
  std::vector<RunResult> runs;
  for (RunResult run : paper_results().runs) {
    if (!wanted(run)) continue;
    change(run);
    runs.push_back(std::move(run));
  }
  return detail::arrange(std::move(runs), {}, {});
}

std::vector<std::string> words(const std::vector<Cell>& row) {
  std::vector<std::string> all;
  all.reserve(row.size());
  for (const Cell& cell : row) all.push_back(printed(cell));
  return all;
}

TEST(AgainstTest, ThePaperAgainstItselfDiffersNowhereAndEveryClaimThatACsvCanTellHolds) {
  const Against against = against_paper(paper_results(), {});
  ASSERT_EQ(against.tables.size(), 3u);
  EXPECT_EQ(against.tables[0].rows.size(), 44u);  // 12 cells of four metrics less four empty tails
  for (const auto& row : against.tables[0].rows) EXPECT_EQ(printed(row[6]), "+0.00");
  EXPECT_THAT(against.refusals, IsEmpty());
  EXPECT_THAT(against.statements, Not(Contains(HasSubstr("missing"))));
  EXPECT_EQ(against.claims.size(), 17u);
  for (const Claim& one : against.claims) {
    const bool last_epoch = one.sentence.find("last epoch") != std::string::npos;
    EXPECT_EQ(one.ours.verdict, last_epoch ? Verdict::kOpen : Verdict::kHolds) << one.sentence;
    EXPECT_FALSE(one.ours.partial) << one.sentence;
  }
  EXPECT_EQ(claim(against.claims, "Tail: progressive is above uniform for every seed, ρ = 100").paper,
            "+2.72 points, 3 of 3 seeds above");
  EXPECT_EQ(
      claim(against.claims, "Class-balanced is below uniform on head and medium, not on the tail, ρ = 50")
          .paper,
      "head -7.6, medium -2.8, tail +0.2");
}

TEST(AgainstTest, OurPairsStandUnderThePapers) {
  const Table paired = paired_beside_paper(paper_results(), paper_results(), {});
  ASSERT_EQ(paired.rows.size(), 10u);  // overall at three ratios, tail at two, each twice
  EXPECT_THAT(words(paired.rows[8]),
              ElementsAre("Tail", "100", "Paper", "+2.13", "+3.23", "+2.81", "+2.72", "3/3"));
  EXPECT_THAT(words(paired.rows[9]),
              ElementsAre("Tail", "100", "Ours", "+2.13", "+3.23", "+2.81", "+2.72", "3/3"));
}

TEST(AgainstTest, PartOfTheRunsIsComparedAndTheRestIsNamed) {
  const Results part = some_runs([](const report::RunResult& run) {
    return run.rho == 100 && (run.seed == 42 || (run.seed == 123 && run.strategy == "uniform")) &&
           run.strategy != "square_root";
  });
  const Against against = against_paper(part, {});
  EXPECT_THAT(
      against.statements,
      Contains(
          "Of the paper's 36 runs, 32 are missing here. ρ = 10: all; ρ = 50: all; ρ = 100: Uniform (seed "
          "456), Class-Balanced (seeds 123, 456), Square-Root, Progressive (seeds 123, 456)."));
  EXPECT_EQ(against.tables[0].rows.size(), 12u);
  EXPECT_THAT(words(against.tables[0].rows[3]),
              ElementsAre("100", "Uniform", "Tail", "10.8 ± 0.9", "11.3 ± 0.6", "2", "+0.54", "+0.7"));
  EXPECT_EQ(printed(against.tables[0].rows[11][4]), "14.1");  // one seed has no deviation
  const auto verdict = [&](const std::string& sentence) {
    return verdict_words(claim(against.claims, sentence).ours);
  };
  EXPECT_EQ(verdict("Tail: progressive is above uniform for every seed, ρ = 100"), "holds so far");
  EXPECT_THAT(against.statements,
              Contains(AllOf(HasSubstr("Of the paper's 17 claims"), HasSubstr(" so far, "))));
  EXPECT_THAT(against.statements, Not(Contains(HasSubstr("of them so far"))));
  EXPECT_EQ(verdict("Tail: progressive has the highest mean of the four, ρ = 100"), "cannot be told");
  EXPECT_EQ(verdict("Overall: the seeds disagree whether progressive is above uniform, ρ = 100"),
            "cannot be told");
  EXPECT_EQ(verdict("Tail: progressive is above uniform for every seed, ρ = 50"), "cannot be told");
  EXPECT_EQ(claim(against.claims, "Tail: progressive has the highest mean of the four, ρ = 100").ours.words,
            "no run of Square-Root");
}

TEST(AgainstTest, OfTheClaimsThatHoldItIsCountedHowManyDoSoFar) {
  const Against against = against_paper(some_runs([](const report::RunResult& run) {
                                          return run.rho == 100 || (run.rho == 50 && run.seed == 42);
                                        }),
                                        {});
  int hold = 0, so_far = 0, open = 0;
  for (const Claim& one : against.claims) {
    hold += one.ours.verdict == Verdict::kHolds;
    so_far += one.ours.verdict == Verdict::kHolds && one.ours.partial;
    open += one.ours.verdict == Verdict::kOpen;
  }
  EXPECT_GT(so_far, 0);
  EXPECT_GT(hold, so_far);
  ASSERT_EQ(hold + open, 17);
  EXPECT_THAT(against.statements, Contains("Of the paper's 17 claims " + std::to_string(hold) + " hold (" +
                                           std::to_string(so_far) + " of them so far), 0 do not, " +
                                           std::to_string(open) + " cannot be told."));
}

TEST(AgainstTest, ASingleRunIsComparedAndTheTerminalSaysThatNoFindingCanBeTold) {
  const test::Folder logs("single");
  logs.add("a", test::make_log({"uniform", 100, 42, 200}));
  ReportOptions options;
  options.inputs = {logs.path()};
  options.against_paper = true;
  const std::string words = to_terminal(make_report(options));
  EXPECT_THAT(words, HasSubstr("Of the paper's 36 runs, 35 are missing here."));
  EXPECT_THAT(words, HasSubstr("Of the paper's 17 claims 0 hold, 0 do not, 17 cannot be told."));
  EXPECT_THAT(words, HasSubstr("The paper's findings cannot be told yet"));
  EXPECT_THAT(words, Not(HasSubstr("on average (")));
}

TEST(AgainstTest, ContraryNumbersDoNotHold) {
  const Results other = some_runs([](const report::RunResult& run) { return run.rho == 100; },
                                  [](report::RunResult& run) {
                                    if (run.strategy == "progressive" && run.seed == 456) run.best[3] = 9;
                                    if (run.strategy == "class_balanced") run.best = {41, 68, 40, 12};
                                    if (run.strategy == "progressive") run.best[0] += 3;
                                  });
  const Against against = against_paper(other, {});
  for (const char* sentence : {"Tail: progressive is above uniform for every seed, ρ = 100",
                               "Overall: the seeds disagree whether progressive is above uniform, ρ = 100",
                               "Class-balanced is below uniform on head, medium and tail, ρ = 100",
                               "Overall: class-balanced has the lowest mean of the four, ρ = 100",
                               "Overall: square-root lies between class-balanced and uniform, ρ = 100"}) {
    EXPECT_EQ(verdict_words(claim(against.claims, sentence).ours), "does not hold") << sentence;
  }
  EXPECT_THAT(against.statements[0],
              HasSubstr("within 7.03 points in every cell compared (+7.03 for Class-Balanced"));
}

TEST(AgainstTest, OneContrarySeedSettlesItAndTwoThatAgreeDoNot) {
  const Results two =
      some_runs([](const report::RunResult& run) { return run.rho == 100 && run.seed != 456; },
                [](report::RunResult& run) {
                  if (run.strategy == "progressive" && run.seed == 42) run.best[3] = 9;
                });
  const Against against = against_paper(two, {});
  EXPECT_EQ(
      verdict_words(claim(against.claims, "Tail: progressive is above uniform for every seed, ρ = 100").ours),
      "does not hold");
  EXPECT_EQ(verdict_words(claim(against.claims,
                                "Overall: the seeds disagree whether progressive is above uniform, ρ = 100")
                              .ours),
            "cannot be told");
}

TEST(AgainstTest, MeansAreOfTheSeedsThatAllStrategiesHave) {
  // A second seed of uniform alone, so low that by its mean over both nothing would be above class-balanced.
  const Results uneven = some_runs(
      [](const report::RunResult& run) {
        return run.rho == 100 && (run.seed == 42 || (run.seed == 123 && run.strategy == "uniform"));
      },
      [](report::RunResult& run) {
        if (run.seed == 123) run.best = {1, 1, 1, 1};
      });
  const Results even =
      some_runs([](const report::RunResult& run) { return run.rho == 100 && run.seed == 42; });
  const auto ours = against_paper(uneven, {}).claims, expected = against_paper(even, {}).claims;
  ASSERT_EQ(ours.size(), expected.size());
  for (std::size_t i = 0; i < ours.size(); ++i) {
    EXPECT_EQ(ours[i].ours.words, expected[i].ours.words) << ours[i].sentence;
    EXPECT_EQ(ours[i].ours.verdict, expected[i].ours.verdict) << ours[i].sentence;
  }
  const Results apart = some_runs([](const report::RunResult& run) {
    return run.rho == 100 && run.seed == (run.strategy == "uniform" ? 123 : 42);
  });
  EXPECT_EQ(claim(against_paper(apart, {}).claims,
                  "Overall: class-balanced has the lowest mean of the four, ρ = 100")
                .ours.words,
            "no seed that all four have");
}

TEST(AgainstTest, ATiedSeedNeitherProvesNorRefutesThatTheSeedsDisagree) {
  const auto verdict = [](std::int64_t seeds, std::int64_t below) {
    std::vector<RunResult> runs;
    for (std::int64_t seed = 1; seed <= seeds; ++seed) {
      for (const char* strategy : {"uniform", "progressive"}) {
        RunResult& run = runs.emplace_back();
        run.strategy = strategy;
        run.series = Series(strategy);
        run.rho = 100;
        run.seed = seed;
        const double own = run.strategy == "uniform" || seed == 1 ? 40
                           : seed == below                        ? 39
                                                                  : 41;  // the first is tied
        run.best = {own, 60, 40, 12, own};
      }
    }
    const auto claims = judge_claims(detail::arrange(std::move(runs), {}, {}), paper_results(), {});
    return verdict_words(
        claim(claims, "Overall: the seeds disagree whether progressive is above uniform, ρ = 100").ours);
  };
  EXPECT_EQ(verdict(1, 0), "cannot be told");
  EXPECT_EQ(verdict(2, 0), "cannot be told");
  EXPECT_EQ(verdict(3, 0), "does not hold");
  EXPECT_EQ(verdict(3, 3), "holds");
}

TEST(AgainstTest, AnotherNetworkOtherDataAnotherEpochOrARebalancedNetworkIsNotThePapers) {
  const auto refusals = [](const std::map<std::string, std::string>& settings) {
    const test::Folder logs("not_the_papers");
    train::RunLog log = test::make_log({"uniform", 100, 42, 200});
    for (const auto& [key, value] : settings) log.config[key] = value;
    logs.add("a", log);
    const Results results = read_results(std::vector{logs.path()});
    EXPECT_EQ(comparable_with_paper(results).runs.empty(), !against_paper(results, {}).refusals.empty());
    return against_paper(results, {}).refusals;
  };
  // At the defaults a log leaves some of these out.
  EXPECT_THAT(refusals({}), IsEmpty());
  EXPECT_THAT(refusals({{"n_max", "0"}, {"counts_file", ""}, {"width", "1"}}), IsEmpty());
  EXPECT_THAT(refusals({{"width", "2"}}), ElementsAre(HasSubstr("differs: width (1 there, 2 here).")));
  EXPECT_THAT(refusals({{"n_max", "250"}}), ElementsAre(HasSubstr("n_max (500 there, 250 here)")));
  EXPECT_THAT(refusals({{"image_size", "64"}}), ElementsAre(HasSubstr("image_size (32 there, 64 here)")));
  EXPECT_THAT(refusals({{"select", "last"}}), ElementsAre(HasSubstr("select (overall there, last here)")));
  EXPECT_THAT(refusals({{"rebalance", "crt"}}), ElementsAre(HasSubstr("rebalance (none there, crt here)")));
  EXPECT_THAT(refusals({{"counts_file", "mine"}}), ElementsAre(HasSubstr("(none there, mine here)")));
}

TEST(AgainstTest, OfAGridOverTheWidthOnlyTheNetworkOfThePaperIsComparedAndASelectedEpochIsSaid) {
  const test::Folder logs("widths");
  train::RunLog log = test::make_log({"uniform", 100, 42, 200});
  logs.add("a", log);
  log.config["width"] = "2";
  logs.add("b", log);
  const std::vector<std::filesystem::path> paths = {logs.path()};
  const Results same = comparable_with_paper(read_results(paths));
  ASSERT_EQ(same.runs.size(), 1u);
  EXPECT_FALSE(same.runs[0].config.contains("width"));
  EXPECT_THAT(same.warnings, IsEmpty()) << "the other is no second run of the paper's";
  EXPECT_THAT(against_paper(read_results(paths), {}).tables.at(0).notes,
              Not(Contains(HasSubstr("--select"))));
  const Results tail = read_results(paths, {.select = Select::kTail, .epochs = std::nullopt});
  EXPECT_THAT(against_paper(tail, {}).tables.at(0).notes,
              Contains(HasSubstr("Ours at the epoch with the highest tail accuracy on the test images")));
}

TEST(AgainstTest, ARunDoneOnTwoEnginesCountsOnceAndAnotherProtocolDoesNot) {
  const test::Folder logs("twice");
  train::RunLog log = test::make_log({"uniform", 100, 42, 200});
  logs.add("a", log);
  log.fingerprint.engine = "amx";
  logs.add("b", log);
  log.config["lr"] = "0.2";
  logs.add("c", log);
  const Results same = comparable_with_paper(read_results(std::vector{logs.path()}));
  EXPECT_EQ(same.runs.size(), 1u);
  EXPECT_THAT(test::texts(same.series), ElementsAre("uniform"));
  EXPECT_THAT(same.warnings, ElementsAre(HasSubstr("seed 42")));
}

// The paper's published logs of rho = 100, as far as its tables look at them: overall, head, medium and tail
// at the best and at the last epoch, in its own form.
struct Published {
  const char* strategy;
  std::int64_t seed;
  int best_epoch;
  std::array<double, 4> best, last;
};
constexpr std::array<Published, 12> kPublished = {{
    {"uniform", 42, 197, {40.27, 66.142857, 39.441176, 11.967742}, {40.17, 66.371429, 39.235294, 11.612903}},
    {"uniform", 123, 200, {39.30, 66.4, 37.470588, 10.709677}, {39.30, 66.4, 37.470588, 10.709677}},
    {"uniform", 456, 184, {39.65, 67.485714, 38.294118, 9.709677}, {39.56, 67.457143, 38.147059, 9.612903}},
    {"class_balanced",
     42,
     180,
     {34.13, 57.657143, 31.558824, 10.387097},
     {33.91, 57.285714, 31.382353, 10.290323}},
    {"class_balanced",
     123,
     189,
     {32.82, 56.371429, 31.617647, 7.548387},
     {32.69, 56.428571, 31.264706, 7.451613}},
    {"class_balanced",
     456,
     188,
     {34.97, 59.057143, 33.235294, 9.677419},
     {34.82, 58.485714, 33.352941, 9.709677}},
    {"square_root", 42, 175, {37.84, 62.685714, 36.352941, 11.419355}, {37.82, 62.6, 36.705882, 11.064516}},
    {"square_root", 123, 180, {38.33, 64.028571, 37.058824, 10.709677}, {38.13, 63.8, 37.029412, 10.354839}},
    {"square_root", 456, 172, {38.22, 64.685714, 36.147059, 10.612903}, {38.11, 65.2, 35.911765, 9.935484}},
    {"progressive",
     42,
     181,
     {40.88, 64.742857, 40.735294, 14.096774},
     {40.58, 64.285714, 40.617647, 13.774194}},
    {"progressive",
     123,
     183,
     {39.82, 64.828571, 37.676471, 13.935484},
     {39.47, 64.857143, 37.382353, 13.096774}},
    {"progressive", 456, 177, {39.38, 65.0, 37.5, 12.516129}, {39.13, 64.285714, 37.470588, 12.548387}},
}};

void add_run(const test::Folder& folder, const Published& run) {
  train::RunLog log = test::make_log({run.strategy, 100, run.seed, 200});
  const std::array<std::vector<double>*, 4> lists = {&log.test_acc, &log.head_acc, &log.medium_acc,
                                                     &log.tail_acc};
  for (std::size_t m = 0; m < lists.size(); ++m) {
    lists[m]->assign(200, run.best[m] / 2);
    lists[m]->at(199) = run.last[m];
    lists[m]->at(static_cast<std::size_t>(run.best_epoch) - 1) = run.best[m];
  }
  log.best.accuracy = {run.best[0], run.best[1], run.best[2], run.best[3], 4.0};
  test::add_published(folder, log);
}

TEST(PublishedLogsTest, GiveThePapersNumbersAtTheBestAndAtTheLastEpoch) {
  const test::Folder folder("published_numbers");
  for (const Published& run : kPublished) add_run(folder, run);
  const Results results = read_results(std::vector{folder.path()});
  EXPECT_THAT(results.warnings, ElementsAre(HasSubstr("12 logs carry no fingerprint")));

  const Table table = *best_final_table(results, {});  // Table "Best-epoch versus final-epoch" of the paper
  EXPECT_THAT(words(table.rows[0]), ElementsAre("100", "Uniform", "39.7 ± 0.4", "39.7 ± 0.4", "0.06"));
  EXPECT_THAT(words(table.rows[1]), ElementsAre("100", "Class-Balanced", "34.0 ± 0.9", "33.8 ± 0.9", "0.17"));
  EXPECT_THAT(words(table.rows[2]), ElementsAre("100", "Square-Root", "38.1 ± 0.2", "38.0 ± 0.1", "0.11"));
  EXPECT_THAT(words(table.rows[3]), ElementsAre("100", "Progressive", "40.0 ± 0.6", "39.7 ± 0.6", "0.30"));

  SummaryOptions last;
  last.at = At::kLast;
  const Summary summary = summarise(results, last);
  const Comparison* tail = find_comparison(summary, Series("progressive"), Condition(100), Metric::kTail);
  std::vector<std::string> differences;
  for (double d : tail->differences) differences.push_back(fixed(d, 2, true));
  EXPECT_THAT(differences, ElementsAre("+2.16", "+2.39", "+2.94"));
  EXPECT_EQ(fixed(tail->mean, 2, true), "+2.49");

  const Against against = against_paper(results, {});
  for (const auto& row : against.tables[0].rows) EXPECT_EQ(printed(row[6]), "+0.00");
  int hold = 0;
  for (const Claim& one : against.claims) {
    EXPECT_NE(one.ours.verdict, Verdict::kFails) << one.sentence;
    hold += one.ours.verdict == Verdict::kHolds;
    if (one.ours.verdict == Verdict::kHolds) {
      EXPECT_EQ(one.paper, one.ours.words) << one.sentence;
    }
  }
  EXPECT_EQ(hold, 7);  // the others are about other ratios
}

TEST(SummaryFileTest, TellsFindingsClaimsAndWhatIsMissingInMarkdown) {
  const test::Folder logs("summary_in"), out("summary_out");
  for (const Published& run : kPublished) add_run(logs, run);
  ReportOptions options;
  options.inputs = {logs.path()};
  options.out = out.path();
  options.against_paper = options.tables_only = true;
  write_report(make_report(options), options);
  const std::string summary = base::read_text(out.path() / "summary.md");
  EXPECT_THAT(summary, HasSubstr("# Sampling strategies on CIFAR-100-LT\n\n12 runs"));
  EXPECT_THAT(summary,
              HasSubstr("- ● Tail accuracy at ρ = 100: Progressive is above Uniform by 2.72 points"));
  EXPECT_THAT(summary, HasSubstr("Of the paper's 36 runs, 24 are missing here."));
  EXPECT_THAT(summary, HasSubstr("Of the paper's 17 claims 7 hold, 0 do not, 10 cannot be told."));
  for (const char* caption :
       {"**Overall test accuracy", "**Paired differences per seed, Progressive minus Uniform",
        "**Best epoch against last epoch", "**Ours beside the paper's", "**The paper's findings",
        "**Per-group test accuracy (%) at ρ = 100"})
    EXPECT_THAT(summary, HasSubstr(caption));
  if (!test::has_latex()) GTEST_SKIP() << test::kNoLatex;
  EXPECT_EQ(test::latex_complaint(out.path() / "tables"), "");
}

TEST(AgainstCurvesTest, TheCommittedRunsHaveNesterovsMomentumAndThePlainRunThePublishedLoss) {
  const auto against = [](const std::string& folder) {
    const std::vector<std::filesystem::path> paths = {base::source_dir() + "/results/" + folder};
    return against_paper(read_results(paths), {});
  };
  const Against twelve = against("cifar100-lt");
  EXPECT_THAT(twelve.statements, testing::Contains(testing::AllOf(
                                     HasSubstr("12 runs had Nesterov's momentum"),
                                     HasSubstr("of the 6 that have a published curve is 10% below it"),
                                     HasSubstr("not the protocol of the published"))));
  const Against both = against("both-ways");
  EXPECT_THAT(both.statements, testing::Contains(testing::AllOf(
                                   HasSubstr("1 run had plain momentum"), HasSubstr("its training loss"),
                                   HasSubstr("the protocol that the published curves"))));
  const auto curves = std::find_if(twelve.tables.begin(), twelve.tables.end(),
                                   [](const Table& table) { return table.id == "against_curves"; });
  ASSERT_NE(curves, twelve.tables.end());
  // Uniform, epochs 21 to 50: published 1.133, ours 1.009 to 1.025.
  EXPECT_EQ(printed(curves->rows[1][4]), "1.133");
  EXPECT_EQ(printed(curves->rows[1][6]), "1.009");
  EXPECT_EQ(printed(curves->rows[1][7]), "1.025");
}

}  // namespace
}  // namespace longtail::report
