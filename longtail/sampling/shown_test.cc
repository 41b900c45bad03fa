#include "longtail/sampling/shown.h"

#include <gtest/gtest.h>

#include <set>

#include "longtail/sampling/strategy.h"

namespace longtail::sampling {
namespace {

TEST(ShownTest, ThePapersFourKeepFourDifferentColoursWhateverTheirParameters) {
  EXPECT_EQ(strategy_colour("uniform"), "#0072B2");
  EXPECT_EQ(strategy_colour("class_balanced"), "#D55E00");
  EXPECT_EQ(strategy_colour("square_root"), "#009E73");
  EXPECT_EQ(strategy_colour("progressive"), "#CC79A7");
  EXPECT_EQ(strategy_colour("progressive:gamma=2"), strategy_colour("progressive"));
}

TEST(ShownTest, EveryStrategyHasATitleAndAColourThatIsNoneOfThePapers) {
  const std::set<std::string_view> taken = {"#0072B2", "#D55E00", "#009E73", "#CC79A7"};
  std::size_t of_the_paper = 0;
  for (const auto& one : strategies()) {
    const bool papers = strategy_place(one.name) < kPaperStrategies.size();
    of_the_paper += papers;
    EXPECT_EQ(taken.contains(strategy_colour(one.name)), papers) << one.name;
    EXPECT_NE(strategy_title(one.name), "") << one.name;
  }
  EXPECT_EQ(of_the_paper, kPaperStrategies.size());
}

TEST(ShownTest, PlacesAndTitlesDoNotDependOnParameters) {
  EXPECT_EQ(strategy_place("uniform"), 0u);
  EXPECT_EQ(strategy_place("progressive:gamma=2"), 3u);
  EXPECT_EQ(strategy_place("power:q=0.5"), kPaperStrategies.size());
  EXPECT_EQ(strategy_title("class_balanced"), "Class-Balanced");
  EXPECT_EQ(strategy_title("progressive:gamma=2 (lr=0.05)"), "Progressive");
  EXPECT_EQ(paper_strategies(),
            (std::vector<std::string>{"uniform", "class_balanced", "square_root", "progressive"}));
}

}  // namespace
}  // namespace longtail::sampling
