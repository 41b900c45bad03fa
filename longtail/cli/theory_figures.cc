#include <fmt/format.h>

#include <algorithm>

#include "longtail/base/file.h"
#include "longtail/base/gnuplot.h"
#include "longtail/base/quote.h"
#include "longtail/cli/class_axis.h"
#include "longtail/cli/theory_words.h"
#include "longtail/report/keys.h"
#include "longtail/sampling/shown.h"

namespace longtail::cli {
namespace {

namespace fs = std::filesystem;
using theory::Forecast;

std::string label_of(const Forecast& f, const TheoryReport& report) {
  int same = 0;
  for (const Forecast& other : report.shown) same += other.strategy == f.strategy;
  const std::string title = report::Series(f.strategy).title();
  return same > 1 ? fmt::format("{}, epoch {}", title, f.situation.epoch) : title;
}

// Lines over the classes, one per forecast shown in the tables. The later epochs of a strategy are dashed.
template <class Value>
void class_lines(base::Figure& figure, const TheoryReport& report, const Value& value) {
  std::string plot = "plot ";
  int block = 0, dash = 0;
  std::string before;
  for (const Forecast& f : report.shown) {
    dash = f.strategy == before ? dash + 1 : 1;
    before = f.strategy;
    std::string rows;
    for (std::size_t k = 0; k < f.classes.size(); ++k) {
      if (f.classes[k].count > 0) rows += fmt::format("{} {:.10g}\n", k, value(f.classes[k]));
    }
    const std::string name = fmt::format("b{}", block++);
    figure.block(name, rows);
    plot +=
        fmt::format("{}${} using 1:2 with lines lw 2 dt {} lc rgb '{}' title {}", block > 1 ? ", " : "", name,
                    dash, sampling::strategy_colour(f.strategy), base::quote::gnuplot(label_of(f, report)));
  }
  figure.script(plot);
}

void class_axis(base::Figure& figure, const TheoryReport& report, const std::string& y) {
  std::size_t classes = 0;
  for (const Forecast& f : report.shown) classes = std::max(classes, f.classes.size());
  figure.script(class_ticks(static_cast<int>(classes)) +
                "set xlabel 'class, by label'\nset logscale y\nset key top right\nset ylabel '" + y + "'");
}

void draw_weights(const TheoryReport& report, const fs::path& path) {
  base::Figure figure;
  class_axis(figure, report, "class weight w_k");
  figure.script("set format y '%g'");
  class_lines(figure, report, [](const theory::ClassForecast& one) { return one.weight; });
  figure.write(path);
}

void draw_ratios(const TheoryReport& report, const fs::path& path) {
  base::Figure figure(16, 8);
  // Both use the scale of the proposition, which is the wider, so that they can be compared by eye.
  double low = 0.5, high = 2;
  for (const Forecast& f : report.shown) {
    for (const theory::ClassForecast& one : f.classes) {
      if (one.count == 0 || one.proposition_ratio <= 0) continue;
      low = std::min(low, one.proposition_ratio / 2);
      high = std::max(high, one.proposition_ratio * 2);
    }
  }
  figure.script(
      fmt::format("set multiplot layout 1,2\nset yrange [{:g}:{:g}]\nset format y '%g'", low, high));
  class_axis(figure, report, "variance of the class part over uniform");
  figure.script("set key top left\nset title 'Proposition 1'");
  class_lines(figure, report, [](const theory::ClassForecast& one) { return one.proposition_ratio; });
  figure.script("unset key\nset title 'exact'");
  class_lines(figure, report, [](const theory::ClassForecast& one) { return one.exact_ratio; });
  figure.script("unset multiplot");
  figure.write(path);
}

void draw_courses(const TheoryReport& report, const fs::path& path) {
  base::Figure figure(16, 8);
  std::string left = "plot ", right = "plot ";
  for (std::size_t s = 0; s < report.courses.size(); ++s) {
    std::string rows;
    for (const Forecast& f : report.courses[s]) {
      rows +=
          fmt::format("{} {:.10g} {:.10g}\n", f.situation.epoch, f.total.proposition_mse(), f.total.mse());
    }
    figure.block(fmt::format("s{}", s), rows);
    const std::string& strategy = report.courses[s].front().strategy;
    const std::string style =
        fmt::format("with lines lw 2 lc rgb '{}' title {}", sampling::strategy_colour(strategy),
                    base::quote::gnuplot(report::Series(strategy).title()));
    left += fmt::format("{}$s{} using 1:2 {}", s > 0 ? ", " : "", s, style);
    right += fmt::format("{}$s{} using 1:3 {}", s > 0 ? ", " : "", s, style);
  }
  figure.script(
      "set multiplot layout 1,2\nset xlabel 'epoch'\nset ylabel 'MSE of the gradient'\nset key left at graph "
      "0.3,0.8");
  figure.script("set format y '%g'\nset yrange [0:*]\nset title 'with Proposition 1'\n" + left);
  figure.script("unset key\nset title 'exact'\n" + right + "\nunset multiplot");
  figure.write(path);
}

void draw_exposure(const TheoryReport& report, const fs::path& path) {
  base::Figure figure;
  class_axis(figure, report, "draws of an image");
  figure.script("set key top left\nset format y '%g'");
  std::string plot = "plot ";
  for (std::size_t s = 0; s < report.exposures.size(); ++s) {
    const theory::Exposure& e = report.exposures[s];
    std::string rows;
    for (std::size_t k = 0; k < e.classes.size(); ++k) {
      if (e.classes[k].count == 0) continue;
      rows += fmt::format("{} {:.10g} {:.10g}\n", k, e.classes[k].expected, e.classes[k].mean);
    }
    figure.block(fmt::format("s{}", s), rows);
    const auto colour = sampling::strategy_colour(e.strategy);
    plot += fmt::format(
        "{0}$s{1} using 1:2 with lines lw 2 lc rgb '{2}' title {3}, "
        "$s{1} using 1:3 with points pt 7 ps 0.3 lc rgb '{2}' notitle",
        s > 0 ? ", " : "", s, colour, base::quote::gnuplot(report::Series(e.strategy).title()));
  }
  figure.script(plot);
  figure.write(path);
}

}  // namespace

std::vector<fs::path> draw_theory(const TheoryReport& report, const fs::path& folder,
                                  const std::string& ending) {
  base::make_folder(folder);
  const auto path = [&](const char* name) { return folder / (std::string("theory_") + name + "." + ending); };
  std::vector<fs::path> paths = {path("weights"), path("ratios"), path("mse")};
  draw_weights(report, paths[0]);
  draw_ratios(report, paths[1]);
  draw_courses(report, paths[2]);
  if (!report.exposures.empty()) {
    paths.push_back(path("exposure"));
    draw_exposure(report, paths.back());
  }
  return paths;
}

}  // namespace longtail::cli
