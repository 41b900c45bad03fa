#include <fmt/format.h>

#include "longtail/base/file.h"
#include "longtail/base/gnuplot.h"
#include "longtail/base/quote.h"
#include "longtail/cli/class_axis.h"
#include "longtail/cli/probe_words.h"
#include "longtail/report/keys.h"
#include "longtail/sampling/shown.h"

namespace longtail::cli {
namespace {

namespace fs = std::filesystem;
using theory::ProbeResult;
using theory::StrategyProbe;

// The length and spread of the gradients, per class.
void draw_classes(const ProbeResult& result, const fs::path& path) {
  base::Figure figure(16, 8);
  std::string rows;
  for (int k = 0; k < result.moments.classes(); ++k) {
    if (result.moments.counts[k] == 0) continue;
    rows += fmt::format("{} {:.8g} {:.8g} {:.8g}\n", k, result.moments.product(k, k),
                        result.moments.within[k], result.cosines[k]);
  }
  figure.block("classes", rows);
  figure.script(class_ticks(result.moments.classes()));
  figure.script(fmt::format(
      "set multiplot layout 1,2\nset xlabel 'class, by label'\nset logscale y\nset format y '%g'\nset key "
      "top left\n"
      "plot $classes using 1:2 with points pt 7 ps 0.4 lc rgb '{0}' title 'squared length of the mean "
      "gradient', "
      "$classes using 1:3 with points pt 6 ps 0.4 lc rgb '{1}' title 'variance within the class'\n"
      "unset logscale y\nset yrange [-1:1]\nset ylabel 'cosine with the full gradient'\n"
      "plot $classes using 1:4 with points pt 7 ps 0.4 lc rgb '{2}' notitle\nunset multiplot",
      base::kOkabeIto[5], base::kOkabeIto[6], base::kOkabeIto[3]));
  figure.write(path);
}

// Stacked bars of the exact formula; the variance of the mini-batches as points on top of the bias.
void draw_strategies(const ProbeResult& result, const fs::path& path) {
  base::Figure figure(14, 8);
  std::string rows, tics;
  bool points = false;
  for (std::size_t s = 0; s < result.strategies.size(); ++s) {
    const StrategyProbe& one = result.strategies[s];
    const double value = one.frozen ? one.total.bias2 + one.frozen->variance.value : 0;
    const double error = one.frozen ? 3 * one.frozen->variance.error : 0;
    points = points || one.frozen;
    rows += fmt::format("{} {:.8g} {:.8g} {:.8g} {:.8g} {:.8g}\n", s, one.total.bias2,
                        one.total.bias2 + one.total.within, one.total.mse(), value, error);
    tics += fmt::format("{}{} {}", s > 0 ? ", " : "",
                        base::quote::gnuplot_tic(report::Series(one.strategy).title()), s);
  }
  figure.block("s", rows);
  figure.script(
      fmt::format("set style fill solid\nset boxwidth 0.6\nset ylabel 'MSE of the mini-batch gradient'\nset "
                  "yrange [0:*]\n"
                  "set format y '%g'\nset xtics ({}) noenhanced\nset xrange [-0.6:{}]\nset key outside "
                  "bottom center horizontal\n"
                  "plot $s using 1:4 with boxes lc rgb '{}' title 'between classes', "
                  "$s using 1:3 with boxes lc rgb '{}' title 'within classes', $s using 1:2 with boxes lc "
                  "rgb '{}' title 'squared bias'{}",
                  tics, static_cast<double>(result.strategies.size()) - 0.4, base::kOkabeIto[2],
                  base::kOkabeIto[5], base::kOkabeIto[1],
                  points ? ", $s using 1:5:6 with yerrorbars pt 7 ps 0.5 lw 1.5 lc rgb 'black' title 'real "
                           "mini-batches, 3 s.e.'"
                         : ""));
  figure.write(path);
}

// The variance of each class's part, relative to uniform: measured (exact formula on measured moments) and
// according to the proposition.
void draw_ratios(const ProbeResult& result, const StrategyProbe& uniform, const fs::path& path) {
  base::Figure figure(16, 8);
  figure.script(
      class_ticks(result.moments.classes()) +
      "set xlabel 'class, by label'\nset ylabel 'variance of the class part over uniform'\nset logscale y\n"
      "set format y '%g'\nset key outside right");
  std::string plot = "plot ";
  for (std::size_t s = 0; s < result.strategies.size(); ++s) {
    const StrategyProbe& one = result.strategies[s];
    std::string rows;
    for (std::size_t k = 0; k < one.classes.size(); ++k) {
      if (result.moments.counts[k] == 0) continue;
      rows += fmt::format("{} {:.8g} {:.8g}\n", k, one.classes[k].variance() / uniform.classes[k].variance(),
                          one.classes[k].proposition / uniform.classes[k].proposition);
    }
    figure.block(fmt::format("s{}", s), rows);
    plot += fmt::format(
        "{0}$s{1} using 1:2 with lines lw 2 lc rgb '{2}' title {3}, "
        "$s{1} using 1:3 with lines lw 1 dt 2 lc rgb '{2}' title {4}",
        s > 0 ? ", " : "", s, sampling::strategy_colour(one.strategy),
        base::quote::gnuplot(report::Series(one.strategy).title()),
        base::quote::gnuplot(report::Series(one.strategy).title() + ", Prop. 1"));
  }
  figure.script(plot);
  figure.write(path);
}

void draw_course(const ProbeReport& report, const fs::path& path) {
  base::Figure figure(16, 8);
  std::string variance = "plot ", bias = "plot ";
  for (std::size_t s = 0; s < report.results.front().strategies.size(); ++s) {
    std::string rows;
    for (const ProbeResult& result : report.results) {
      const auto& total = result.strategies[s].total;
      rows += fmt::format("{} {:.8g} {:.8g}\n", result.epoch, total.variance(), total.bias2);
    }
    figure.block(fmt::format("s{}", s), rows);
    const std::string& strategy = report.results.front().strategies[s].strategy;
    const std::string style = fmt::format("with linespoints lw 2 pt 7 ps 0.5 lc rgb '{}' title {}",
                                          sampling::strategy_colour(strategy),
                                          base::quote::gnuplot(report::Series(strategy).title()));
    variance += fmt::format("{}$s{} using 1:2 {}", s > 0 ? ", " : "", s, style);
    bias += fmt::format("{}$s{} using 1:3 {}", s > 0 ? ", " : "", s, style);
  }
  figure.script(
      "set multiplot layout 1,2\nset xlabel 'epochs done'\nset format y '%g'\nset yrange [0:*]\nset key top "
      "left");
  figure.script("set ylabel 'variance of the mini-batch gradient (exact)'\n" + variance);
  figure.script("unset key\nset ylabel 'squared bias'\n" + bias + "\nunset multiplot");
  figure.write(path);
}

}  // namespace

std::vector<fs::path> draw_probe(const ProbeReport& report, const fs::path& folder,
                                 const std::string& ending) {
  base::make_folder(folder);
  std::vector<fs::path> paths;
  const auto path = [&](const std::string& name) {
    paths.push_back(folder / ("probe_" + name + "." + ending));
    return paths.back();
  };
  for (const ProbeResult& result : report.results) {
    const std::string epoch = "_epoch" + std::to_string(result.epoch);
    draw_classes(result, path("classes" + epoch));
    draw_strategies(result, path("strategies" + epoch));
    for (const StrategyProbe& one : result.strategies) {
      if (one.strategy == "uniform") draw_ratios(result, one, path("ratios" + epoch));
    }
  }
  if (report.results.size() > 1) draw_course(report, path("training"));
  return paths;
}

}  // namespace longtail::cli
