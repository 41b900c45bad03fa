#include "longtail/report/figures.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "longtail/base/error.h"
#include "longtail/report/report.h"
#include "longtail/report/tables.h"
#include "longtail/report/test_logs.h"

namespace longtail::report {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsSupersetOf;
using testing::Not;

// The script of one figure of a report of these logs.
class FiguresOf : public testing::Test {
 protected:
  void add(const std::string& rebalance, const std::string& loss = "cross_entropy") {
    train::RunLog log = test::make_log({"uniform", 100, 1, 10});
    log.config["loss"] = loss;
    if (rebalance != "none") {
      log.config["rebalance"] = rebalance;
      log.parent = train::Parent{"protocol", "network", log.epochs()};
    }
    folder_.add("log" + std::to_string(++logs_), log);
  }
  std::string script(const std::string& name) const { return figure(name).body(); }
  base::Figure figure(const std::string& name) const {
    ReportOptions options;
    options.inputs = {folder_.path()};
    const Report report = make_report(options);
    for (const NamedFigure& one : make_figures(report.results, report.summary)) {
      if (one.name == name) return one.figure;
    }
    base::fail("there is no figure {}", name);
  }

  test::Folder folder_{"figures"};
  int logs_ = 0;
};

TEST_F(FiguresOf, FewSeriesHaveTheirKeyAbove) {
  add("none");
  add("none", "focal");
  EXPECT_THAT(script("groups_rho100"), HasSubstr("set key outside top"));
}

TEST_F(FiguresOf, ManySeriesHaveTheirKeyBesideThemOrTheirNamesAtTheirRows) {
  for (const char* loss :
       {"cross_entropy", "focal", "focal:gamma=1", "focal:gamma=3", "focal:gamma=4", "focal:gamma=5"})
    add("none", loss);
  EXPECT_THAT(script("per_class_rho100"), HasSubstr("set key outside right"));
  for (const char* name : {"groups_rho100", "overall"}) {
    EXPECT_THAT(script(name), AllOf(HasSubstr("unset key"), HasSubstr("set ytics scale 0 ("))) << name;
    EXPECT_THAT(script(name), HasSubstr("Uniform (loss=focal:gamma=5)")) << name;
  }
}

TEST_F(FiguresOf, RowsOfManySeriesBeginWithTheBestAndFewKeepTheirOrder) {
  const auto add_all = [&](int count) {
    for (int i = 0; i < count; ++i) {
      train::RunLog log = test::make_log({"uniform", 100, 1, 10, 100, i == 1 ? 30.0 : 0.0});
      log.config["loss"] = "focal:gamma=" + std::to_string(i);
      folder_.add("effect" + std::to_string(i), log);
    }
  };
  // Rows are numbered from the bottom up.
  add_all(3);
  EXPECT_THAT(script("paired"), HasSubstr("gamma=1)' 1"));  // below it gamma=2; gamma=0 is the baseline
  add_all(8);
  EXPECT_THAT(script("paired"), HasSubstr("gamma=1)' 6"));
  EXPECT_THAT(script("overall"), HasSubstr("gamma=1)' 7"));
}

TEST_F(FiguresOf, ARebalancedRunHasNoCurveOfTrainingButStandsInTheTradeOff) {
  add("none");
  add("crt");
  EXPECT_THAT(script("convergence_rho100"), Not(HasSubstr("rebalance=crt")));
  EXPECT_THAT(script("trade_off_rho100"), HasSubstr("rebalance=crt"));
}

TEST_F(FiguresOf, OfRebalancedRunsAloneThereIsNoCurveAndNoSchedule) {
  add("crt");
  add("tau_norm:tau=1");
  ReportOptions options;
  options.inputs = {folder_.path()};
  const Report report = make_report(options);
  std::vector<std::string> names;
  for (const NamedFigure& one : make_figures(report.results, report.summary)) names.push_back(one.name);
  EXPECT_THAT(names, IsSupersetOf({"overall", "groups_rho100", "per_class_rho100", "class_distribution"}));
  for (const char* name : {"convergence_rho100", "group_curves_rho100", "schedules"})
    EXPECT_THAT(names, Not(Contains(name)));
}

// Thirds of three classes: a class each, as the accuracies of the log have it.
train::RunLog log_of_thirds(std::vector<std::int64_t> counts, double rho) {
  train::RunLog log = test::make_log({.rho = 100, .epochs = 3, .classes = 3});
  log.rho = rho;
  log.class_counts = std::move(counts);
  log.groups = "auto";
  return log;
}

TEST_F(FiguresOf, ThirdsHaveTheirOwnThresholdsInTableAndFigure) {
  const auto titles = [&] {
    std::vector<std::string> all;
    const auto table = group_counts_table(read_results(std::vector{folder_.path()}));
    for (const auto& row : table->rows) all.push_back(row[0].text);
    return all;
  };
  folder_.add("one", log_of_thirds({32, 11, 6}, 5));
  EXPECT_THAT(titles(), ElementsAre("Head (n > 31)", "Medium (10 < n ≤ 31)", "Tail (n ≤ 10)", "Total"));
  EXPECT_THAT(script("class_distribution"),
              AllOf(HasSubstr("first 31 to"), HasSubstr("first 10 to"),
                    HasSubstr("'head above' at graph 0.02, first 31 "),
                    HasSubstr("'tail below' at graph 0.02, first 10 "), Not(HasSubstr("first 100 to"))));
  // Another condition is cut elsewhere.
  folder_.add("two", log_of_thirds({320, 110, 6}, 50));
  EXPECT_THAT(titles(), ElementsAre("Head", "Medium", "Tail", "Total"));
  EXPECT_THAT(script("class_distribution"),
              AllOf(HasSubstr("'head above (ρ = 5)' at graph 0.02, first 31 "),
                    HasSubstr("'tail below (ρ = 5)' at graph 0.02, first 10 "),
                    HasSubstr("'head above (ρ = 50)' at graph 0.02, first 319 "),
                    HasSubstr("'tail below (ρ = 50)' at graph 0.02, first 109 ")));
}

TEST_F(FiguresOf, AClassWithoutTestImagesLeavesTheTrendOfTheOthers) {
  train::RunLog log = test::make_log({.epochs = 3, .classes = 30});
  log.class_counts[29] = 1;
  log.best.per_class[29] = log.last.per_class[29] = kNaN;
  folder_.add("one", log);
  const std::string drawn = script("per_class_rho100");
  EXPECT_THAT(drawn, HasSubstr("$trend0"));
  EXPECT_THAT(drawn, Not(HasSubstr("nan")));
  EXPECT_THAT(drawn, HasSubstr("\n500 "));
  EXPECT_THAT(drawn, Not(HasSubstr("\n1 "))) << "the class has no point of its own";
}

TEST_F(FiguresOf, TheTradeOffGrowsWithItsKey) {
  for (const char* loss : {"cross_entropy", "focal"}) add("none", loss);
  EXPECT_EQ(figure("trade_off_rho100").height_cm(), 8);
  for (int i = 0; i < 25; ++i) add("none", "focal:gamma=" + std::to_string(3 + i));
  EXPECT_GE(figure("trade_off_rho100").height_cm(), 12);
  EXPECT_THAT(script("trade_off_rho100"), HasSubstr("set key outside right center vertical maxrows 200"));
}

TEST(LooksTest, SeriesOfOneStrategyAreToldApartByColourAndPoint) {
  Results results;
  for (int i = 0; i < 20; ++i) results.series.emplace_back("uniform", "lr=" + std::to_string(i));
  std::set<std::tuple<std::string, int>> seen;
  for (const Look& look : looks(results)) seen.insert({look.colour, look.point});
  EXPECT_EQ(seen.size(), results.series.size());
}

}  // namespace
}  // namespace longtail::report
