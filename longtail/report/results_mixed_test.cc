// Logs that do not go together: with definitions that are none, of other data, beside a CSV.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "longtail/report/compare.h"
#include "longtail/report/report.h"
#include "longtail/report/tables.h"
#include "longtail/report/test_logs.h"

namespace longtail::report {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

TEST(MixedResultsTest, ALogWhoseGroupsOrStrategyAreNoneIsNamedAndLeftOutAndTheRestIsReported) {
  const test::Folder folder("no_groups");
  folder.add("good", test::make_log({"uniform", 100, 1, 6}));
  ReportOptions options;
  options.inputs = {folder.path()};
  const auto left_out_with = [&](const char* key, const char* value) {
    nlohmann::json log = train::to_json(test::make_log({"progressive", 100, 1, 6}));
    log[key] = value;
    base::write_atomically(folder.path() / "wrong.json", log.dump());
    const Report report = make_report(options);
    EXPECT_EQ(report.results.runs.size(), 1u);
    EXPECT_EQ(report.results.warnings.size(), 1u);
    return report.results.warnings.empty() ? "" : report.results.warnings[0];
  };
  for (const char* groups : {"banana", "5,500", ""}) {
    EXPECT_THAT(left_out_with("groups", groups),
                AllOf(HasSubstr("wrong.json cannot be used as a run log: "), HasSubstr("; left out.")))
        << groups;
  }
  EXPECT_THAT(left_out_with("strategy", ""),
              AllOf(HasSubstr("wrong.json cannot be used as a run log: the key `strategy` is empty"),
                    HasSubstr("; left out.")));
}

TEST(MixedResultsTest, OtherDataUnderTheSameSeedAreWarnedOf) {
  const test::Folder folder("other_data");
  const auto warnings = [&] { return read_results(std::vector{folder.path()}).warnings; };
  folder.add("a", test::make_log({"uniform", 100, 1, 10}));
  train::RunLog log = test::make_log({"progressive", 100, 1, 10});
  log.fingerprint.data = "other pixels";
  folder.add("b", log);
  EXPECT_THAT(warnings(), ElementsAre(AllOf(HasSubstr("b.json: other data than"),
                                            HasSubstr("a.json of the same seed 1"))));
  EXPECT_THAT(
      compare_runs({folder.path() / "a.json", folder.path() / "b.json"}),
      HasSubstr("B had other training images and the same initial weights than A; the data sets differ "
                "in pixels or labels.\n"));
  // Another size is other pixels, and a log may not tell what its data were.
  log.config["image_size"] = "64";
  folder.add("b", log);
  EXPECT_THAT(warnings(), ElementsAre());
  log.config.erase("image_size");
  log.fingerprint.data = "";
  folder.add("b", log);
  EXPECT_THAT(warnings(), ElementsAre());
}

TEST(MixedResultsTest, ClassesThatAreCutIntoOtherGroupsInOneConditionAreWarnedOf) {
  const test::Folder folder("other_groups");
  const auto warnings = [&] { return read_results(std::vector{folder.path()}).warnings; };
  train::RunLog log = test::make_log({"uniform", 100, 1, 10});
  log.groups = "auto";
  const auto add = [&](const std::string& name, const char* strategy, std::vector<int> sizes) {
    log.strategy = log.config["strategy"] = strategy;
    log.group_sizes = std::move(sizes);
    folder.add(name, log);
  };
  add("a", "uniform", {34, 33, 33});
  add("b", "progressive", {34, 33, 33});
  EXPECT_THAT(warnings(), ElementsAre());
  add("b", "progressive", {33, 34, 33});
  EXPECT_THAT(warnings(),
              ElementsAre(AllOf(
                  HasSubstr("At ρ = 100, not all logs have their classes cut into the same groups (head, "
                            "medium and tail: 33, 34, 33 in "),
                  HasSubstr("b.json; 34, 33, 33 in "),
                  HasSubstr("a.json). Only overall and balanced accuracy can be compared between them."))));
  add("c", "square_root", {34, 33, 33});
  EXPECT_THAT(warnings(), ElementsAre(HasSubstr("a.json and 1 more)")));
}

TEST(MixedResultsTest, RebalancedRunsAreToldApartByTheEpochsOfTheirTrainings) {
  const test::Folder folder("rebalanced_epochs");
  for (const int epochs : {10, 20}) {
    folder.add(fmt::format("s{}", epochs), test::make_log({"uniform", 100, 1, epochs}));
    train::RunLog log = test::make_log({"uniform", 100, 1, 1});
    log.config["rebalance"] = "ncm";
    log.parent = train::Parent{.protocol = "p", .network = "n", .epochs = epochs};
    folder.add(fmt::format("s{}n", epochs), log);
  }
  const Results results =
      read_results(std::vector{folder.path()}, {.select = Select::kAsLogged, .epochs = 0});
  EXPECT_THAT(test::texts(results.series),
              testing::UnorderedElementsAre("uniform (epochs=10)", "uniform (epochs=20)",
                                            "uniform (epochs=10, rebalance=ncm)",
                                            "uniform (epochs=20, rebalance=ncm)"));
  EXPECT_THAT(results.warnings, Not(Contains(HasSubstr("the same run as"))));
}

TEST(MixedResultsTest, RulesThatDifferBetweenConditionsOnlyAreNotDifferencesBetweenSeries) {
  const test::Folder logs("rules_by_condition");
  test::write_grid(logs, {10, 100}, {1, 2}, 6);  // at 10 no class is in the tail
  const auto remarks = [&] {
    return summarise(read_results(std::vector{logs.path()}, {.select = Select::kTail, .epochs = {}}), {})
        .remarks;
  };
  EXPECT_THAT(remarks(), Contains(HasSubstr("The results at ρ = 10 are those of the best epoch, chosen on "
                                            "the test images. It is ")));
  EXPECT_THAT(remarks(), Contains(HasSubstr("The results at ρ = 100 are those of the best epoch, chosen on "
                                            "the test images by tail accuracy. It is ")));
  EXPECT_THAT(remarks(), Not(Contains(HasSubstr("different rules"))));
  // One series at 100 whose log does not tell its tail by epoch.
  train::RunLog log = test::make_log({"uniform", 100, 1, 6});
  log.tail_acc.assign(log.tail_acc.size(), kMissing);
  log.best.accuracy.tail = log.last.accuracy.tail = kMissing;
  for (const std::int64_t seed : {1, 2}) {
    log.seed = seed;
    logs.add(fmt::format("uniform_100_{}", seed), log);
  }
  EXPECT_THAT(remarks(), Contains(HasSubstr("The results at ρ = 10 and of Uniform at ρ = 100 are those")));
  EXPECT_THAT(remarks(), Contains(HasSubstr("The results of Class-Balanced, Square-Root and Progressive at "
                                            "ρ = 100 are those of the best epoch")));
  EXPECT_THAT(remarks(), Contains(HasSubstr("different rules")));
}

// Three seeds of logs and a fourth in a CSV, far from them.
std::vector<std::filesystem::path> logs_and_csv(const test::Folder& logs, const test::Folder& csv) {
  test::write_grid(logs, {100}, {1, 2, 3}, 10);
  base::write_atomically(csv.path() / "extra.csv",
                         std::string_view("rho,strategy,seed,overall,head,medium,tail\n"
                                          "100,uniform,4,90,90,90,90\n100,progressive,4,91,90,90,90\n"));
  return {logs.path(), csv.path() / "extra.csv"};
}

TEST(MixedResultsTest, TheGapToTheLastEpochIsOverTheSeedsThatHaveBoth) {
  const test::Folder logs("gap_logs"), csv("gap_csv");
  const Results mixed = read_results(logs_and_csv(logs, csv));
  const Results alone = read_results(std::vector{logs.path()});
  const Table table = *best_final_table(mixed, {}), expected = *best_final_table(alone, {});
  ASSERT_EQ(table.rows.size(), expected.rows.size());
  for (std::size_t r = 0; r < table.rows.size(); ++r)
    EXPECT_EQ(table.rows[r][4].value, expected.rows[r][4].value) << table.rows[r][1].text;
  EXPECT_GT(table.rows[0][2].value, expected.rows[0][2].value + 5) << "the CSV counts among the best";
  EXPECT_THAT(table.notes, Contains("Gap: over the seeds whose last epoch is known, which are not all."));
  EXPECT_THAT(expected.notes, Not(Contains(HasSubstr("Gap:"))));
  // What the choice may flatter is that of the logs too.
  const auto flattery = [](const Results& results) {
    for (const std::string& remark : summarise(results, {}).remarks) {
      if (remark.starts_with("Results are those of the best epoch")) return remark;
    }
    return std::string();
  };
  EXPECT_THAT(flattery(alone), HasSubstr("that much the choice may flatter"));
  EXPECT_EQ(flattery(mixed), flattery(alone));
}

TEST(MixedResultsTest, AnEpochThatACsvCannotSelectIsWarnedOf) {
  const test::Folder logs("select_logs"), csv("select_csv");
  const std::vector<std::filesystem::path> paths = logs_and_csv(logs, csv);
  const auto warnings = [](const std::vector<std::filesystem::path>& inputs, Select select) {
    ReportOptions options;
    options.inputs = inputs;
    options.read.select = select;
    return make_report(options).results.warnings;
  };
  EXPECT_THAT(
      warnings({paths[1]}, Select::kTail),
      ElementsAre("--select tail is ignored: a CSV has one result per run and does not say of which epoch."));
  EXPECT_THAT(
      warnings(paths, Select::kOverall),
      Contains("--select overall is ignored for 2 of 14 results: a CSV has one result per run and does "
               "not say of which epoch."));
  EXPECT_THAT(warnings(paths, Select::kAsLogged), Not(Contains(HasSubstr("--select"))));
  EXPECT_THAT(warnings({paths[1]}, Select::kAsLogged), ElementsAre());
  EXPECT_THAT(warnings({paths[0]}, Select::kTail), ElementsAre());
}

}  // namespace
}  // namespace longtail::report
