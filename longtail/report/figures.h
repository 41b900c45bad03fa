// The figures of a report, for print: each series has one colour, dash, point and hatch in all of them, so
// that series can be told apart in grey too. Widths are those of one or two columns of a paper.
#pragma once

#include <array>
#include <filesystem>
#include <string>
#include <vector>

#include "longtail/base/gnuplot.h"
#include "longtail/report/results.h"
#include "longtail/report/summary.h"

namespace longtail::report {

// A figure is drawn in each of these forms.
inline constexpr std::array<const char*, 3> kFigureEndings = {".svg", ".pdf", ".png"};

struct NamedFigure {
  std::string name;  // file name without ending
  base::Figure figure;
};

// How a series looks, everywhere.
struct Look {
  std::string colour;  // #rrggbb
  int dash = 1;        // gnuplot's dash types
  int point = 7;       // gnuplot's point types
  int pattern = 3;     // gnuplot's fill patterns
};
// One per series, in the order of results.series.
std::vector<Look> looks(const Results& results);

// Every figure that the results can fill.
std::vector<NamedFigure> make_figures(const Results& results, const Summary& summary);

// Draws each as SVG, PDF and PNG, on all CPUs. An Error repeats gnuplot's complaint.
void draw(const std::vector<NamedFigure>& figures, const std::filesystem::path& folder);

}  // namespace longtail::report
