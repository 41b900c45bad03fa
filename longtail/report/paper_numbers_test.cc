// Every number of the paper's tables that depends only on its per-seed results, as the paper prints it.
#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

#include "longtail/report/against.h"
#include "longtail/report/tables.h"

namespace longtail::report {
namespace {

using Rows = std::vector<std::vector<std::string>>;

const std::vector<Table>& tables() {
  static const std::vector<Table> made = [] {
    const Results results = paper_results();
    return all_tables(results, summarise(results, {}));
  }();
  return made;
}

const Table& table(std::string_view id) {
  for (const Table& one : tables()) {
    if (one.id == id) return one;
  }
  throw std::runtime_error("no table " + std::string(id));
}

Rows printed_rows(const Table& one) {
  Rows rows;
  for (const auto& cells : one.rows) {
    rows.emplace_back();
    for (const Cell& cell : cells) rows.back().push_back(printed(cell));
  }
  return rows;
}

TEST(PaperNumbersTest, TheOverallTableIsThePapers) {
  const Rows expected = {
      {"Uniform", "56.6 ± 0.1", "44.1 ± 0.3", "39.7 ± 0.4"},
      {"Class-Balanced", "56.0 ± 0.1", "39.9 ± 0.2", "34.0 ± 0.9"},
      {"Square-Root", "56.7 ± 0.1", "43.0 ± 0.2", "38.1 ± 0.2"},
      {"Progressive", "57.6 ± 0.2", "44.1 ± 0.5", "40.0 ± 0.6"},
  };
  EXPECT_EQ(printed_rows(table("overall")), expected);
}

TEST(PaperNumbersTest, TheTable_groups_rho100_IsThePapers) {
  const Rows expected = {
      {"Uniform", "39.7", "66.7", "38.4", "10.8"},
      {"Class-Balanced", "34.0", "57.7", "32.1", "9.2"},
      {"Square-Root", "38.1", "63.8", "36.5", "10.9"},
      {"Progressive", "40.0", "64.9", "38.6", "13.5"},
  };
  EXPECT_EQ(printed_rows(table("groups_rho100")), expected);
}

TEST(PaperNumbersTest, TheTable_groups_rho50_IsThePapers) {
  const Rows expected = {
      {"Uniform", "44.1", "65.3", "36.7", "13.9"},
      {"Class-Balanced", "39.9", "57.7", "33.9", "14.1"},
      {"Square-Root", "43.0", "62.8", "35.6", "15.8"},
      {"Progressive", "44.1", "63.4", "37.7", "16.2"},
  };
  EXPECT_EQ(printed_rows(table("groups_rho50")), expected);
}

TEST(PaperNumbersTest, TheTable_groups_rho10_IsThePapers) {
  const Rows expected = {
      {"Uniform", "56.6", "63.3", "41.7", "n/a"},
      {"Class-Balanced", "56.0", "62.1", "42.4", "n/a"},
      {"Square-Root", "56.7", "62.9", "42.9", "n/a"},
      {"Progressive", "57.6", "63.7", "44.1", "n/a"},
  };
  EXPECT_EQ(printed_rows(table("groups_rho10")), expected);
}

TEST(PaperNumbersTest, TheTable_groups_std_rho100_IsThePapers) {
  const Rows expected = {
      {"Uniform", "39.7 ± 0.4", "66.7 ± 0.6", "38.4 ± 0.8", "10.8 ± 0.9"},
      {"Class-Balanced", "34.0 ± 0.9", "57.7 ± 1.1", "32.1 ± 0.8", "9.2 ± 1.2"},
      {"Square-Root", "38.1 ± 0.2", "63.8 ± 0.8", "36.5 ± 0.4", "10.9 ± 0.4"},
      {"Progressive", "40.0 ± 0.6", "64.9 ± 0.1", "38.6 ± 1.5", "13.5 ± 0.7"},
  };
  EXPECT_EQ(printed_rows(table("groups_std_rho100")), expected);
}

TEST(PaperNumbersTest, TheTable_groups_std_rho50_IsThePapers) {
  const Rows expected = {
      {"Uniform", "44.1 ± 0.3", "65.3 ± 0.4", "36.7 ± 0.8", "13.9 ± 0.0"},
      {"Class-Balanced", "39.9 ± 0.2", "57.7 ± 0.2", "33.9 ± 0.0", "14.1 ± 0.6"},
      {"Square-Root", "43.0 ± 0.2", "62.8 ± 0.8", "35.6 ± 0.8", "15.8 ± 0.7"},
      {"Progressive", "44.1 ± 0.5", "63.4 ± 0.3", "37.7 ± 0.7", "16.2 ± 1.4"},
  };
  EXPECT_EQ(printed_rows(table("groups_std_rho50")), expected);
}

TEST(PaperNumbersTest, TheTable_groups_std_rho10_IsThePapers) {
  const Rows expected = {
      {"Uniform", "56.6 ± 0.1", "63.3 ± 0.1", "41.7 ± 0.5", "n/a"},
      {"Class-Balanced", "56.0 ± 0.1", "62.1 ± 0.4", "42.4 ± 0.6", "n/a"},
      {"Square-Root", "56.7 ± 0.1", "62.9 ± 0.4", "42.9 ± 1.2", "n/a"},
      {"Progressive", "57.6 ± 0.2", "63.7 ± 0.2", "44.1 ± 0.8", "n/a"},
  };
  EXPECT_EQ(printed_rows(table("groups_std_rho10")), expected);
}

TEST(PaperNumbersTest, TheTable_per_seed_overall_IsThePapers) {
  const Rows expected = {
      {"10", "Uniform", "56.48", "56.80", "56.59", "56.6 ± 0.1"},
      {"10", "Class-Balanced", "55.94", "55.90", "56.17", "56.0 ± 0.1"},
      {"10", "Square-Root", "56.59", "56.68", "56.81", "56.7 ± 0.1"},
      {"10", "Progressive", "57.90", "57.55", "57.36", "57.6 ± 0.2"},
      {"50", "Uniform", "44.19", "43.66", "44.44", "44.1 ± 0.3"},
      {"50", "Class-Balanced", "40.18", "39.78", "39.71", "39.9 ± 0.2"},
      {"50", "Square-Root", "43.23", "43.07", "42.67", "43.0 ± 0.2"},
      {"50", "Progressive", "44.73", "44.08", "43.59", "44.1 ± 0.5"},
      {"100", "Uniform", "40.27", "39.30", "39.65", "39.7 ± 0.4"},
      {"100", "Class-Balanced", "34.13", "32.82", "34.97", "34.0 ± 0.9"},
      {"100", "Square-Root", "37.84", "38.33", "38.22", "38.1 ± 0.2"},
      {"100", "Progressive", "40.88", "39.82", "39.38", "40.0 ± 0.6"},
  };
  EXPECT_EQ(printed_rows(table("per_seed_overall")), expected);
}

TEST(PaperNumbersTest, TheTable_per_seed_groups_rho100_IsThePapers) {
  const Rows expected = {
      {"Uniform", "Head", "66.14", "66.40", "67.49", "66.7", "0.6"},
      {"Uniform", "Medium", "39.44", "37.47", "38.29", "38.4", "0.8"},
      {"Uniform", "Tail", "11.97", "10.71", "9.71", "10.8", "0.9"},
      {"Class-Balanced", "Head", "57.66", "56.37", "59.06", "57.7", "1.1"},
      {"Class-Balanced", "Medium", "31.56", "31.62", "33.24", "32.1", "0.8"},
      {"Class-Balanced", "Tail", "10.39", "7.55", "9.68", "9.2", "1.2"},
      {"Square-Root", "Head", "62.69", "64.03", "64.69", "63.8", "0.8"},
      {"Square-Root", "Medium", "36.35", "37.06", "36.15", "36.5", "0.4"},
      {"Square-Root", "Tail", "11.42", "10.71", "10.61", "10.9", "0.4"},
      {"Progressive", "Head", "64.74", "64.83", "65.00", "64.9", "0.1"},
      {"Progressive", "Medium", "40.74", "37.68", "37.50", "38.6", "1.5"},
      {"Progressive", "Tail", "14.10", "13.94", "12.52", "13.5", "0.7"},
  };
  EXPECT_EQ(printed_rows(table("per_seed_groups_rho100")), expected);
}

TEST(PaperNumbersTest, TheTable_per_seed_groups_rho50_IsThePapers) {
  const Rows expected = {
      {"Uniform", "Head", "64.85", "65.34", "65.80", "65.3", "0.4"},
      {"Uniform", "Medium", "37.40", "35.58", "37.10", "36.7", "0.8"},
      {"Uniform", "Tail", "13.89", "13.89", "13.79", "13.9", "0.0"},
      {"Class-Balanced", "Head", "58.05", "57.46", "57.68", "57.7", "0.2"},
      {"Class-Balanced", "Medium", "33.90", "33.85", "33.83", "33.9", "0.0"},
      {"Class-Balanced", "Tail", "14.84", "14.11", "13.32", "14.1", "0.6"},
      {"Square-Root", "Head", "61.98", "63.98", "62.49", "62.8", "0.8"},
      {"Square-Root", "Medium", "36.65", "35.00", "35.08", "35.6", "0.8"},
      {"Square-Root", "Tail", "16.63", "14.95", "15.89", "15.8", "0.7"},
      {"Progressive", "Head", "63.05", "63.71", "63.34", "63.4", "0.3"},
      {"Progressive", "Medium", "38.70", "37.12", "37.20", "37.7", "0.7"},
      {"Progressive", "Tail", "17.89", "16.37", "14.42", "16.2", "1.4"},
  };
  EXPECT_EQ(printed_rows(table("per_seed_groups_rho50")), expected);
}

TEST(PaperNumbersTest, TheTable_per_seed_groups_rho10_IsThePapers) {
  const Rows expected = {
      {"Uniform", "Head", "63.38", "63.35", "63.25", "63.3", "0.1"},
      {"Uniform", "Medium", "41.13", "42.23", "41.77", "41.7", "0.5"},
      {"Class-Balanced", "Head", "61.65", "62.01", "62.62", "62.1", "0.4"},
      {"Class-Balanced", "Medium", "43.23", "42.29", "41.81", "42.4", "0.6"},
      {"Square-Root", "Head", "63.46", "62.74", "62.51", "62.9", "0.4"},
      {"Square-Root", "Medium", "41.29", "43.19", "44.13", "42.9", "1.2"},
      {"Progressive", "Head", "63.75", "63.42", "63.83", "63.7", "0.2"},
      {"Progressive", "Medium", "44.87", "44.48", "42.97", "44.1", "0.8"},
  };
  EXPECT_EQ(printed_rows(table("per_seed_groups_rho10")), expected);
}

TEST(PaperNumbersTest, AllFifteenPairedDifferencesAndTheirSignAgreementsAreThePapers) {
  const Rows expected = {
      {"Overall", "10", "+1.42", "+0.75", "+0.77", "3/3"},
      {"Overall", "50", "+0.54", "+0.42", "-0.85", "2/3"},
      {"Overall", "100", "+0.61", "+0.52", "-0.27", "2/3"},
      {"Tail", "50", "+4.00", "+2.48", "+0.63", "3/3"},
      {"Tail", "100", "+2.13", "+3.23", "+2.81", "3/3"},
  };
  Rows ours;
  for (std::vector<std::string>& row : printed_rows(table("paired_progressive"))) {
    if (row[0] != "Overall" && row[0] != "Tail") continue;
    row.erase(row.begin() + 5);  // the mean, which the paper gives in the text
    ours.push_back(row);
  }
  EXPECT_EQ(ours, expected);
}

TEST(PaperNumbersTest, TheMeanPairedDifferencesAreThoseOfThePapersText) {
  const Results results = paper_results();
  const Summary summary = summarise(results, {});
  const auto mean_of = [&](double rho, Metric metric) {
    return fixed(find_comparison(summary, Series("progressive"), Condition(rho), metric)->mean, 2, true);
  };
  EXPECT_EQ(mean_of(50, Metric::kOverall), "+0.04");
  EXPECT_EQ(mean_of(100, Metric::kOverall), "+0.29");
  EXPECT_EQ(mean_of(50, Metric::kTail), "+2.37");
  EXPECT_EQ(mean_of(100, Metric::kTail), "+2.72");
}

TEST(PaperNumbersTest, TheBestOfAColumnIsBoldByItsUnroundedMean) {
  const Table& overall = table("overall");
  for (std::size_t c = 1; c <= 3; ++c) {
    for (std::size_t r = 0; r < 4; ++r)
      EXPECT_EQ(overall.rows[r][c].bold, r == 3) << r << " " << c;  // 44.13 and 44.10 both print 44.1
  }
  const Table& groups = table("groups_rho100");
  EXPECT_TRUE(groups.rows[0][2].bold);  // uniform is the best on the head
  EXPECT_TRUE(groups.rows[3][4].bold);
}

TEST(PaperNumbersTest, TheFindingsSayWhatThePairsSay) {
  const Results results = paper_results();
  const Summary summary = summarise(results, {});
  std::vector<std::string> sentences;
  for (const Finding& finding : summary.findings) sentences.push_back(finding.sentence);
  const auto has = [&](const std::string& sentence) {
    return std::find(sentences.begin(), sentences.end(), sentence) != sentences.end();
  };
  EXPECT_TRUE(
      has("Tail accuracy at ρ = 100: Progressive is above Uniform by 2.72 points (+0.56 to +4.88), above "
          "for 3 of 3 seeds."));
  EXPECT_TRUE(
      has("Overall accuracy at ρ = 100: Progressive against Uniform is not established: +0.29 points "
          "(-1.53 to +2.10), above for 2 of 3 seeds."));
  EXPECT_TRUE(
      has("Overall accuracy at ρ = 10: Class-Balanced is below Uniform by 0.62 points (-1.16 to -0.08), "
          "below for 3 of 3 seeds."));
}

}  // namespace
}  // namespace longtail::report
