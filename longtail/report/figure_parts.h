// What the figures share: sizes, keys, dashes and the results they are drawn from. For figures*.cc only.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "longtail/base/quote.h"
#include "longtail/report/figures.h"

namespace longtail::report {

inline constexpr double kColumn = 8.6;  // cm: one column of a two-column paper
inline constexpr double kPage = 17.6;   // cm: both
// gnuplot's own format of a tick begins with a space for the sign, which moves every label off its tick.
inline constexpr const char* kPlain =
    "set termoption noenhanced\nset termoption fontscale 0.82\nset format x '%h'\n"
    "set key samplen 2 spacing 1.15 Left reverse\n";
// A key of its own across the whole figure, the last plot of a multiplot; gnuplot would keep it as narrow as
// a panel.
inline std::string key_across(const std::string& entries) {
  return "unset title\nunset xlabel\nunset ylabel\nunset arrow\nunset label\nunset tics\nunset border\nunset "
         "grid\n"
         "set lmargin at screen 0.02\nset rmargin at screen 0.98\nset bmargin at screen 0.90\n"
         "set tmargin at screen 0.99\nset xrange [0:1]\nset yrange [0:1]\n"
         "set key center center horizontal maxrows 2 samplen 2\nplot " +
         entries.substr(0, entries.size() - 2) + "\n";
}
// Dashes by number, short enough to follow a curve.
inline constexpr std::array<const char*, 6> kDash = {"solid", "solid",      "(9,7)",
                                                     "(3,5)", "(18,6,3,6)", "(26,8)"};

inline std::string quoted(const std::string& words) { return base::quote::gnuplot(words); }

struct Drawing {
  const Results& results;
  const Summary& summary;
  std::vector<Look> look;

  std::string title(std::size_t s) const { return quoted(results.series[s].title()); }
};

inline constexpr const char* kKeyAbove = "set key outside top center horizontal maxrows 2 width -1\n";

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

// Head lost against tail won (figures_tradeoff.cc); none where a group is empty or nothing is compared.
std::optional<NamedFigure> trade_off(const Drawing& d, const Condition& condition);

// The figures of training (figures_training.cc).
NamedFigure convergence(const Drawing& d, const Condition& condition);
NamedFigure group_curves(const Drawing& d, const Condition& condition);
NamedFigure class_accuracy(const Drawing& d, const Condition& condition);
NamedFigure schedules(const Drawing& d);
NamedFigure class_distribution(const Drawing& d);

}  // namespace longtail::report
