#include "longtail/report/family.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <numeric>
#include <sstream>

#include "longtail/base/file.h"
#include "longtail/base/test_paths.h"
#include "longtail/base/text.h"
#include "longtail/report/against.h"
#include "longtail/report/multivariate_t.h"
#include "longtail/report/stats.h"
#include "longtail/report/tables.h"
#include "longtail/report/test_logs.h"

namespace longtail::report {
namespace {

std::vector<std::string> split(const std::string& line) {
  std::vector<std::string> cells;
  std::istringstream in(line);
  for (std::string cell; std::getline(in, cell, ',');) cells.emplace_back(base::trim(cell));
  return cells;
}

// What R said: testdata/multcomp.csv.
struct Line {
  std::size_t control = 0, other = 0;
  double dof = 0, two_sided = 0, one_sided = 0, estimate = 0, low = 0, high = 0, ruling = 0;
};
std::map<std::string, std::vector<Line>> golden() {
  std::map<std::string, std::vector<Line>> all;
  std::istringstream in(base::read_text(base::source_dir() + "/longtail/report/testdata/multcomp.csv"));
  std::string line;
  std::getline(in, line);
  while (std::getline(in, line)) {
    const auto c = split(line);
    const auto number = [&](std::size_t i) { return std::stod(c[i]); };
    all[c[0]].push_back({static_cast<std::size_t>(number(1)) - 1, static_cast<std::size_t>(number(2)) - 1,
                         number(3), number(4), number(5), number(6), number(7), number(8), number(9)});
  }
  return all;
}

// The same numbers as `made` of the R script.
SeedTable made(int strategies, int seeds, const std::vector<std::pair<int, int>>& holes = {}) {
  SeedTable table;
  for (int i = 1; i <= strategies; ++i) {
    table.names.push_back(fmt::format("s{}", i));
    table.values.emplace_back();
    for (int s = 1; s <= seeds; ++s) {
      const bool hole = std::find(holes.begin(), holes.end(), std::pair(i, s)) != holes.end();
      table.values.back().push_back(
          hole ? kNaN : 40 + 0.7 * i + 1.3 * s + ((i * 37 + s * 61 + i * s * 17) % 23) / 10.0);
    }
  }
  return table;
}

SeedTable of_paper(double rho, Metric metric, const std::vector<std::pair<int, int>>& holes = {}) {
  const Results paper = paper_results();
  SeedTable table;
  for (const char* series : {"uniform", "class_balanced", "square_root", "progressive"}) {
    table.names.emplace_back(series);
    table.values.emplace_back();
    for (const std::int64_t seed : {42, 123, 456})
      table.values.back().push_back(
          accuracy(*paper.find(Series(series), Condition(rho), seed), metric, At::kBest));
  }
  for (const auto& [i, s] : holes)
    table.values[static_cast<std::size_t>(i - 1)][static_cast<std::size_t>(s - 1)] = kNaN;
  return table;
}

const std::map<std::string, SeedTable>& cases() {
  static const std::map<std::string, SeedTable> all = {
      {"paper_tail_100", of_paper(100, Metric::kTail)},
      {"paper_tail_50", of_paper(50, Metric::kTail)},
      {"paper_overall_10", of_paper(10, Metric::kOverall)},
      {"paper_tail_100_holes", of_paper(100, Metric::kTail, {{2, 1}, {4, 3}})},
      {"two_by_two", made(2, 2)},
      {"three_by_five_holes", made(3, 5, {{1, 2}, {3, 4}})},
      {"five_by_six_holes", made(5, 6, {{1, 1}, {2, 3}, {5, 6}, {4, 2}})},
      {"eight_by_ten", made(8, 10)},
      {"eight_by_four_holes", made(8, 4, {{1, 1}, {3, 2}, {3, 3}, {7, 4}, {8, 1}})}};
  return all;
}

TEST(FamilyTest, DunnettsIntervalsAreThoseOfMultcompForEveryBaselineWithAndWithoutMissingRuns) {
  const auto reference = golden();
  ASSERT_EQ(reference.size(), cases().size());
  for (const auto& [name, lines] : reference) {
    const SeedTable& table = cases().at(name);
    ASSERT_EQ(lines.size(), table.strategies() * (table.strategies() - 1)) << name;
    for (const Line& line : lines) {
      const Family family = analyse(table, {.baseline = line.control});
      ASSERT_EQ(family.method, Method::kPooled) << name;
      EXPECT_EQ(family.dof, line.dof) << name;
      EXPECT_NEAR(family.critical, line.two_sided, 1.5e-3) << name << " " << line.control;
      const Standing& own = family.standings[line.other];
      EXPECT_NEAR(own.difference, line.estimate, 1e-5) << name;
      EXPECT_NEAR(own.low, line.low, 5e-3) << name << " " << line.other;
      EXPECT_NEAR(own.high, line.high, 5e-3) << name << " " << line.other;
    }
  }
}

TEST(FamilyTest, HsusIntervalsAreThoseWorkedOutFromMultcompsOneSidedCriticalValues) {
  for (const auto& [name, lines] : golden()) {
    const Family family = analyse(cases().at(name));
    const std::size_t k = family.standings.size();
    std::vector<std::vector<double>> estimate(k, std::vector<double>(k)), ruling = estimate;
    for (const Line& line : lines) {
      estimate[line.other][line.control] = line.estimate;
      ruling[line.control][line.other] = line.ruling;
    }
    std::vector<bool> may(k);
    for (std::size_t i = 0; i < k; ++i) {
      double high = 1e9;
      for (std::size_t j = 0; j < k; ++j) {
        if (j != i) high = std::min(high, estimate[i][j] + ruling[i][j]);
      }
      may[i] = high > 0;
      EXPECT_EQ(family.standings[i].best_high > 0, may[i]) << name << " " << i;
      if (may[i]) {
        EXPECT_TRUE(family.standings[i].may_be_best) << "ruling out asks for more than Hsu: " << name << i;
      }
      EXPECT_NEAR(family.standings[i].best_high, std::max(0.0, high), 5e-3) << name << " " << i;
    }
    for (std::size_t i = 0; i < k; ++i) {
      double low = 0;
      for (std::size_t j = 0; j < k; ++j) {
        if (j != i && may[j]) low = std::min(low, estimate[i][j] - ruling[j][i]);
      }
      EXPECT_NEAR(family.standings[i].best_low, low, 5e-3) << name << " " << i;
    }
  }
}

TEST(FamilyTest, ThePapersOwnNumbersGiveTheIntervalsThatAreQuotedOfThem) {
  const auto half_width = [](const Standing& s) { return 0.5 * (s.high - s.low); };
  const Family tail = analyse(of_paper(100, Metric::kTail));
  EXPECT_NEAR(tail.standings[3].difference, 2.72, 0.005);
  EXPECT_NEAR(half_width(tail.standings[3]), 2.16, 0.005);
  EXPECT_EQ(tail.standings[3].judgement, Judgement::kEstablished);
  const Family fifty = analyse(of_paper(50, Metric::kTail));
  EXPECT_NEAR(fifty.standings[3].difference, 2.37, 0.005);
  EXPECT_NEAR(half_width(fifty.standings[3]), 2.12, 0.005);
  EXPECT_EQ(fifty.standings[3].judgement, Judgement::kEstablished);
  const Family ten = analyse(of_paper(10, Metric::kOverall));
  EXPECT_NEAR(ten.standings[3].difference, 0.98, 0.005);
  EXPECT_NEAR(half_width(ten.standings[3]), 0.54, 0.005);
  EXPECT_EQ(ten.standings[3].judgement, Judgement::kEstablished);
}

TEST(FamilyTest, TheCommittedRunsGiveTheIntervalsThatAreQuotedOfThem) {
  const std::vector<std::filesystem::path> folder = {base::source_dir() + "/results/cifar100-lt"};
  const Summary summary = summarise(read_results(folder), {});
  const auto check = [&](const char* series, Metric metric, double difference, double half,
                         bool established) {
    const Comparison* c = find_comparison(summary, Series(series), Condition(100), metric);
    ASSERT_TRUE(c) << series;
    EXPECT_NEAR(c->difference, difference, 0.005) << series;
    EXPECT_NEAR(0.5 * (c->high - c->low), half, 0.005) << series;
    EXPECT_EQ(c->established(), established) << series;
  };
  check("progressive", Metric::kTail, 2.26, 1.87, true);
  check("progressive", Metric::kOverall, 1.09, 1.75, false);
  check("class_balanced", Metric::kOverall, -5.07, 1.75, true);
  const Recommendation& made = summary.answers.at(0).recommendation;
  EXPECT_EQ(made.series, "progressive");
  EXPECT_EQ(made.ruled_out, (std::vector<std::string>{"class_balanced", "square_root"}));
  EXPECT_EQ(
      made.sentence.find("Use progressive. Balanced accuracy 40.1; class-balanced and square-root are ruled "
                         "out; uniform is not (difference 1.1, between -0.7 and +2.8). On the tail it gains "
                         "2.3 over uniform (0.4 to 4.1); on the head it may lose up to 3.7;"),
      0u)
      << made.sentence;
}

// Strategies with these effects, in residuals' standard deviations, over seeds that share a level.
SeedTable simulated(const std::vector<double>& effects, std::size_t seeds, std::uint64_t study) {
  SeedTable table;
  for (std::size_t i = 0; i < effects.size(); ++i) {
    table.names.push_back(fmt::format("s{}", i));
    table.values.emplace_back();
    for (std::size_t s = 0; s < seeds; ++s) {
      const base::Stream stream{.seed = study, .purpose = base::Purpose::kTest, .epoch = 61};
      const auto drawn = [&](std::size_t at) {
        return normal_quantile((static_cast<double>(stream.block(at)[0]) + 0.5) / 4294967296.0);
      };
      table.values.back().push_back(50 + effects[i] + 3 * drawn(90000 + s) + drawn(1000 * i + s));
    }
  }
  return table;
}

TEST(FamilyTest, WhoIsRuledOutIsWhatEveryRangeThatHoldsBothSaysWorkedOutOneByOne) {
  int ruled_out = 0;
  for (std::uint64_t study = 0; study < 120; ++study) {
    const std::size_t k = 3 + study % 4, seeds = 3 + study % 5;
    std::vector<double> effects;
    for (std::size_t i = 0; i < k; ++i) effects.push_back(static_cast<double>((study * (i + 3)) % 5));
    const Family family = analyse(simulated(effects, seeds, study));
    if (family.method != Method::kPooled) continue;
    std::vector<std::size_t> order(k);
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto effect = [&](std::size_t i) { return family.standings[i].effect; };
    std::sort(order.begin(), order.end(), [&](auto i, auto j) { return effect(i) > effect(j); });
    const double error = family.residual * std::sqrt(2.0 / static_cast<double>(seeds));
    const double alpha = k > 4 ? 0.0125 : 0.05;
    const auto range_differs = [&](std::size_t top, std::size_t bottom) {
      const std::size_t means = bottom - top + 1;
      const double level = means + 1 >= k
                               ? 1 - alpha
                               : std::pow(1 - alpha, static_cast<double>(means) / static_cast<double>(k));
      return effect(order[top]) - effect(order[bottom]) >
             error * all_pairs_critical(static_cast<int>(means), family.dof, level);
    };
    for (std::size_t place = 0; place < k; ++place) {
      const std::size_t own = order[place];
      bool out = false;
      for (std::size_t above = 0; above < k; ++above) {
        const std::size_t other = order[above];
        if (own == 0 || other == 0) {
          out = out || effect(other) - effect(own) > error * family.critical;
          continue;
        }
        bool all = above < place;
        for (std::size_t top = 0; top <= above && all; ++top) {
          for (std::size_t bottom = place; bottom < k; ++bottom) all = all && range_differs(top, bottom);
        }
        out = out || all;
      }
      out = out && family.any_established();
      EXPECT_EQ(family.standings[own].may_be_best, !out) << study << " " << own;
      ruled_out += out;
    }
  }
  EXPECT_GT(ruled_out, 100);
}

TEST(FamilyTest, OfSeveralEquallyGoodOnesBesideWorseOnesHardlyOneIsRuledOut) {
  const int studies = 1000;
  for (const auto& effects : std::vector<std::vector<double>>{{0, 0, 0, -20},
                                                              {-20, 0, 0, 0},
                                                              {0, 0, -20, -20},
                                                              {0, 0, 0, 0, 0, 0, 0, -20},
                                                              {-20, 0, 0, 0, 0, 0, 0, 0}}) {
    int wrong = 0;
    for (int study = 0; study < studies; ++study) {
      const auto out = analyse(simulated(effects, 3, static_cast<std::uint64_t>(study) + 7000)).ruled_out();
      wrong += std::any_of(out.begin(), out.end(), [&](std::size_t i) { return effects[i] == 0; });
    }
    EXPECT_LE(wrong, 60) << effects.size() << " strategies, the first at " << effects[0];
  }
}

// Two strategies beside the baseline, and five more made from the networks of one of them: all are equally good.
TEST(FamilyTest, SeriesOfOneTrainingDoNotMakeChanceLookSmaller) {
  const int studies = 1000;
  int wrong = 0, wrong_if_untold = 0;
  for (std::uint64_t study = 0; study < studies; ++study) {
    SeedTable table = simulated({0, 0, 0, 0, 0, 0, 0, 0}, 3, study + 9000);
    for (std::size_t i = 3; i < 8; ++i) {
      for (std::size_t s = 0; s < 3; ++s)
        table.values[i][s] = 0.9 * table.values[2][s] + 0.1 * table.values[i][s];
    }
    wrong_if_untold += analyse(table).any_established();
    table.trainings = {0, 1, 2, 2, 2, 2, 2, 2};
    const Family family = analyse(table);
    wrong += family.any_established();
    EXPECT_EQ(family.sharing, 5);
    EXPECT_EQ(family.dof, 4);
    const Family three = analyse(part_of(table, {0, 1, 2}, 3));
    EXPECT_EQ(three.sharing, 0);
    EXPECT_NEAR(family.residual, three.residual, 1e-12);
    EXPECT_NEAR(family.standings[1].difference, three.standings[1].difference, 1e-12);
  }
  EXPECT_LE(wrong, 60);
  EXPECT_GE(wrong_if_untold, 80);
}

TEST(FamilyTest, WhereAllShareOneTrainingAllCount) {
  SeedTable table = simulated({0, 1, 2}, 4, 1);
  const Family untold = analyse(table);
  table.trainings = {5, 5, 5};
  const Family told = analyse(table);
  EXPECT_EQ(told.sharing, 0);
  EXPECT_EQ(told.dof, untold.dof);
  EXPECT_EQ(told.residual, untold.residual);
}

TEST(FamilyTest, TwoStrategiesAreAPairedTTest) {
  const SeedTable table{{"a", "b"}, {{50, 52, 51, 49}, {51, 53.5, 52.2, 49.6}}};
  const Family family = analyse(table);
  // Differences 1, 1.5, 1.2, 0.6: mean 1.075, standard error 0.18875, t(3) 3.182446.
  EXPECT_EQ(family.dof, 3);
  EXPECT_NEAR(family.standings[1].low, 1.075 - 3.182446 * 0.188746, 1e-4);
  EXPECT_NEAR(family.standings[1].high, 1.075 + 3.182446 * 0.188746, 1e-4);
  EXPECT_EQ(family.may_be_best(), std::vector<std::size_t>{1});
}

TEST(FamilyTest, OneSeedGivesDifferencesButNoJudgement) {
  const Family family = analyse({{"a", "b", "c"}, {{50}, {52}, {51}}});
  EXPECT_EQ(family.method, Method::kNone);
  EXPECT_NE(family.limit.find("one seed"), std::string::npos);
  EXPECT_DOUBLE_EQ(family.standings[1].difference, 2);
  EXPECT_EQ(family.standings[1].judgement, Judgement::kCannotTell);
  EXPECT_EQ(family.leader, 1u);
  EXPECT_EQ(family.may_be_best().size(), 3u);
}

TEST(FamilyTest, TheLeaderMayComeBeforeTheBaselineOrAfterIt) {
  const std::vector<double> best = {60, 61.5, 62.2}, middle = {50, 52, 51}, worst = {40, 41, 42.5};
  EXPECT_EQ(analyse({{"a", "b", "c"}, {best, middle, worst}}, {.baseline = 1}).leader, 0u);
  EXPECT_EQ(analyse({{"a", "b", "c"}, {best, middle, worst}}, {.baseline = 2}).leader, 0u);
  EXPECT_EQ(analyse({{"a", "b", "c"}, {worst, middle, best}}, {.baseline = 1}).leader, 2u);
  EXPECT_EQ(analyse({{"a", "b", "c"}, {middle, best, worst}}, {.baseline = 2}).leader, 1u);
}

TEST(FamilyTest, WithoutCommonSeedsNothingIsCompared) {
  const Family family = analyse({{"a", "b"}, {{50, kNaN}, {kNaN, 52}}});
  EXPECT_EQ(family.method, Method::kNone);
  EXPECT_NE(family.limit.find("seed in common"), std::string::npos);
  const Family linked = analyse({{"a", "b", "c"}, {{50, kNaN, 51}, {kNaN, 52, kNaN}, {51, 53, 52.5}}});
  EXPECT_TRUE(linked.standings[1].comparable) << "through c";
  const Family stranger = analyse({{"a", "b", "c"}, {{50, 51, kNaN}, {51, 52.5, kNaN}, {kNaN, kNaN, 60}}});
  EXPECT_EQ(stranger.method, Method::kPooled);
  EXPECT_FALSE(stranger.standings[2].comparable);
  EXPECT_TRUE(std::isnan(stranger.standings[2].difference));
}

TEST(FamilyTest, TiesAndDifferencesWithoutSpreadAreSaidToBeThat) {
  const Family equal = analyse({{"a", "b"}, {{50, 51, 52}, {50, 51, 52}}});
  EXPECT_EQ(equal.method, Method::kNone);
  EXPECT_EQ(equal.standings[1].judgement, Judgement::kNoDifference);
  const Family constant = analyse({{"a", "b"}, {{50, 51, 52}, {51, 52, 53}}});
  EXPECT_EQ(constant.method, Method::kNone);
  EXPECT_EQ(constant.standings[1].judgement, Judgement::kCannotTell);
  const Family two_equal = analyse({{"a", "b", "c"}, {{50, 51, 52}, {50, 51, 52}, {51, 51.4, 53.3}}});
  EXPECT_NE(two_equal.method, Method::kNone);
  EXPECT_EQ(two_equal.standings[1].judgement, Judgement::kNoDifference);
  EXPECT_EQ(two_equal.standings[1].difference, 0);
}

TEST(FamilyTest, NoIntervalIsWiderThanAccuraciesCanDiffer) {
  // Two seeds that contradict each other: Student's t is 12.7, and the interval would reach beyond 600 points.
  const Family wild = analyse({{"a", "b"}, {{90, 92.5}, {2.5, 97.5}}});
  EXPECT_NEAR(wild.standings[1].difference, -41.25, 1e-12);
  EXPECT_EQ(wild.standings[1].low, -100);
  EXPECT_EQ(wild.standings[1].high, 100);
  EXPECT_EQ(wild.standings[1].best_low, -100);
  EXPECT_EQ(wild.standings[1].judgement, Judgement::kNotEstablished);
  EXPECT_TRUE(std::isnan(wild.standings[0].low)) << "the baseline";
  const Family calm = analyse({{"a", "b"}, {{50, 51}, {51, 52.5}}});
  EXPECT_NEAR(calm.standings[1].high, 1.25 + 12.7062 * 0.25, 1e-4) << "others are as they were";
}

TEST(FamilyTest, OneStrategyWithAGrosslyLargerSpreadIsJudgedApartFromTheOthers) {
  SeedTable table{{"a", "b", "c", "d"}, {}};
  for (std::size_t i = 0; i < 4; ++i) {
    table.values.emplace_back();
    for (std::size_t s = 0; s < 6; ++s)
      table.values.back().push_back(
          50 + (i == 3 ? 6.0 : 0.05) * test::noise(3, static_cast<std::uint32_t>(i), s) + (i == 1 ? 1 : 0));
  }
  const Family family = analyse(table);
  EXPECT_LT(family.unequal_p, 0.01);
  EXPECT_EQ(family.method, Method::kSeparate);
  // b against a is a paired t interval with its own small spread, by Bonferroni for three comparisons.
  EXPECT_EQ(family.standings[1].judgement, Judgement::kEstablished);
  EXPECT_LT(family.standings[1].high - family.standings[1].low, 1);
  EXPECT_GT(family.standings[3].high - family.standings[3].low, 5);
}

TEST(FamilyTest, TheSameDifferenceInEverySeedIsNotCertainty) {
  const Family family = analyse({{"a", "b", "c"}, {{40, 40, 40}, {40.5, 40.5, 40.5}, {30, 39, 44}}});
  EXPECT_EQ(family.method, Method::kSeparate);
  EXPECT_EQ(family.standings[1].judgement, Judgement::kCannotTell);
  EXPECT_TRUE(std::isnan(family.standings[1].low)) << family.standings[1].low;
  EXPECT_EQ(family.may_be_best().size(), 3u) << "nothing is established, so none is ruled out";
  // 40.16 - 40.12 and 41.34 - 41.30 are not the same bits.
  const Family two = analyse({{"a", "b", "c"}, {{40.12, 41.30}, {40.16, 41.34}, {39.5, 42}}});
  EXPECT_EQ(two.method, Method::kSeparate);
  EXPECT_EQ(two.standings[1].judgement, Judgement::kCannotTell);
  EXPECT_TRUE(two.standings[0].may_be_best);
  const Family tied = analyse({{"a", "b", "c"}, {{40, 41, 40}, {40, 41, 40}, {30, 39, 44}}});
  EXPECT_EQ(tied.method, Method::kSeparate);
  EXPECT_EQ(tied.standings[1].judgement, Judgement::kNoDifference);
  EXPECT_EQ(tied.standings[1].difference, 0);
}

TEST(FamilyTest, CochransTestFindsFivePercentOfNoiseUnevenAtFivePercent) {
  // Under equal variances p < 0.05 in 5% of tables or fewer (Bonferroni).
  int below = 0;
  for (std::uint64_t study = 0; study < 2000; ++study) {
    SeedTable table{{"a", "b", "c", "d"}, std::vector<std::vector<double>>(4)};
    for (std::size_t i = 0; i < 4; ++i) {
      for (std::size_t s = 0; s < 4; ++s) {
        table.values[i].push_back(test::noise(study, 100, i * 4 + s));
      }
    }
    below += analyse(table).unequal_p < 0.05;
  }
  EXPECT_GT(below, 40);
  EXPECT_LT(below, 120);
}

TEST(MultivariateTTest, TheGeneralMethodAgreesWithTheProductIntegral) {
  for (const int m : {2, 3, 7}) {
    Matrix correlation(static_cast<std::size_t>(m), std::vector<double>(static_cast<std::size_t>(m), 0.5));
    for (std::size_t i = 0; i < correlation.size(); ++i) correlation[i][i] = 1;
    const std::vector<double> loadings = product_loadings(correlation);
    ASSERT_EQ(loadings.size(), correlation.size());
    const Box box{std::vector<double>(correlation.size(), -2.5),
                  std::vector<double>(correlation.size(), 2.5)};
    for (const double dof : {2.0, 6.0, 40.0})
      EXPECT_NEAR(general_probability(correlation, dof, box), product_probability(loadings, dof, box), 5e-5)
          << m << " " << dof;
  }
}

TEST(MultivariateTTest, DunnettsTableComesOut) {
  // Dunnett (1964), two-sided 5%, and (1955), one-sided 5%.
  EXPECT_NEAR(dunnett_critical(3, 6, 0.95, Sides::kTwo), 3.10, 0.005);
  EXPECT_NEAR(dunnett_critical(5, 20, 0.95, Sides::kTwo), 2.73, 0.005);
  EXPECT_NEAR(dunnett_critical(3, 6, 0.95, Sides::kOne), 2.56, 0.005);
  EXPECT_NEAR(student_critical(1, 0.95, Sides::kTwo), 12.7062, 1e-4);
  EXPECT_NEAR(student_critical(30, 0.95, Sides::kTwo), 2.042272, 1e-5);
}

TEST(MultivariateTTest, TukeysCriticalValuesAreThoseOfR) {
  // qtukey(0.95, k, df) / sqrt(2) and the same at 0.9875; with two means it is Student's t.
  EXPECT_NEAR(all_pairs_critical(4, 6, 0.95), 3.461711, 2e-3);
  EXPECT_NEAR(all_pairs_critical(4, 6, 0.9875), 4.747059, 2e-3);
  EXPECT_NEAR(all_pairs_critical(4, 33, 0.95), 2.704948, 2e-3);
  EXPECT_NEAR(all_pairs_critical(8, 14, 0.95), 3.528669, 2e-3);
  EXPECT_NEAR(all_pairs_critical(8, 63, 0.9875), 3.63063, 2e-3);
  for (const double dof : {1.0, 2.0, 9.0})
    EXPECT_NEAR(all_pairs_critical(2, dof, 0.95), student_critical(dof, 0.95, Sides::kTwo), 1e-6) << dof;
}

TEST(MultivariateTTest, TheDistributionFunctionsAreEachOthersInverseOrHaveKnownValues) {
  for (const double x : {-6.0, -2.2, -0.3, 0.0, 1.7, 5.0})
    EXPECT_NEAR(normal_quantile(normal_cdf(x)), x, 1e-9);
  EXPECT_NEAR(beta_cdf(0.3, 2, 3), 0.3483, 1e-12);  // 1 - sum of binomials
  EXPECT_NEAR(beta_cdf(0.5, 4.5, 4.5), 0.5, 1e-12);
  EXPECT_NEAR(beta_cdf(0.9, 1, 3), 1 - 0.001, 1e-12);
}

TEST(NoiseTest, TestNoiseIsBinomialByClassAndWilsonsIntervalThatOfR) {
  // prop.test(5, 25, correct = FALSE): 0.0886 to 0.3913.
  EXPECT_NEAR(wilson(0.2, 25).low, 0.08860, 1e-4);
  EXPECT_NEAR(wilson(0.2, 25).high, 0.39126, 1e-4);
  train::RunLog log;
  log.class_counts = {500, 10};  // head and tail
  train::FullResult result;
  result.per_class = {50, 20};
  result.confusion = {{50, 50}, {20, 5}};
  EXPECT_NEAR(test_noise(log, result, Metric::kHead), 100 * std::sqrt(0.25 / 100), 1e-9);
  EXPECT_NEAR(test_noise(log, result, Metric::kTail), 100 * std::sqrt(0.16 / 25), 1e-9);
  EXPECT_NEAR(test_noise(log, result, Metric::kBalanced), 50 * std::sqrt(0.25 / 100 + 0.16 / 25), 1e-9);
  EXPECT_NEAR(test_noise(log, result, Metric::kOverall), 100 * std::sqrt(0.25 * 100 + 0.16 * 25) / 125, 1e-9);
  EXPECT_TRUE(std::isnan(test_noise(log, result, Metric::kMedium)));
}

TEST(FamilyTest, TheChanceToSettleIsThatOfSimulatedStudies) {
  const int k = 3, seeds = 5;
  const double ahead = 1.5, residual = 0.8;
  int settled = 0;
  const int studies = 3000;
  for (int study = 0; study < studies; ++study) {
    SeedTable table{{"a", "b", "c"}, std::vector<std::vector<double>>(3)};
    for (std::size_t i = 0; i < 3; ++i) {
      for (std::size_t s = 0; s < static_cast<std::size_t>(seeds); ++s) {
        table.values[i].push_back(50 + (i == 2 ? ahead : 0) +
                                  residual * test::noise(static_cast<std::uint64_t>(study), 50, i * 10 + s));
      }
    }
    const Family family = analyse(table);
    settled += family.method == Method::kPooled && family.may_be_best() == std::vector<std::size_t>{2};
  }
  const double expected = chance_to_settle({{ahead, true}, {ahead, false}}, residual, k, seeds, 0.05);
  EXPECT_NEAR(settled / static_cast<double>(studies), expected, 0.035) << expected;
}

}  // namespace
}  // namespace longtail::report
