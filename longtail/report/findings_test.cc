// Every sentence of the findings and of the recommendation against the tables of the same report, over many
// small grids: two strategies and more, one seed and more, missing runs, ties. What the tables say is checked
// against a slow calculation of its own.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <regex>

#include "longtail/report/page.h"
#include "longtail/report/report.h"
#include "longtail/report/tables.h"
#include "longtail/report/test_logs.h"

namespace longtail::report {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

constexpr std::array<const char*, 4> kStrategies = {"uniform", "class_balanced", "square_root",
                                                    "progressive"};

struct Grid {
  std::size_t strategies = 2, seeds = 3;
  bool missing = false;  // one run of five
  bool tie = false;      // the second strategy is a copy of the first
  double effect = 0;     // of the last strategy
  std::uint64_t key = 0;
};

// Accuracies on a coarse lattice, so that single seeds tie too.
std::string csv_of(const Grid& grid) {
  std::string out = "rho,strategy,seed,overall,head,medium,tail\n";
  for (std::size_t i = 0; i < grid.strategies; ++i) {
    for (std::size_t s = 0; s < grid.seeds; ++s) {
      const std::size_t source = grid.tie && i == 1 ? 0 : i;
      if (grid.missing && i + s > 0 && test::noise(grid.key, 90, 31 * i + s) > 0.84) continue;
      out += fmt::format("100,{},{}", kStrategies[i], s + 1);
      for (std::uint32_t metric = 0; metric < 4; ++metric) {
        const double value = 40 + 8.0 * metric + 2 * test::noise(grid.key, 50, 10 * s + metric) +
                             0.4 * test::noise(grid.key, metric, 100 * source + s) +
                             (i + 1 == grid.strategies ? grid.effect : 0);
        out += fmt::format(",{:.1f}", value);
      }
      out += "\n";
    }
  }
  return out;
}

struct Made {
  Results results;
  Summary summary;
  Table intervals;
};

Made make(const Grid& grid, const test::Folder& folder) {
  base::write_atomically(folder.path() / "mine.csv", csv_of(grid));
  const std::vector<std::filesystem::path> paths = {folder.path() / "mine.csv"};
  Made made{read_results(paths), {}, {}};
  made.summary = summarise(made.results, {});
  if (auto table = intervals_table(made.summary, Condition(100))) made.intervals = *table;
  return made;
}

// The difference from the baseline, slowly: strategy + seed by repeated sweeps, or where the spreads differ
// grossly the mean over the seeds that have both.
double slow_difference(const Made& made, Metric metric, const Series& series) {
  for (const FamilyOf& one : made.summary.families) {
    if (one.metric == metric && one.family.method == Method::kSeparate)
      return find_comparison(made.summary, series, Condition(100), metric)->mean;
  }
  const SeedTable t = seed_table(made.results, Condition(100), metric, At::kBest);
  std::vector<double> strategy(t.strategies(), 0), seed(t.seeds(), 0);
  for (int sweep = 0; sweep < 3000; ++sweep) {
    const auto centre = [&](auto& own, const auto& residual) {
      for (std::size_t i = 0; i < own.size(); ++i) {
        double sum = 0, count = 0;
        residual(i, sum, count);
        if (count > 0) own[i] = sum / count;
      }
    };
    centre(seed, [&](std::size_t s, double& sum, double& count) {
      for (std::size_t i = 0; i < t.strategies(); ++i) {
        if (std::isfinite(t.values[i][s])) sum += t.values[i][s] - strategy[i], count += 1;
      }
    });
    centre(strategy, [&](std::size_t i, double& sum, double& count) {
      for (std::size_t s = 0; s < t.seeds(); ++s) {
        if (std::isfinite(t.values[i][s])) sum += t.values[i][s] - seed[s], count += 1;
      }
    });
  }
  const auto row = [&](const Series& one) {
    return static_cast<std::size_t>(std::find(t.names.begin(), t.names.end(), one.text()) - t.names.begin());
  };
  return strategy[row(series)] - strategy[row(made.summary.baseline)];
}

// The row of the table of intervals that a finding is about.
const std::vector<Cell>* row_of(const Made& made, const Finding& finding) {
  for (const auto& row : made.intervals.rows) {
    if (row[0].text == metric_title(finding.metric) && row[1].text == finding.series.title()) return &row;
  }
  return nullptr;
}

struct Pairs {
  int above = 0, below = 0, all = 0;
  double sum = 0;
};
Pairs pairs_of(const Made& made, const Finding& finding) {
  Pairs pairs;
  for (const std::int64_t seed : made.results.seeds) {
    const RunResult* ours = made.results.find(finding.series, Condition(100), seed);
    const RunResult* theirs = made.results.find(made.summary.baseline, Condition(100), seed);
    if (!ours || !theirs) continue;
    const double d =
        accuracy(*ours, finding.metric, At::kBest) - accuracy(*theirs, finding.metric, At::kBest);
    pairs.above += d > 0;
    pairs.below += d < 0;
    pairs.all += 1;
    pairs.sum += d;
  }
  return pairs;
}

// Taken apart again by its own words.
void check_sentence(const Made& made, const Finding& finding) {
  SCOPED_TRACE(finding.sentence);
  const auto* row = row_of(made, finding);
  ASSERT_TRUE(row);
  const std::string verdict = (*row)[5].text;
  const double difference = (*row)[2].value, low = (*row)[3].value, high = (*row)[4].value;
  const Pairs pairs = pairs_of(made, finding);
  const std::string who = finding.series.title(), whom = made.summary.baseline.title();
  const std::string where = fmt::format("{} accuracy at ρ = 100: ", metric_title(finding.metric));
  EXPECT_EQ(finding.established, verdict == "established");
  EXPECT_NEAR(difference, slow_difference(made, finding.metric, finding.series), 1e-6);
  if (std::isfinite(low)) {
    EXPECT_NEAR(difference - low, high - difference, 1e-9);
    if (verdict != "no difference") {
      EXPECT_EQ(finding.established, low > 0 || high < 0);
    }
  } else {
    EXPECT_NE(verdict, "established");
    EXPECT_NE(verdict, "not established");
  }
  const std::string interval =
      std::isfinite(low) ? fmt::format(" ({} to {})", fixed_bound(low, 2, true), fixed_bound(high, 2, true))
                         : "";
  const auto seeds = [](int count) { return fmt::format("{} seed{}", count, count == 1 ? "" : "s"); };
  std::string expected;
  if (verdict == "no difference") {
    EXPECT_EQ(pairs.above + pairs.below, 0);
    expected = fmt::format("{}{} and {} do not differ in any of {}.", where, who, whom, seeds(pairs.all));
  } else {
    const bool up = difference > 0;
    const bool level = std::abs(pairs.sum) < 1e-9;
    const std::string tail =
        level && pairs.above + pairs.below == 0
            ? fmt::format(", equal in {} of {}", pairs.all, seeds(pairs.all))
        : level
            ? fmt::format(", above for {} and below for {} of {}", pairs.above, pairs.below, seeds(pairs.all))
            : fmt::format(", {} for {} of {}", pairs.sum > 0 ? "above" : "below",
                          pairs.sum > 0 ? pairs.above : pairs.below, seeds(pairs.all));
    expected = verdict == "established"
                   ? fmt::format("{}{} is {} {} by {} points{}{}", where, who, up ? "above" : "below", whom,
                                 fixed(std::abs(difference), 2), interval, tail)
                   : fmt::format("{}{} against {} {}: {} points{}{}", where, who, whom,
                                 verdict == "not established" ? "is not established" : "cannot be judged",
                                 fixed(difference, 2, true), interval, tail);
  }
  // From six pairs on the permutation test follows.
  const std::string rest = finding.sentence.substr(0, expected.size()) == expected
                               ? finding.sentence.substr(expected.size())
                               : "?";
  if (verdict == "no difference") {
    EXPECT_EQ(rest, "");
  } else if (pairs.all < kSeedsForTests) {
    EXPECT_EQ(rest, ".");
  } else {
    EXPECT_TRUE(std::regex_match(
        rest, std::regex("; sign flips: p [<=] [0-9.]+, [<=] [0-9.]+ after Holm's correction\\.")));
  }
}

// The recommendation against the rows of the goal (a CSV has no balanced accuracy: overall).
void check_recommendation(const Made& made) {
  const Recommendation& said = made.summary.answers.at(0).recommendation;
  SCOPED_TRACE(said.sentence);
  std::vector<Series> out, in;
  Series winner;
  double best = -1e9;
  for (const auto& row : made.intervals.rows) {
    if (row[0].text != "Overall") continue;
    for (const Series& series : made.results.series) {
      if (series.title() != row[1].text) continue;
      if (row[8].text == "ruled out") out.push_back(series);
      if (row[8].text == "yes") in.push_back(series);
      if (row[8].text == "ruled out" || row[8].text == "not compared") continue;
      const double effect = series == made.summary.baseline ? 0 : row[2].value;
      if (effect > best + 1e-9) {
        best = effect;
        winner = series;
      }
    }
  }
  EXPECT_EQ(said.ruled_out, test::texts(out));
  EXPECT_EQ(said.series.has_value(), !out.empty());
  EXPECT_EQ(said.sentence.find("Nothing can be recommended") == 0, out.empty());
  if (out.empty()) return;
  EXPECT_EQ(*said.series, winner.text());
  EXPECT_EQ(said.sentence.find(fmt::format("Use {}. Overall accuracy ", winner.words())), 0u);
  EXPECT_EQ(said.may_be_best, test::texts(in));
  EXPECT_NE(
      said.sentence.find(fmt::format("{} {} ruled out", out.back().words(), out.size() > 1 ? "are" : "is")),
      std::string::npos);
  for (const Series& series : in) {
    if (series != winner) {
      EXPECT_NE(said.sentence.find(series.words(), said.sentence.find("ruled out")), std::string::npos);
    }
  }
}

TEST(FindingsTest, AnEpochThatTheReportSelectsIsChosenOnTheTestImages) {
  const test::Folder folder("selected_on");
  train::RunLog log = test::make_log({"uniform", 100, 1, 6});
  log.selected_on = "validation";
  log.val_acc = log.test_acc;  // their best epoch is the same
  folder.add("one", log);
  const std::vector<std::filesystem::path> paths = {folder.path()};
  const auto remarks = [&](Select select) {
    const Results results = read_results(paths, {.select = select, .epochs = std::nullopt});
    return summarise(results, {}).remarks;
  };
  const auto caption = [&](Select select) {
    const Results results = read_results(paths, {.select = select, .epochs = std::nullopt});
    return calibration_table(results, {})->caption;
  };
  EXPECT_THAT(remarks(Select::kAsLogged), Contains(HasSubstr("chosen on held-out images")));
  EXPECT_THAT(remarks(Select::kOverall), Contains(HasSubstr("chosen on the test images")));
  EXPECT_THAT(caption(Select::kAsLogged), HasSubstr(", best epoch."));
  EXPECT_THAT(caption(Select::kOverall), HasSubstr(", the log's best epoch."));
  log.selected_by = "last";
  folder.add("one", log);
  EXPECT_THAT(remarks(Select::kAsLogged), Not(Contains(HasSubstr("the best epoch, chosen"))));
  EXPECT_THAT(remarks(Select::kOverall), Contains(HasSubstr("chosen on the test images")));
}

TEST(FindingsTest, WhatTheChoiceMayFlatterIsInTheAccuracyThatChose) {
  const test::Folder folder("flattered");
  train::RunLog log = test::make_log({"uniform", 100, 1, 6});
  // The second epoch has the highest tail accuracy, and its overall accuracy is below the last one's.
  log.test_acc = {10, 20, 30, 50, 45, 40};
  log.tail_acc = {1, 9, 3, 5, 2, 4};
  log.best_epoch = log.best.epoch = 3;
  for (train::FullResult* one : {&log.best, &log.last}) {
    const auto epoch = static_cast<std::size_t>(one->epoch);
    one->accuracy.overall = one->balanced = log.test_acc[epoch];
    one->accuracy.tail = log.tail_acc[epoch];
    one->accuracy.head = log.head_acc[epoch];
    one->accuracy.medium = log.medium_acc[epoch];
    one->per_class.assign(100, log.test_acc[epoch]);
  }
  folder.add("one", log);
  const auto read = [&](Select select) {
    const std::vector<std::filesystem::path> paths = {folder.path()};
    return read_results(paths, {.select = select, .epochs = std::nullopt});
  };
  EXPECT_THAT(
      summarise(read(Select::kAsLogged), {}).remarks,
      Contains(
          "Results are those of the best epoch, chosen on the test images. It is 10.00 points of overall "
          "accuracy above the last epoch: that much the choice may flatter."));
  EXPECT_THAT(best_final_table(read(Select::kAsLogged), {})->notes, testing::IsEmpty());
  EXPECT_THAT(
      summarise(read(Select::kTail), {}).remarks,
      Contains("Results are those of the best epoch, chosen on the test images by tail accuracy. It is "
               "5.00 points of tail accuracy above the last epoch: that much the choice may flatter."));
  EXPECT_THAT(best_final_table(read(Select::kTail), {})->notes,
              Contains(HasSubstr("the gap is not how much the choice flatters")));
  // The log's own choice: by tail accuracy in one, the last epoch in the other.
  log.selected_by = "tail";
  log.best_epoch = log.best.epoch = 1;
  log.best.accuracy = {20, log.head_acc[1], log.medium_acc[1], 9, 2.0};
  log.best.balanced = 20;
  log.best.per_class.assign(100, 20);
  folder.add("one", log);
  EXPECT_THAT(summarise(read(Select::kAsLogged), {}).remarks,
              Contains(HasSubstr("5.00 points of tail accuracy above the last epoch")));
}

TEST(FindingsTest, SeriesWhoseEpochsWereChosenByDifferentRulesAreToldApart) {
  const test::Folder folder("other_rules");
  const auto remarks = [&] { return summarise(read_results(std::vector{folder.path()}), {}).remarks; };
  train::RunLog log = test::make_log({"uniform", 100, 1, 6});
  log.best = log.last;
  log.best_epoch = log.epochs() - 1;
  log.selected_by = "last";
  folder.add("one", log);
  EXPECT_THAT(remarks(), Not(Contains(HasSubstr("best epoch"))));
  for (const char* strategy : {"class_balanced", "progressive"})
    folder.add(strategy, test::make_log({strategy, 100, 1, 6}));
  EXPECT_THAT(remarks(),
              Contains(HasSubstr("The results of Class-Balanced and Progressive are those of the best "
                                 "epoch, chosen on the test images. It is ")));
  EXPECT_THAT(remarks(),
              Contains("The results of Uniform are those of the last epoch, which nothing chose."));
  EXPECT_THAT(remarks(), Contains(HasSubstr("Epochs were chosen by different rules")));
  folder.add("one", test::make_log({"uniform", 100, 1, 6}));
  EXPECT_THAT(remarks(),
              Contains(HasSubstr("Results are those of the best epoch, chosen on the test images.")));
  EXPECT_THAT(remarks(), Not(Contains(HasSubstr("different rules"))));
}

TEST(FindingsTest, WhereOneSeedIsComparedIsSaid) {
  const test::Folder folder("single_seeds");
  std::string csv = "rho,strategy,seed,overall,head,medium,tail\n";
  for (const int rho : {10, 50, 100}) {
    for (int seed = 1; seed <= 3; ++seed) {
      for (std::size_t i = 0; i < kStrategies.size(); ++i) {
        if ((rho == 50 && seed > 1 && i == 2) || (rho == 100 && seed > 1 && i > 1)) continue;
        const double value =
            40 + seed + static_cast<double>(i) + 0.1 * test::noise(7, 1, 100 * i + 10 * seed + rho);
        csv += fmt::format("{},{},{},{:.2f},60,40,20\n", rho, kStrategies[i], seed, value);
      }
    }
  }
  base::write_atomically(folder.path() / "mine.csv", csv);
  const std::vector<std::filesystem::path> paths = {folder.path() / "mine.csv"};
  EXPECT_THAT(
      summarise(read_results(paths), {}).remarks,
      Contains(HasSubstr("1 of 3 series is compared by one seed at ρ = 50, 2 of 3 series are compared by "
                         "one seed at ρ = 100: their intervals")));
}

Summary summary_of(const test::Folder& folder, const std::string& lines) {
  base::write_atomically(folder.path() / "mine.csv", "rho,strategy,seed,overall,head,medium,tail\n" + lines);
  const std::vector<std::filesystem::path> paths = {folder.path() / "mine.csv"};
  return summarise(read_results(paths), {});
}

TEST(FindingsTest, SeedsAreCountedByTheSignOfTheirPairsAndARemarkSaysWhyTheDifferenceIsAnother) {
  const test::Folder folder("pairs_and_squares");
  const std::string three =
      "100,uniform,1,39,60,40,\n100,uniform,2,40.1,60,40,\n100,class_balanced,1,34,60,40,\n"
      "100,class_balanced,2,35,60,40,\n100,class_balanced,3,36,60,40,\n100,progressive,1,39.5,60,40,\n";
  const Summary missing = summary_of(folder, three + "100,progressive,3,39,60,40,\n");
  const Comparison* c = find_comparison(missing, Series("progressive"), Condition(100), Metric::kOverall);
  ASSERT_TRUE(c);
  EXPECT_LT(c->difference, 0);
  EXPECT_NEAR(c->mean, 0.5, 1e-9);
  EXPECT_THAT(finding_of(*c, missing.baseline).sentence, HasSubstr(", above for 1 of 1 seed."));
  const std::string remark = "At ρ = 100: runs are missing, so differences are by least squares";
  EXPECT_THAT(missing.remarks, Contains(HasSubstr(remark)));
  const Summary whole = summary_of(
      folder,
      three + "100,uniform,3,41,60,40,\n100,progressive,2,40.3,60,40,\n100,progressive,3,39,60,40,\n");
  EXPECT_THAT(whole.remarks, Not(Contains(HasSubstr(remark))));
}

TEST(FindingsTest, PairsThatAreLevelAreNeitherAboveNorBelow) {
  const test::Folder folder("level_pairs");
  const auto sentence = [&](const std::string& lines) {
    const Summary summary = summary_of(folder, lines);
    return find_comparison(summary, Series("progressive"), Condition(100), Metric::kOverall)
               ? summary.findings[0].sentence
               : "";
  };
  EXPECT_EQ(
      sentence("100,uniform,1,40,60,40,10\n100,progressive,1,40,60,39,14\n"),
      "Overall accuracy at ρ = 100: Progressive against Uniform cannot be judged: +0.00 points, equal in 1 "
      "of 1 seed.");
  EXPECT_THAT(
      sentence("100,uniform,1,40,60,40,10\n100,progressive,1,41,60,39,14\n100,uniform,2,40,60,40,10\n"
               "100,progressive,2,39,60,39,14\n100,uniform,3,40,60,40,10\n100,progressive,3,40,60,39,14\n"),
      HasSubstr(", above for 1 and below for 1 of 3 seeds."));
}

TEST(FindingsTest, WhoIsComparedThroughOthersAndABaselineThatIsNotAreNamed) {
  const test::Folder folder("no_pairs");
  std::string chain, apart;
  for (int seed = 1; seed <= 6; ++seed) {
    const auto line = [&](const char* strategy, double at) {
      const double own =
          at + 0.3 * seed + 0.1 * test::noise(3, 8, static_cast<std::uint64_t>(10 * at) + seed);
      return fmt::format("100,{},{},{:.2f},60,40,\n", strategy, seed, own);
    };
    chain += line("class_balanced", 53) + (seed < 4 ? line("uniform", 57) : line("square_root", 61));
    apart += seed == 6 ? line("uniform", 57) : line("class_balanced", 53) + line("square_root", 61);
  }
  const Summary linked = summary_of(folder, chain);
  EXPECT_FALSE(find_comparison(linked, Series("square_root"), Condition(100), Metric::kOverall));
  EXPECT_THAT(linked.remarks,
              Contains("At ρ = 100: Square-Root shares no seed with Uniform; its difference goes through the "
                       "other series, and only the table of intervals has it."));
  const Summary without = summary_of(folder, apart);
  EXPECT_THAT(without.leads, Contains("Use square-root. Overall accuracy 61.9; class-balanced is ruled out. "
                                      "Not compared, for want of common seeds: uniform."));
  EXPECT_THAT(without.remarks, Contains("At ρ = 100: Uniform shares no seed with the other series, which are "
                                        "compared among themselves."));
  EXPECT_THAT(without.remarks, Not(Contains(HasSubstr("Dunnett"))));
  const auto table = intervals_table(without, Condition(100));
  ASSERT_TRUE(table);
  EXPECT_EQ(table->rows[0][1].text, "Uniform");
  EXPECT_EQ(table->rows[0][8].text, "not compared");
}

TEST(FindingsTest, EverySentenceSaysWhatTheTablesSay) {
  const test::Folder folder("findings");
  int sentences = 0, established = 0, tied = 0, unjudged = 0, recommended = 0;
  for (const std::size_t strategies : {2u, 3u, 4u}) {
    for (const std::size_t seeds : {1u, 2u, 3u, 5u, 7u}) {
      for (int form = 0; form < 8; ++form) {
        const Grid grid{.strategies = strategies,
                        .seeds = seeds,
                        .missing = (form & 1) != 0,
                        .tie = (form & 2) != 0,
                        .effect = (form & 4) != 0 ? 3.0 : 0.0,
                        .key = 100 * strategies + 10 * seeds + static_cast<std::uint64_t>(form)};
        SCOPED_TRACE(csv_of(grid));
        const Made made = make(grid, folder);
        for (const Finding& finding : made.summary.findings) {
          if (!made.summary.shows(finding.metric)) continue;
          check_sentence(made, finding);
          ++sentences;
          established += finding.established;
          tied += finding.sentence.find("do not differ") != std::string::npos;
          unjudged += finding.sentence.find("cannot be judged") != std::string::npos;
        }
        if (made.results.series.size() < 2) continue;
        check_recommendation(made);
        recommended += made.summary.answers[0].recommendation.series.has_value();
      }
    }
  }
  // Every kind of sentence was among them.
  EXPECT_GT(sentences, 700);
  EXPECT_GT(established, 100);
  EXPECT_GT(tied, 40);
  EXPECT_GT(unjudged, 40);
  EXPECT_GT(recommended, 20);
}

TEST(FindingsTest, OnThePageAnIntervalEndsInAnArrowWhereItLeavesTheAxis) {
  const test::Folder folder("whiskers");
  // Differences of two seeds: 1.5 and 2 overall, and on the tail 22 and 26, which may reach beyond 30 points.
  base::write_atomically(
      folder.path() / "mine.csv",
      std::string_view("rho,strategy,seed,overall,head,medium,tail\n"
                       "100,uniform,1,50,60,40,30\n100,uniform,2,50.5,60.2,40.6,31\n"
                       "100,progressive,1,51.5,60,40,52\n100,progressive,2,52.5,59,41,57\n"));
  ReportOptions options;
  options.inputs = {folder.path() / "mine.csv"};
  const std::string html = page(make_report(options));
  std::smatch axis;
  ASSERT_TRUE(std::regex_search(html, axis, std::regex("axis: ±([0-9.]+) points")));
  const double reach = std::stod(axis[1]);
  EXPECT_EQ(reach, 30);
  const std::regex form(
      "data-metric=\"(overall|tail)\" data-low=\"([^\"]*)\" data-high=\"([^\"]*)\"[^\\n]*class=\"whisker\" "
      "d=\"([^\"]*)\"");
  std::map<std::string, std::string> whiskers;
  for (std::sregex_iterator found(html.begin(), html.end(), form), end; found != end; ++found) {
    const std::smatch& match = *found;
    const std::string path = match[4];
    const auto arrows = std::count(path.begin(), path.end(), 'L') / 2;
    EXPECT_EQ(arrows, (std::stod(match[2]) < -reach) + (std::stod(match[3]) > reach)) << match[0];
    EXPECT_EQ(std::count(path.begin(), path.end(), 'v'), 2 - arrows) << path;
    whiskers[match[1]] = path;
  }
  ASSERT_EQ(whiskers.size(), 2u);
  EXPECT_THAT(whiskers["tail"], HasSubstr("M247.0 7L252.0 11L247.0 15")) << "to the right, at the axis's end";
}

}  // namespace
}  // namespace longtail::report
