// What the figures share: sizes, keys, dashes and the results they are drawn from. For figures*.cc only.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "longtail/base/quote.h"
#include "longtail/report/figures.h"
#include "longtail/report/table.h"

namespace longtail::report {

inline constexpr double kColumn = 8.6;  // cm: one column of a two-column paper
inline constexpr double kPage = 17.6;   // cm: both
// gnuplot's own format of a tick begins with a space for the sign, which moves every label off its tick.
inline constexpr const char* kPlain =
    "set termoption noenhanced\nset termoption fontscale 0.82\nset format x '%h'\n"
    "set key samplen 2 spacing 1.15 Left reverse\n";
inline constexpr const char* kKeyAbove = "set key outside top center horizontal maxrows 2 width -1\n";
inline constexpr const char* kKeyBeside = "set key outside right center vertical maxrows 200\n";
// Dashes by number, short enough to follow a curve.
inline constexpr std::array<const char*, 6> kDash = {"solid", "solid",      "(9,7)",
                                                     "(3,5)", "(18,6,3,6)", "(26,8)"};

inline std::string quoted(const std::string& words) { return base::quote::gnuplot(words); }

// Rows of a key of series in a figure of `width` cm, with `more` further characters per entry.
inline int key_rows(const std::vector<Series>& entries, double width, int more = 0) {
  int longest = 0;
  for (const Series& one : entries) longest = std::max(longest, display_width(one.label()) + more);
  const int columns = std::max(1, static_cast<int>(width / (1.3 + 0.146 * longest)));
  return (static_cast<int>(entries.size()) + columns - 1) / columns;
}

struct Drawing {
  const Results& results;
  const Summary& summary;
  std::vector<Look> look;

  std::string title(std::size_t s) const { return quoted(results.series[s].label()); }

  // Whether a key above a figure of one column would leave no room for the figure.
  bool crowded() const { return key_rows(results.series, kColumn) > 4; }
  // The height of a figure with a key of so many entries next to it, at least `height` cm.
  static double with_key_beside(double height, std::size_t entries) {
    return std::max(height, 1.2 + 0.45 * static_cast<double>(entries));
  }
  // A figure of one column with its key above; with many series, one of both columns with the key next to it.
  base::Figure column_figure(double height) const {
    base::Figure figure = crowded() ? base::Figure(kPage, with_key_beside(height, results.series.size()))
                                    : base::Figure(kColumn, height);
    figure.script(std::string(kPlain) + (crowded() ? kKeyBeside : kKeyAbove));
    return figure;
  }
};

// Panels side by side with one key above them all: the space above them grows with the rows of the key.
struct PanelLayout {
  double height = 0;  // cm, of the figure
  double above = 0;   // cm, the part of it that a key of more than two rows takes
  int rows = 2;       // of the key

  PanelLayout(double plain, int key_rows)
      : height(plain + 0.45 * std::max(0, key_rows - 2)),
        above(height - plain),
        rows(std::max(2, key_rows)) {}
  std::string multiplot(std::size_t panels) const {
    const double plain = height - above;
    return fmt::format("set multiplot layout 1,{} margins 0.065,0.975,{:.4g},{:.4g} spacing 0.075,0.05\n",
                       panels, 0.155 * plain / height, 0.82 * plain / height);
  }
  // The key is the last plot of the multiplot; gnuplot would keep it as narrow as a panel.
  std::string key(const std::string& entries) const {
    const double plain = height - above;
    return fmt::format(
               "unset title\nunset xlabel\nunset ylabel\nunset arrow\nunset label\nunset tics\nunset border\n"
               "unset grid\nset lmargin at screen 0.02\nset rmargin at screen 0.98\n"
               "set bmargin at screen {:.4g}\nset tmargin at screen {:.4g}\nset xrange [0:1]\nset yrange "
               "[0:1]\n"
               "set key center center horizontal maxrows {} samplen 2\nplot ",
               0.9 * plain / height, 1 - 0.01 * plain / height, rows) +
           (entries.empty() ? "NaN notitle" : entries.substr(0, entries.size() - 2)) + "\n";
  }
};

// Text for a group without a value: across a panel, and where there is room for a word. A CSV does not say
// why.
inline std::string empty_panel(const Results& results, std::span<const Condition> conditions, Metric group) {
  return std::any_of(conditions.begin(), conditions.end(),
                     [&](const Condition& condition) { return results.untested(condition, group); })
             ? "no test image of this group"
         : std::any_of(conditions.begin(), conditions.end(),
                       [&](const Condition& condition) { return results.example(condition); })
             ? "no class in this group"
             : "no value in the CSV";
}
inline std::string empty_mark(const Results& results, const Condition& condition, Metric group) {
  if (!results.example(condition)) return "n/a";
  return results.untested(condition, group) ? "n/a: untested" : "n/a: no class";
}

// About four ticks, at round numbers.
inline double tick_step(double range) {
  const double rough = range / 4, power = std::pow(10, std::floor(std::log10(std::max(rough, 1e-9))));
  for (double factor : {1.0, 2.0, 2.5, 5.0}) {
    if (rough <= factor * power * 1.0001) return factor * power;
  }
  return 10 * power;
}

// Ticks of an axis that counts classes: there is no class 1.5.
inline double class_step(double classes) { return std::max(1.0, std::ceil(tick_step(classes))); }

// One row per series (figures_rows.cc): the differences from the baseline, with a dot per seed; and the
// accuracies, best first, in place of bars where there would be too many of them.
NamedFigure paired_dots(const Drawing& d);
NamedFigure ranked_overall(const Drawing& d);
NamedFigure ranked_groups(const Drawing& d, const Condition& condition);

// Head lost against tail won (figures_tradeoff.cc); none where a group is empty or nothing is compared.
std::optional<NamedFigure> trade_off(const Drawing& d, const Condition& condition);

// The figures of training (figures_training.cc).
NamedFigure convergence(const Drawing& d, const Condition& condition);
NamedFigure group_curves(const Drawing& d, const Condition& condition);
NamedFigure class_accuracy(const Drawing& d, const Condition& condition);
NamedFigure schedules(const Drawing& d);
NamedFigure class_distribution(const Drawing& d);

}  // namespace longtail::report
