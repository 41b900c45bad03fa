#include "longtail/report/figures.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "longtail/base/error.h"
#include "longtail/report/report.h"
#include "longtail/report/test_logs.h"

namespace longtail::report {
namespace {

using testing::HasSubstr;
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
