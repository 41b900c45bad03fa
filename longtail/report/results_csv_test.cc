// Results of several data sets as a CSV.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "longtail/base/error.h"
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

TEST(ResultsCsvTest, ASpreadsheetsByteOrderMarkAndBlanksInTheHeaderAreTaken) {
  const std::string plain = "rho,strategy,seed,overall,head,medium,tail\n",
                    row = "100, uniform, 1, 40, 60, 40, 5\n";
  for (const std::string& header : {"\xef\xbb\xbf" + plain, "\xef\xbb\xbf# from Excel\r\n" + plain,
                                    std::string("rho, strategy, seed, overall, head, medium, tail\r\n"),
                                    std::string("\"rho\",\"strategy\",seed,overall,head,medium,tail\n")}) {
    std::vector<std::string> warnings;
    const auto runs = read_csv(header + row, "a.csv", warnings);
    EXPECT_THAT(warnings, IsEmpty());
    ASSERT_EQ(runs.size(), 1u);
    EXPECT_EQ(runs[0].strategy, "uniform");
  }
}

TEST(ResultsCsvTest, ACellOfTheHeaderThatHoldsACommaIsNotTwo) {
  std::vector<std::string> warnings;
  EXPECT_THROW(read_csv("\"rho,strategy\",seed,overall,head,medium,tail\n", "a.csv", warnings), base::Error);
}

}  // namespace
}  // namespace longtail::report
