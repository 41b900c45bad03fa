#include "longtail/report/figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <set>

#include "longtail/base/threads.h"
#include "longtail/report/figure_parts.h"
#include "longtail/report/tables.h"
#include "longtail/sampling/shown.h"

namespace longtail::report {
namespace {

// ---- bars ----

// Bars side by side: `groups` places along the axis, one bar per series in each.
std::string bars(const Drawing& d, base::Figure& figure, std::size_t groups,
                 const std::function<Average(std::size_t series, std::size_t group)>& value) {
  const double width = 0.8 / static_cast<double>(d.results.series.size());
  std::string plot = "plot ";
  std::string errors;
  for (std::size_t s = 0; s < d.results.series.size(); ++s) {
    std::string rows;
    for (std::size_t g = 0; g < groups; ++g) {
      const Average a = value(s, g);
      if (a.seeds == 0) continue;
      const double x = static_cast<double>(g) - 0.4 + width * (static_cast<double>(s) + 0.5);
      const double spread = a.seeds > 1 ? a.deviation : 0;
      rows += fmt::format("{} {} {} {} {}\n", x, a.mean, width * 0.46, std::max(0.0, a.mean - spread),
                          std::min(100.0, a.mean + spread));
    }
    if (rows.empty()) continue;
    figure.block(fmt::format("bar{}", s), rows);
    plot += fmt::format(
        "$bar{0} using 1:2:($1-$3):($1+$3):(0):2 with boxxyerror lc rgb '{2}' fillstyle pattern {1} "
        "border lc rgb '{2}' title {3}, ",
        s, d.look[s].pattern, d.look[s].colour, d.title(s));
    errors += fmt::format(
        "$bar{} using 1:4:(0):($5-$4) with vectors heads size graph 0.008,90 lw 1 lc rgb '#222222' "
        "notitle, ",
        s);
  }
  return plot + errors.substr(0, errors.size() - 2);
}

std::string places(const std::vector<std::string>& titles) {
  int width = 0;
  for (const std::string& title : titles) width += display_width(title) + 2;
  // Long names of conditions would run into each other.
  std::string tics = width > 50 ? "set xtics scale 0 rotate by 20 right (" : "set xtics scale 0 (";
  for (std::size_t i = 0; i < titles.size(); ++i)
    tics += fmt::format("{}{} {}", i ? ", " : "", base::quote::gnuplot_tic(titles[i]), i);
  return tics + fmt::format(")\nset xrange [-0.6:{}]\nset yrange [0:*]\nset grid noxtics ytics\n",
                            static_cast<double>(titles.size()) - 0.4);
}

NamedFigure overall_bars(const Drawing& d) {
  if (d.crowded()) return ranked_overall(d);
  NamedFigure out{"overall", d.column_figure(6.6)};
  std::vector<std::string> titles;
  for (const auto& condition : d.results.conditions) titles.push_back(condition.phrase());
  out.figure.script(places(titles) + "set ylabel 'Test accuracy (%)'\n");
  out.figure.script(bars(d, out.figure, titles.size(), [&](std::size_t s, std::size_t g) {
    return average(d.results, d.results.series[s], d.results.conditions[g], Metric::kOverall,
                   d.summary.options);
  }));
  return out;
}

NamedFigure group_bars(const Drawing& d, const Condition& condition) {
  if (d.crowded()) return ranked_groups(d, condition);
  NamedFigure out{"groups_" + condition.slug(), d.column_figure(6.6)};
  constexpr std::array<Metric, 3> kGroups = {Metric::kHead, Metric::kMedium, Metric::kTail};
  out.figure.script(places({"Head", "Medium", "Tail"}) + "set ylabel " +
                    quoted("Test accuracy (%), " + condition.phrase()) + "\n");
  for (std::size_t g = 0; g < kGroups.size(); ++g) {
    bool any = false;
    for (const auto& series : d.results.series) {
      any = any || average(d.results, series, condition, kGroups[g], d.summary.options).seeds > 0;
    }
    if (!any)
      out.figure.script(fmt::format("set label '{}' at {}, graph 0.04 center tc rgb '#666666'",
                                    empty_mark(d.results, condition, kGroups[g]), g));
  }
  out.figure.script(bars(d, out.figure, kGroups.size(), [&](std::size_t s, std::size_t g) {
    return average(d.results, d.results.series[s], condition, kGroups[g], d.summary.options);
  }));
  return out;
}

NamedFigure effect_of_rho(const Drawing& d) {
  const PanelLayout layout(6.2, key_rows(d.results.series, kPage));
  NamedFigure out{"effect_of_rho", base::Figure(kPage, layout.height)};
  std::vector<std::string> titles;
  for (const Condition& condition : d.results.conditions) titles.push_back(condition.text());
  std::string script =
      std::string(kPlain) + layout.multiplot(3) + places(titles) +
      "set xlabel 'Imbalance ratio ρ' offset 0,0.4\nset yrange [*:*]\nset offsets 0,0,1,1\nunset key\n";
  std::string keys;
  for (std::size_t s = 0; s < d.results.series.size(); ++s) {
    keys += fmt::format("NaN with linespoints lw 1 ps 0.75 dt {} pt {} lc rgb '{}' title {}, ",
                        kDash[static_cast<std::size_t>(d.look[s].dash)], d.look[s].point, d.look[s].colour,
                        d.title(s));
  }
  bool first = true;
  for (Metric metric : {Metric::kHead, Metric::kMedium, Metric::kTail}) {
    std::string plot;
    for (std::size_t s = 0; s < d.results.series.size(); ++s) {
      std::string rows;
      for (std::size_t c = 0; c < titles.size(); ++c) {
        const Average a =
            average(d.results, d.results.series[s], d.results.conditions[c], metric, d.summary.options);
        const double shift =
            0.05 * (static_cast<double>(s) - static_cast<double>(d.results.series.size() - 1) / 2);
        const double spread = a.seeds > 1 ? a.deviation : 0;
        if (a.seeds > 0)
          rows += fmt::format("{} {} {} {}\n", static_cast<double>(c) + shift, a.mean,
                              std::max(0.0, a.mean - spread), std::min(100.0, a.mean + spread));
      }
      if (rows.empty()) continue;
      const std::string name = fmt::format("{}{}", metric_name(metric), s);
      out.figure.block(name, rows);
      plot +=
          fmt::format("{}${} using 1:2:3:4 with yerrorlines lw 1 ps 0.75 dt {} pt {} lc rgb '{}' {}",
                      plot.empty() ? "plot " : ", ", name, kDash[static_cast<std::size_t>(d.look[s].dash)],
                      d.look[s].point, d.look[s].colour, "notitle");
    }
    script += fmt::format("set title '{}' offset 0,-0.6\nset ylabel '{}' offset 1.2,0\n",
                          metric_title(metric), first ? "Test accuracy (%)" : "");
    // gnuplot cannot find a range by itself where there is no point.
    script += plot.empty() ? fmt::format("set label 1 '{}' at graph 0.5, graph 0.5 center\n",
                                         empty_panel(d.results, d.results.conditions, metric)) +
                                 "set yrange [0:1]\nset format y ''\nplot NaN notitle\n"
                                 "set yrange [*:*]\nset format y\nunset label 1\n"
                           : plot + "\n";
    first = false;
  }
  out.figure.script(script + layout.key(keys) + "unset multiplot\n");
  return out;
}

}  // namespace

std::vector<Look> looks(const Results& results) {
  // Points and patterns that gnuplot draws the same way on every terminal; the four strategies keep the first
  // ones.
  constexpr std::array<int, 8> kPoints = {7, 5, 9, 13, 6, 4, 8, 12};
  constexpr std::array<int, 8> kPatterns = {3, 4, 5, 1, 2, 6, 7, 0};
  constexpr std::array<int, 8> kDashes = {1, 2, 4, 5, 3, 2, 4, 5};
  const auto colour_of = [](const Series& series) {
    return std::string(sampling::strategy_colour(sampling::strategy_name(series.strategy())));
  };
  // Yellow is too pale for lines.
  std::vector<std::string> palette(base::kOkabeIto.begin(), base::kOkabeIto.end());
  std::erase(palette, "#F0E442");
  std::set<std::string> reserved, given;
  for (const Series& series : results.series) reserved.insert(colour_of(series));
  std::size_t again = 0;
  std::vector<Look> all;
  const std::size_t known = sampling::kPaperStrategies.size();
  std::size_t spare = known;
  for (const Series& series : results.series) {
    std::string colour = colour_of(series);
    std::size_t style = spare;
    if (given.insert(colour).second) {
      if (const std::size_t place = sampling::strategy_place(series.strategy()); place < known) style = place;
    } else {
      // A second series of the same strategy takes a colour that no other has; when all are taken they are
      // reused, with other points and dashes.
      const auto fresh = std::find_if(palette.begin(), palette.end(), [&](const std::string& candidate) {
        return reserved.insert(candidate).second;
      });
      colour = fresh != palette.end() ? *fresh : palette[again++ % palette.size()];
    }
    if (style == spare) ++spare;
    all.push_back({colour, kDashes[style % 8], kPoints[style % 8], kPatterns[style % 8]});
  }
  return all;
}

std::vector<NamedFigure> make_figures(const Results& results, const Summary& summary) {
  const Drawing d{results, summary, looks(results)};
  std::vector<NamedFigure> figures;
  figures.push_back(overall_bars(d));
  for (const Condition& condition : results.conditions) figures.push_back(group_bars(d, condition));
  if (results.conditions.size() > 1) figures.push_back(effect_of_rho(d));
  if (!summary.comparisons.empty()) figures.push_back(paired_dots(d));
  for (const Condition& condition : results.conditions) {
    if (std::optional<NamedFigure> figure = trade_off(d, condition)) figures.push_back(std::move(*figure));
  }
  bool trained = false;  // otherwise all were rebalanced, without a curve or schedule of their own
  for (const Condition& condition : results.conditions) {
    const RunResult* example = results.example(condition);
    if (!example) continue;
    if (!example->log->parent) {
      trained = true;
      figures.push_back(convergence(d, condition));
      figures.push_back(group_curves(d, condition));
    }
    figures.push_back(class_accuracy(d, condition));
  }
  if (trained) figures.push_back(schedules(d));
  if (results.has_logs()) figures.push_back(class_distribution(d));
  return figures;
}

void draw(const std::vector<NamedFigure>& figures, const std::filesystem::path& folder) {
  base::ThreadPool pool(base::available_cpus());
  pool.run(static_cast<int>(figures.size() * kFigureEndings.size()), [&](int job, int) {
    const auto i = static_cast<std::size_t>(job);
    const NamedFigure& named = figures[i / kFigureEndings.size()];
    named.figure.write(folder / (named.name + kFigureEndings[i % kFigureEndings.size()]));
  });
}

}  // namespace longtail::report
