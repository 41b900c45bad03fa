// Head lost against tail won, one point per series: its distance from the baseline, which is in the middle.
#include "longtail/report/figure_parts.h"
#include "longtail/report/tables.h"

namespace longtail::report {
namespace {

struct Point {
  std::size_t series = 0;
  double head = 0;
  double tail = 0;
};

std::vector<Point> points_of(const Drawing& d, const Condition& condition) {
  std::vector<Point> points;
  for (std::size_t s = 0; s < d.results.series.size(); ++s) {
    const Comparison* head = find_comparison(d.summary, d.results.series[s], condition, Metric::kHead);
    const Comparison* tail = find_comparison(d.summary, d.results.series[s], condition, Metric::kTail);
    if (head && tail && std::isfinite(head->mean) && std::isfinite(tail->mean))
      points.push_back({s, head->mean, tail->mean});
  }
  // The key begins with the series from which the tail gains most.
  std::stable_sort(points.begin(), points.end(),
                   [](const Point& a, const Point& b) { return a.tail > b.tail; });
  return points;
}

}  // namespace

std::optional<NamedFigure> trade_off(const Drawing& d, const Condition& condition) {
  const std::vector<Point> points = points_of(d, condition);
  if (points.empty()) return std::nullopt;
  double left = -0.5, right = 0.5, low = -0.5, high = 0.5;
  for (const Point& point : points) {
    left = std::min(left, point.head);
    right = std::max(right, point.head);
    low = std::min(low, point.tail);
    high = std::max(high, point.tail);
  }
  const double across = 0.08 * (right - left), up = 0.08 * (high - low);
  NamedFigure out{"trade_off_" + condition.slug(),
                  base::Figure(kPage, Drawing::with_key_beside(8, points.size() + 2))};
  const std::string baseline = d.summary.baseline.title();
  std::string script =
      std::string(kPlain) + kKeyBeside +
      fmt::format("set xrange [{}:{}]\nset yrange [{}:{}]\nset xtics {}\nset ytics {}\n", left - across,
                  right + across, low - up, high + up, tick_step(right - left), tick_step(high - low)) +
      "set xlabel " + quoted("Head accuracy: points above " + baseline) + "\nset ylabel " +
      quoted("Tail accuracy: points above it, " + condition.phrase()) + "\n" +
      "set arrow from 0, graph 0 to 0, graph 1 nohead back lw 1 lc rgb '#444444'\n"
      "set arrow from graph 0, first 0 to graph 1, first 0 nohead back lw 1 lc rgb '#444444'\n";
  // On this line each point gained on the tail costs one point on the head.
  std::string plot = "plot -x with lines lw 1 dt (3,5) lc rgb '#888888' title 'head pays for tail 1 : 1', ";
  out.figure.block("zero", "0 0\n");
  plot += "$zero using 1:2 with points pt 2 ps 1.2 lw 1.5 lc rgb '#222222' title " + quoted(baseline);
  for (const Point& point : points) {
    const Look& look = d.look[point.series];
    const std::string name = fmt::format("series{}", point.series);
    out.figure.block(name, fmt::format("{} {}\n", point.head, point.tail));
    plot += fmt::format(
        ", ${0} using (0):(0):1:2 with vectors nohead lw 1 dt {1} lc rgb '{2}' notitle, ${0} using 1:2 with "
        "points pt {3} ps 1.1 lc rgb '{2}' title {4}",
        name, kDash[static_cast<std::size_t>(look.dash)], look.colour, look.point, d.title(point.series));
  }
  out.figure.script(script + plot + "\n");
  return out;
}

}  // namespace longtail::report
