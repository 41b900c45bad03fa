#include "longtail/base/gnuplot.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "longtail/base/error.h"
#include "longtail/base/file.h"

namespace longtail::base {
namespace {

std::filesystem::path scratch(const std::string& name) {
  return std::filesystem::path(testing::TempDir()) / ("longtail_gnuplot_test_" + name);
}

TEST(GnuplotTest, TheFourStrategiesKeepFourDifferentColoursWhateverTheirParameters) {
  EXPECT_EQ(strategy_colour("uniform"), "#0072B2");
  EXPECT_EQ(strategy_colour("class_balanced"), "#D55E00");
  EXPECT_EQ(strategy_colour("square_root"), "#009E73");
  EXPECT_EQ(strategy_colour("progressive"), "#CC79A7");
  EXPECT_EQ(strategy_colour("progressive:gamma=2"), strategy_colour("progressive"));
  EXPECT_NE(strategy_colour("power:q=0.25"), "");
}

TEST(GnuplotTest, TheSameFigureHasTheSameBytes) {
  if (!has_gnuplot()) GTEST_SKIP() << "gnuplot is not installed";
  Figure figure;
  figure.block("line", "0 1\n1 3\n2 2\n");
  figure.script("plot $line with lines title 'class_balanced'");
  for (const char* ending : {".pdf", ".svg", ".png"}) {
    const auto path = scratch(std::string("line") + ending);
    figure.write(path);
    const auto first = read_bytes(path);
    figure.write(path);
    EXPECT_GT(first.size(), 500u) << ending;
    EXPECT_EQ(first, read_bytes(path)) << ending;
    std::filesystem::remove(path);
  }
}

TEST(GnuplotTest, AComplaintOfGnuplotIsRepeatedAndNoFileIsLeft) {
  if (!has_gnuplot()) GTEST_SKIP() << "gnuplot is not installed";
  Figure figure;
  figure.script("plot nonsense(");
  try {
    figure.write(scratch("bad.pdf"));
    FAIL() << "gnuplot took nonsense";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("bad.pdf"));
    EXPECT_THAT(error.what(), testing::HasSubstr("nonsense"));
  }
  EXPECT_FALSE(std::filesystem::exists(scratch("bad.pdf")));
}

TEST(GnuplotTest, AnUnknownEndingIsRefused) { EXPECT_THROW(Figure().write("figure.bmp"), Error); }

}  // namespace
}  // namespace longtail::base
