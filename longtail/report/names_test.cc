#include "longtail/report/names.h"

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
using testing::Not;

// What is said of a file of names with this text; empty if it is taken.
std::string complaint(const std::string& text) {
  const test::Folder folder("names_file");
  base::write_atomically(folder.path() / "names.toml", text);
  try {
    read_names(folder.path() / "names.toml");
  } catch (const base::UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(NamesTest, AFileOfNamesIsReadAndAWrongOneIsNamedWithItsLine) {
  const test::Folder folder("names_good");
  base::write_atomically(
      folder.path() / "names.toml",
      "# a comment\n\"Uniform (rebalance=crt)\" = \" cRT \"\n\"Progressive\" = \"Ours\"\n");
  EXPECT_EQ(read_names(folder.path() / "names.toml"),
            (Names{{"Progressive", "Ours"}, {"Uniform (rebalance=crt)", "cRT"}}));
  EXPECT_THAT(complaint("\nUniform (rebalance=crt) = \"cRT\"\n"), HasSubstr("names.toml:2: "));
  EXPECT_THAT(complaint("\"Uniform\" = 3\n"), HasSubstr("names.toml:1: the name of `Uniform` is not a text"));
}

TEST(NamesTest, ASeriesIsKnownByItsTitleOrItsText) {
  std::vector<Series> series = {Series("uniform"), Series("progressive:gamma=2"), Series("class_balanced")};
  std::vector<std::string> warnings;
  call_by_name(series, {{"Progressive (gamma=2)", "A"}, {"class_balanced", "B"}}, warnings);
  EXPECT_THAT(warnings, IsEmpty());
  EXPECT_EQ(series[0].title(), "Uniform");
  EXPECT_EQ(series[1].title(), "A");
  EXPECT_EQ(series[2].title(), "B");
}

TEST(NamesTest, NamesMayBeExchangedButNotShared) {
  std::vector<Series> series = {Series("uniform"), Series("progressive")};
  std::vector<std::string> warnings;
  call_by_name(series, {{"Uniform", "Progressive"}, {"Progressive", "Uniform"}}, warnings);
  EXPECT_EQ(series[0].title(), "Progressive");
  series = {Series("uniform"), Series("progressive")};
  EXPECT_THROW(call_by_name(series, {{"Uniform", "Progressive"}}, warnings), base::UsageError);
  EXPECT_THROW(call_by_name(series, {{"Uniform", "A"}, {"Progressive", "A"}}, warnings), base::UsageError);
  EXPECT_THROW(call_by_name(series, {{"Uniform", ""}}, warnings), base::UsageError);
  EXPECT_THROW(call_by_name(series, {{"Uniform", "two\nlines"}}, warnings), base::Error);
  EXPECT_THROW(call_by_name(series, {{"\x1b[2J", "nobody"}}, warnings), base::Error);
  EXPECT_THAT(warnings, IsEmpty());
}

TEST(NamesTest, ANameWithoutItsSeriesIsNamedInAWarning) {
  std::vector<Series> series = {Series("uniform")};
  std::vector<std::string> warnings;
  call_by_name(series, {{"uniform", "U"}, {"a", "1"}, {"b", "2"}, {"c", "3"}, {"d", "4"}}, warnings);
  EXPECT_THAT(warnings, ElementsAre(HasSubstr("No series for 4 of 5 names: `a`, `b`, `c`, 1 more.")));
}

TEST(NamesTest, AReportUsesTheNamesEverywhereAndChangesNoNumber) {
  const test::Folder folder("names_report");
  test::write_grid(folder, {100}, {1, 2, 3}, 5);
  ReportOptions options;
  options.inputs = {folder.path()};
  const Report plain = make_report(options);
  options.read.names = {{"Progressive", "Ours, at last"}, {"uniform", "ERM"}};
  options.summary.baseline = "ERM";
  const Report named = make_report(options);
  const std::string text = to_terminal(named);
  EXPECT_THAT(text, HasSubstr("Use Ours, at last. "));
  EXPECT_THAT(text, HasSubstr("Ours, at last is above ERM by"));
  for (const std::string& everything : {text, to_summary(named)}) {
    EXPECT_THAT(everything, Not(HasSubstr("Progressive")));
    EXPECT_THAT(everything, Not(HasSubstr("Uniform")));
  }
  EXPECT_EQ(results_csv(named.results, At::kBest), results_csv(plain.results, At::kBest));
}

}  // namespace
}  // namespace longtail::report
