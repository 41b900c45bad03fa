// Figures with one row per series and panels side by side. Names stand at their rows, so that no key is
// needed.
#include <functional>
#include <limits>
#include <numeric>

#include "longtail/report/figure_parts.h"
#include "longtail/report/tables.h"

namespace longtail::report {
namespace {

// The rows of a figure, from the bottom up.
struct Rows {
  std::vector<std::string> labels{};

  double height() const { return 2.4 + 0.55 * static_cast<double>(labels.size()); }  // cm, of the figure
  // This many panels, with the names of the rows on the left and `axis` below them all.
  std::string begin(std::size_t panels, const std::string& axis) const {
    int longest = 0;
    std::string tics;
    for (std::size_t r = 0; r < labels.size(); ++r) {
      longest = std::max(longest, display_width(labels[r]));
      tics += fmt::format("{}{} {}", r ? ", " : "", base::quote::gnuplot_tic(labels[r]), r);
    }
    const double left = std::clamp(0.02 + 0.0093 * longest, 0.08, 0.45);
    return std::string(kPlain) + "unset key\n" +
           fmt::format("set multiplot layout 1,{} margins {},0.975,{},{} spacing 0.035,0.05\n", panels, left,
                       1.25 / height(), 1 - 0.7 / height()) +
           "set ytics scale 0 (" + tics +
           fmt::format(")\nset yrange [-0.7:{}]\nset grid xtics noytics\nset border 1\n",
                       static_cast<double>(labels.size()) - 0.3) +
           fmt::format("set label 1 {} at screen {}, screen {} center\n", quoted(axis), (left + 0.975) / 2,
                       0.32 / height());
  }
  // Names and axis are printed once.
  static std::string after_first_panel() { return "unset ytics\nunset label 1\n"; }
};

// Where a panel has its middle line.
std::string line_at(double x) {
  return fmt::format("set arrow 1 from {0}, graph 0 to {0}, graph 1 nohead back lw 1 lc rgb '#444444'\n", x);
}

// The places of the series in the results, in the order of the tables; if there are many, the best first.
std::vector<std::size_t> order_of(const Drawing& d, const std::vector<Condition>& conditions) {
  std::vector<std::size_t> order(d.results.series.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (!d.crowded()) return order;
  std::vector<double> means;
  for (const Series& series : d.results.series) {
    double sum = 0, count = 0;
    for (const Condition& condition : conditions) {
      const Average a = average(d.results, series, condition, Metric::kOverall, d.summary.options);
      if (a.seeds == 0) continue;
      sum += a.mean;
      ++count;
    }
    means.push_back(count > 0 ? sum / count : -1);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return means[a] > means[b]; });
  return order;
}

// ---- accuracies ----

struct RowPanel {
  std::string title;
  std::function<Average(const Series& series)> value;
  std::string none = "n/a";  // printed where there is no value
};

// From a deviation below the mean to one above it.
std::pair<double, double> about(const Average& a) {
  const double spread = a.seeds > 1 ? a.deviation : 0;
  return {std::max(0.0, a.mean - spread), std::min(100.0, a.mean + spread)};
}

// The range of a panel: from the lowest to the highest value with its deviation.
std::pair<double, double> range_of(const Drawing& d, const RowPanel& panel) {
  double lowest = std::numeric_limits<double>::infinity(), highest = -lowest;
  for (const Series& series : d.results.series) {
    const Average a = panel.value(series);
    if (a.seeds == 0) continue;
    const auto [low, high] = about(a);
    lowest = std::min(lowest, low);
    highest = std::max(highest, high);
  }
  return {lowest, highest};
}

// A dot at the mean with a line over the deviation, and a line down the panel at the baseline. Every panel
// spans the same number of points, so that a length means the same in all of them.
NamedFigure ranked(const Drawing& d, const std::string& name, const std::string& axis,
                   const std::vector<Condition>& conditions, const std::vector<RowPanel>& panels) {
  Rows rows;
  std::vector<std::size_t> order = order_of(d, conditions);
  std::reverse(order.begin(), order.end());
  for (std::size_t s : order) rows.labels.push_back(d.results.series[s].label());
  NamedFigure out{name, base::Figure(kPage, rows.height())};
  std::string script = rows.begin(panels.size(), axis);
  double span = 1;
  for (const RowPanel& panel : panels) {
    const auto [low, high] = range_of(d, panel);
    if (low <= high) span = std::max(span, 1.1 * (high - low));
  }
  for (std::size_t p = 0; p < panels.size(); ++p) {
    const auto [low, high] = range_of(d, panels[p]);
    const double middle = low <= high ? (low + high) / 2 : 0;
    script += fmt::format("set title {} offset 0,-0.6\nset xtics {}\nset xrange [{}:{}]\n",
                          quoted(panels[p].title), tick_step(span), middle - span / 2, middle + span / 2);
    const Average baseline = panels[p].value(d.summary.baseline);
    script += baseline.seeds > 0 ? line_at(baseline.mean) : "unset arrow 1\n";
    std::string plot;
    for (std::size_t r = 0; r < order.size(); ++r) {
      const Average a = panels[p].value(d.results.series[order[r]]);
      if (a.seeds == 0) continue;
      const auto [from, to] = about(a);
      const std::string block = fmt::format("panel{}row{}", p, r);
      out.figure.block(block, fmt::format("{} {} {} {}\n", a.mean, r, from, to - from));
      const Look& look = d.look[order[r]];
      plot += fmt::format(
          "{0}${1} using 3:2:4:(0) with vectors nohead lw 1.8 lc rgb '{3}', ${1} using 1:2 with points pt "
          "{2} ps 0.8 lc rgb '{3}'",
          plot.empty() ? "plot " : ", ", block, look.point, look.colour);
    }
    script += plot.empty() ? fmt::format(
                                 "set label 2 '{}' at graph 0.5, graph 0.5 center tc rgb '#666666'\n"
                                 "plot NaN\nunset label 2\n",
                                 panels[p].none)
                           : plot + "\n";
    if (p == 0) script += Rows::after_first_panel();
  }
  out.figure.script(script + "unset multiplot\n");
  return out;
}

}  // namespace

NamedFigure ranked_overall(const Drawing& d) {
  std::vector<RowPanel> panels;
  for (const Condition& condition : d.results.conditions) {
    panels.push_back({condition.phrase(), [&d, condition](const Series& series) {
                        return average(d.results, series, condition, Metric::kOverall, d.summary.options);
                      }});
  }
  return ranked(d, "overall", "Test accuracy (%), mean and standard deviation over seeds",
                d.results.conditions, panels);
}

NamedFigure ranked_groups(const Drawing& d, const Condition& condition) {
  std::vector<RowPanel> panels;
  for (Metric metric : {Metric::kHead, Metric::kMedium, Metric::kTail}) {
    panels.push_back({std::string(metric_title(metric)),
                      [&d, &condition, metric](const Series& series) {
                        return average(d.results, series, condition, metric, d.summary.options);
                      },
                      empty_mark(d.results, condition, metric)});
  }
  return ranked(d, "groups_" + condition.slug(),
                "Test accuracy (%), " + condition.phrase() + ", mean and standard deviation over seeds",
                {condition}, panels);
}

NamedFigure paired_dots(const Drawing& d) {
  std::vector<std::pair<std::size_t, Condition>> rows_at;  // series, condition: from the bottom up
  std::vector<std::size_t> order = order_of(d, d.results.conditions);
  std::reverse(order.begin(), order.end());
  Rows rows;
  for (std::size_t s : order) {
    if (d.results.series[s] == d.summary.baseline) continue;
    for (auto c = d.results.conditions.rbegin(); c != d.results.conditions.rend(); ++c) {
      rows_at.emplace_back(s, *c);
      rows.labels.push_back(d.results.series[s].label() +
                            (d.results.conditions.size() > 1 ? ", " + c->phrase() : ""));
    }
  }
  NamedFigure out{"paired", base::Figure(kPage, rows.height())};
  // One scale for all panels, so that a length means the same everywhere.
  double low = -0.5, high = 0.5;
  for (const Comparison& c : d.summary.comparisons) {
    if (std::find(kMetrics.begin(), kMetrics.end(), c.metric) == kMetrics.end()) continue;
    for (double difference : c.differences) {
      low = std::min(low, difference);
      high = std::max(high, difference);
    }
  }
  const double room = 0.08 * (high - low);
  std::string script = rows.begin(kMetrics.size(), "Difference from " + d.summary.baseline.title() +
                                                       " by seed, percentage points") +
                       fmt::format("set xtics {}\nset xrange [{}:{}]\n", tick_step(1.3 * (high - low)),
                                   low - room, high + room) +
                       line_at(0);
  for (Metric metric : kMetrics) {
    std::string plot;
    for (std::size_t r = 0; r < rows_at.size(); ++r) {
      const Comparison* c =
          find_comparison(d.summary, d.results.series[rows_at[r].first], rows_at[r].second, metric);
      if (!c) continue;
      std::string dots;
      for (double difference : c->differences) dots += fmt::format("{} {}\n", difference, r);
      const std::string name = fmt::format("{}{}", metric_name(metric), r);
      out.figure.block(name, dots);
      out.figure.block(name + "m", fmt::format("{0} {1}\n{0} {2}\n", c->mean, static_cast<double>(r) - 0.32,
                                               static_cast<double>(r) + 0.32));
      const Look& look = d.look[rows_at[r].first];
      plot += fmt::format(
          "{0}${1} using 1:2 with points pt {2} ps 0.6 lc rgb '{3}', ${1}m using 1:2 with lines lw 1.8 lc "
          "rgb '{3}'",
          plot.empty() ? "plot " : ", ", name, look.point, look.colour);
    }
    script += fmt::format("set title '{}' offset 0,-0.6\n", metric_title(metric));
    script += (plot.empty() ? "plot NaN" : plot) + "\n";
    if (metric == kMetrics.front()) script += Rows::after_first_panel();
  }
  out.figure.script(script + "unset multiplot\n");
  return out;
}

}  // namespace longtail::report
