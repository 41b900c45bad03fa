// The figures of what happened during training: curves, schedules, classes.
#include <map>
#include <numeric>
#include <set>

#include "longtail/base/error.h"
#include "longtail/base/text.h"
#include "longtail/data/groups.h"
#include "longtail/report/curves.h"
#include "longtail/report/figure_parts.h"
#include "longtail/report/tables.h"

namespace longtail::report {
namespace {

constexpr std::size_t kClassesForTrend = 24;  // with fewer, each class is shown by itself

// The smallest mean that a logarithmic axis can show; 0 if there is none.
double least_mean(const Drawing& d, const Condition& condition, Track track) {
  double least = 0;
  for (const Series& series : d.results.series) {
    const Curve c = curve(d.results, series, condition, track, d.summary.options.deviation);
    for (double mean : c.mean) {
      if (mean > 0 && (least == 0 || mean < least)) least = mean;
    }
  }
  return least;
}

constexpr int kLegendNumbers = 17;  // characters of "  39.0 ± 0.3 (10)"

// The name of a series with its overall accuracy: mean, standard error and number of seeds.
std::string legend(const Drawing& d, std::size_t s, const Condition& condition) {
  SummaryOptions options = d.summary.options;
  options.deviation = Deviation::kSample;
  const Average a = average(d.results, d.results.series[s], condition, Metric::kOverall, options);
  const std::string name = d.results.series[s].label();
  if (a.seeds == 0 || !std::isfinite(a.mean)) return quoted(name);
  if (a.seeds == 1) return quoted(fmt::format("{}  {:.1f} (1)", name, a.mean));
  return quoted(
      fmt::format("{}  {:.1f} ± {:.1f} ({})", name, a.mean, a.deviation / std::sqrt(a.seeds), a.seeds));
}

// Whether the networks of a series were not trained but rebalanced: it then has no curve of its own.
bool made_afterwards(const Results& results, const Series& series) {
  return std::any_of(results.runs.begin(), results.runs.end(), [&](const RunResult& run) {
    return run.series == series && run.log && run.log->parent;
  });
}

// Lines with bands for one track: the plot commands, or nothing if no series has it. A band is cut at
// `floor`: no accuracy is below 0, and a logarithmic axis ends somewhere.
std::string curve_plot(const Drawing& d, base::Figure& figure, const Condition& condition, Track track,
                       double floor, std::string& keys) {
  std::string bands, lines, marks;
  const bool first = keys.empty();
  for (std::size_t s = 0; s < d.results.series.size(); ++s) {
    if (made_afterwards(d.results, d.results.series[s])) continue;
    const Curve c = curve(d.results, d.results.series[s], condition, track, d.summary.options.deviation);
    if (c.mean.empty()) continue;
    std::string rows;
    for (std::size_t e = 0; e < c.mean.size(); ++e) {
      rows += fmt::format("{} {:.6g} {:.6g} {:.6g}\n", e + 1, c.mean[e],
                          std::max(floor, c.mean[e] - c.deviation[e]), c.mean[e] + c.deviation[e]);
    }
    const std::string name = fmt::format("{}{}", track_name(track), s);
    figure.block(name, rows);
    bands += fmt::format(
        "${} using 1:3:4 with filledcurves fs transparent solid 0.2 noborder lc rgb '{}' notitle, ", name,
        d.look[s].colour);
    lines += fmt::format("${} using 1:2 with lines lw 1 lc rgb '{}' notitle, ", name, d.look[s].colour);
    // Dashes are lost in noise: occasional marks tell the series apart in grey. Each series starts them
    // elsewhere.
    const std::size_t step = std::max<std::size_t>(1, c.mean.size() / 7);
    const std::size_t from = step * (s + 1) / (d.results.series.size() + 1);
    marks += fmt::format("${} every {}::{} using 1:2 with points pt {} ps 0.75 lc rgb '{}' notitle, ", name,
                         step, from, d.look[s].point, d.look[s].colour);
    if (first) {
      keys +=
          fmt::format("NaN with linespoints lw 1 pt {} ps 0.75 lc rgb '{}' title {}, ", d.look[s].point,
                      d.look[s].colour, track == Track::kTestAccuracy ? legend(d, s, condition) : d.title(s));
    }
  }
  if (lines.empty()) return "";
  const std::string all = bands + lines + marks;
  return "plot " + all.substr(0, all.size() - 2);
}

std::string milestone_arrows(const Drawing& d, const Condition& condition) {
  std::string out;
  for (int epoch : milestones(d.results, condition)) {
    out += fmt::format(
        "set arrow from {0}, graph 0 to {0}, graph 1 nohead back lw 0.8 dt (1.5,2.5) lc rgb '#666666'\n",
        epoch + 1);
  }
  return out;
}

std::string epoch_axis(const Drawing& d) {
  const int last = std::max(2, d.results.epochs());
  return fmt::format("set xlabel 'Epoch' offset 0,0.4\nset xrange [1:{}]\nset xtics {}\n", last,
                     std::max(1.0, tick_step(last)));
}

struct Panel {
  Track track;
  const char* title;
  const char* axis;
  bool logarithmic = false;
  Metric group = Metric::kOverall;  // the group that the curve shows
};

// Panels side by side with one key above them all.
NamedFigure panels(const Drawing& d, const std::string& name, const Condition& condition,
                   const std::vector<Panel>& list, double height) {
  std::vector<Series> shown = d.results.series;
  std::erase_if(shown, [&](const Series& series) { return made_afterwards(d.results, series); });
  const PanelLayout layout(height, key_rows(shown, kPage, kLegendNumbers));
  NamedFigure out{name, base::Figure(kPage, layout.height)};
  std::string script = std::string(kPlain) + milestone_arrows(d, condition) + layout.multiplot(list.size()) +
                       epoch_axis(d) + "unset key\n";
  std::string keys;
  for (std::size_t i = 0; i < list.size(); ++i) {
    script += fmt::format("set title '{}' offset 0,-0.6\nset ylabel '{}' offset 1.2,0\n", list[i].title,
                          list[i].axis);
    const double least = list[i].logarithmic ? least_mean(d, condition, list[i].track) : 0;
    const double floor = 0.8 * least;
    std::string plot = curve_plot(d, out.figure, condition, list[i].track, floor, keys);
    if (plot.empty()) {
      plot = fmt::format(
          "unset arrow\nset label 1 '{}' at graph 0.5, graph 0.5 center tc rgb '#666666'\n"
          "set yrange [0:100]\nplot NaN notitle\nunset label 1\n",
          empty_panel(d.results, {&condition, 1}, list[i].group));
    }
    script +=
        fmt::format("{}set logscale y\nset yrange [{:.6g}:*]\n", least > 0 ? "" : "un", floor) + plot + "\n";
  }
  out.figure.script(script + "unset logscale y\n" + layout.key(keys) + "unset multiplot\n");
  return out;
}

// Where the groups of the conditions are cut, on an axis of training images. Each condition has its own
// thresholds; if they differ, the label names the condition.
class Cuts {
 public:
  void add(const Condition& condition, const train::RunLog& log) {
    const auto [tail, head] = data::Groups::parse(log.groups).decided(log.class_counts).thresholds();
    seen_.insert({tail, head});
    at_[head]["head above"].push_back(condition.phrase());
    at_[tail]["tail below"].push_back(condition.phrase());
  }
  std::string arrows() const {
    std::string out;
    for (const auto& [threshold, words] : at_) {
      if (threshold < 1) continue;  // not on a logarithmic axis
      std::vector<std::string> labels;
      for (const auto& [word, whose] : words)
        labels.push_back(seen_.size() == 1 ? word : fmt::format("{} ({})", word, base::join(whose, "; ")));
      out += fmt::format(
          "set arrow from graph 0, first {0} to graph 1, first {0} nohead back lw 0.8 dt (1.5,2.5) lc rgb "
          "'#444444'\n"
          "set label {1} at graph 0.02, first {0} offset 0,0.5 tc rgb '#444444'\n",
          threshold, quoted(base::join(labels, ", ")));
    }
    return out;
  }

 private:
  std::set<std::array<std::int64_t, 2>> seen_;
  std::map<std::int64_t, std::map<std::string, std::vector<std::string>>> at_;  // by threshold and word
};

// The mean of the finite values at `order[from]` to before `order[to]`; NaN if there are none.
double mean_of_some(const std::vector<double>& values, const std::vector<std::size_t>& order,
                    std::size_t from, std::size_t to) {
  std::vector<double> some;
  for (std::size_t j = from; j < to; ++j) {
    if (std::isfinite(values[order[j]])) some.push_back(values[order[j]]);
  }
  return mean(some);
}

}  // namespace

NamedFigure convergence(const Drawing& d, const Condition& condition) {
  return panels(d, "convergence_" + condition.slug(), condition,
                {{Track::kTestAccuracy, "Test accuracy", "Accuracy (%)"},
                 {Track::kTrainLoss, "Training loss", "Loss, logarithmic", true}},
                6.6);
}

NamedFigure group_curves(const Drawing& d, const Condition& condition) {
  return panels(d, "group_curves_" + condition.slug(), condition,
                {{Track::kHead, "Head", "Accuracy (%)", false, Metric::kHead},
                 {Track::kMedium, "Medium", "", false, Metric::kMedium},
                 {Track::kTail, "Tail", "", false, Metric::kTail}},
                6.2);
}

NamedFigure schedules(const Drawing& d) {
  NamedFigure out{"schedules", base::Figure(kColumn, 6.2)};
  const RunResult* run = nullptr;
  for (const Condition& condition : d.results.conditions) {
    const RunResult* found = d.results.example(condition);
    if (found != nullptr && !found->log->parent) run = found;
  }
  if (run == nullptr) base::fail("there is no run whose schedule could be drawn");
  std::string rows;
  for (std::size_t e = 0; e < run->log->lr_history.size(); ++e)
    rows += fmt::format("{} {}\n", e + 1, run->log->lr_history[e]);
  out.figure.block("rate", rows);
  const auto [low, high] = std::minmax_element(run->log->lr_history.begin(), run->log->lr_history.end());
  std::string script = std::string(kPlain) + kKeyAbove + milestone_arrows(d, run->condition) + epoch_axis(d) +
                       "set logscale y\nset format y '%g'\nset ylabel 'Learning rate'\n" +
                       fmt::format("set yrange [{}:{}]\n", 0.5 * *low, 2 * *high);
  std::string plot = "plot $rate using 1:2 with steps lw 1.3 lc rgb '#000000' title 'Learning rate (left)'";
  bool right = false;
  std::set<std::string> seen;
  for (std::size_t s = 0; s < d.results.series.size(); ++s) {
    const std::string strategy = d.results.series[s].strategy();
    const std::vector<double> lambda = lambda_of(strategy, d.results.epochs());
    if (lambda.empty() || !seen.insert(strategy).second) continue;
    rows.clear();
    for (std::size_t e = 0; e < lambda.size(); ++e) rows += fmt::format("{} {:.5f}\n", e + 1, lambda[e]);
    out.figure.block(fmt::format("lambda{}", s), rows);
    plot += fmt::format(", $lambda{} using 1:2 axes x1y2 with lines lw 1.3 dt {} lc rgb '{}' title {}", s,
                        kDash[d.look[s].dash == 1 ? 2 : static_cast<std::size_t>(d.look[s].dash)],
                        d.look[s].colour, quoted("λ, " + Series(strategy).title() + " (right)"));
    right = true;
  }
  if (right)
    script += "set border 11\nset y2tics\nset y2range [0:1.02]\nset y2label 'Share of balanced sampling λ'\n";
  out.figure.script(script + plot);
  return out;
}

NamedFigure class_distribution(const Drawing& d) {
  NamedFigure out{"class_distribution", base::Figure(kColumn, 6.2)};
  std::string plot;
  Cuts cuts;
  std::size_t classes = 1;
  double least = 1e9, most = 1;
  for (std::size_t c = 0; c < d.results.conditions.size(); ++c) {
    const RunResult* run = d.results.example(d.results.conditions[c]);
    if (!run) continue;
    std::vector<std::int64_t> counts = run->log->class_counts;
    std::sort(counts.rbegin(), counts.rend());
    classes = std::max(classes, counts.size());
    most = std::max(most, static_cast<double>(counts.front()));
    least = std::min(least, std::max(1.0, static_cast<double>(counts.back())));
    std::string rows;
    for (std::size_t k = 0; k < counts.size(); ++k) rows += fmt::format("{} {}\n", k + 1, counts[k]);
    out.figure.block(fmt::format("counts{}", c), rows);
    constexpr std::array<const char*, 4> kGreys = {"#000000", "#E69F00", "#56B4E9", "#009E73"};
    plot += fmt::format("{}$counts{} using 1:2 with lines lw 1.4 dt {} lc rgb '{}' title {}",
                        plot.empty() ? "plot " : ", ", c, kDash[c % 5 + 1], kGreys[c % kGreys.size()],
                        quoted(d.results.conditions[c].phrase()));
    cuts.add(d.results.conditions[c], *run->log);
  }
  const std::string script =
      std::string(kPlain) +
      fmt::format("set key top right\nset logscale y\nset yrange [{}:{}]\n", 0.7 * least, 1.3 * most) +
      "set xlabel 'Class, most frequent first' offset 0,0.4\nset ylabel 'Training images'\n" +
      fmt::format("set xrange [1:{}]\nset xtics 1, {}\n", std::max<std::size_t>(classes, 2),
                  class_step(static_cast<double>(classes)));
  out.figure.script(script + cuts.arrows() + plot);
  return out;
}

NamedFigure class_accuracy(const Drawing& d, const Condition& condition) {
  NamedFigure out{"per_class_" + condition.slug(), d.column_figure(6.6)};
  const std::vector<std::int64_t>& counts = d.results.example(condition)->log->class_counts;
  std::vector<std::size_t> order(counts.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return counts[a] < counts[b]; });
  // With many classes a line through every point would be noise, so it is the mean of enough neighbours to
  // show the trend despite the differences between classes, and the axis says so. With few classes it goes
  // through the points.
  const std::size_t half = counts.size() < kClassesForTrend ? 0 : counts.size() / 12;
  std::string points, lines;
  for (std::size_t s = 0; s < d.results.series.size(); ++s) {
    const std::vector<double> accuracy =
        per_class(d.results, d.results.series[s], condition, d.summary.options.at);
    if (accuracy.empty()) continue;
    std::string rows, trend;
    for (std::size_t i = 0; i < order.size(); ++i) {
      // A class without test images has no accuracy.
      if (counts[order[i]] == 0 || !std::isfinite(accuracy[order[i]])) continue;
      rows += fmt::format("{} {:.3f}\n", counts[order[i]], accuracy[order[i]]);
      const std::size_t from = i < half ? 0 : i - half, to = std::min(order.size(), i + half + 1);
      trend += fmt::format("{} {:.3f}\n", counts[order[i]], mean_of_some(accuracy, order, from, to));
    }
    if (rows.empty()) continue;
    out.figure.block(fmt::format("class{}", s), rows);
    out.figure.block(fmt::format("trend{}", s), trend);
    points +=
        fmt::format("$class{} using 1:2 with points pt {} ps {} lc rgb '#{}{}' notitle, ", s, d.look[s].point,
                    half > 0 ? 0.35 : 0.7, half > 0 ? "90" : "00", d.look[s].colour.substr(1));
    lines += fmt::format("$trend{} using 1:2 with lines lw 1.3 dt {} lc rgb '{}' title {}, ", s,
                         kDash[static_cast<std::size_t>(d.look[s].dash)], d.look[s].colour, d.title(s));
  }
  if (lines.empty()) lines = "NaN notitle, ";
  out.figure.script("set logscale x\nset yrange [0:100]\n" +
                    fmt::format("set xrange [{}:{}]\n",
                                0.8 * static_cast<double>(std::max<std::int64_t>(1, counts[order.front()])),
                                1.25 * static_cast<double>(counts[order.back()])) +
                    "set xlabel " +
                    quoted("Training images of the class, " + condition.phrase() +
                           (half > 0 ? fmt::format("; lines: mean of {} classes", 2 * half + 1) : "")) +
                    " offset 0,0.4\nset ylabel 'Test accuracy of the class (%)'\nplot " + points +
                    lines.substr(0, lines.size() - 2));
  return out;
}

}  // namespace longtail::report
