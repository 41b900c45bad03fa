// Results of several data sets as a CSV.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "longtail/report/report.h"
#include "longtail/report/test_logs.h"

namespace longtail::report {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(ResultsCsvTest, SeveralDataSetsAtOneRatioReadBackTheSame) {
  const test::Folder folder("csv_of_data");
  for (const char* dataset : {"cifar10", "cifar100"}) {
    for (const char* strategy : {"uniform", "progressive"}) {
      train::RunLog log = test::make_log({strategy, 100, 1, 4});
      log.dataset = dataset;
      log.groups = std::string_view(dataset) == "cifar10" ? "paper" : "50,10";
      folder.add(std::string(dataset) + "_" + strategy, log);
    }
  }
  const Results results = read_results(std::vector{folder.path()});
  ASSERT_EQ(results.conditions.size(), 2u);
  const std::string csv = results_csv(results, At::kBest);
  std::vector<std::string> warnings;
  const Results again = detail::arrange(read_csv(csv, "results.csv", warnings), {}, {});
  EXPECT_THAT(warnings, IsEmpty());
  EXPECT_EQ(again.runs.size(), 4u);
  EXPECT_EQ(test::texts(again.conditions), test::texts(results.conditions));
  EXPECT_EQ(results_csv(again, At::kBest), csv);
}

TEST(ResultsCsvTest, ALineOfAnotherNumberOfColumnsIsNamed) {
  std::vector<std::string> warnings;
  const auto runs = read_csv(
      "rho,strategy,seed,overall,head,medium,tail,data\n100,uniform,1,40,60,40,5,\"a, "
      "b=c\"\n100,uniform,2,40,60,40,5\n",
      "a.csv", warnings);
  ASSERT_EQ(runs.size(), 1u);
  EXPECT_EQ(runs[0].condition.text(), "a, b=c, 100");
  EXPECT_THAT(warnings, ElementsAre(HasSubstr("7 columns instead of 8")));
}

}  // namespace
}  // namespace longtail::report
