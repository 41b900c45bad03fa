#include "longtail/theory/predictions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>

namespace longtail::theory {
namespace {

using train::RunLog;

// "Matches" within this many points of accuracy.
constexpr double kMatch = 1.0;
// The first epochs, from warm-up on a network that knows nothing, say nothing of a strategy.
constexpr int kSettled = 10;

// Differences b - a of a quantity, one for each seed that has both runs, at each imbalance.
struct Paired {
  std::map<double, std::vector<double>> by_rho;

  static double mean(const std::vector<double>& values) {
    double sum = 0;
    for (const double value : values) sum += value;
    return sum / static_cast<double>(values.size());
  }
};

using Quantity = std::function<double(const RunLog&)>;

Paired differences(std::span<const RunLog> logs, const std::string& a, const std::string& b,
                   const Quantity& quantity) {
  Paired result;
  for (const RunLog& one : logs) {
    if (one.strategy != a) continue;
    for (const RunLog& other : logs) {
      if (other.strategy != b || other.rho != one.rho || other.seed != one.seed ||
          other.dataset != one.dataset)
        continue;
      const double difference = quantity(other) - quantity(one);
      if (std::isfinite(difference)) result.by_rho[one.rho].push_back(difference);
    }
  }
  return result;
}

int positive(const std::vector<double>& values) {
  return static_cast<int>(std::count_if(values.begin(), values.end(), [](double v) { return v > 0; }));
}

std::string verdict_of(int in_favour, int asked) {
  if (asked == 0) return "no runs";
  return in_favour == asked ? "for" : in_favour == 0 ? "against" : "mixed";
}

Evidence weigh_first(std::span<const RunLog> logs) {
  Evidence evidence{
      "progressive sampling matches uniform on head classes and beats it on tail classes", "", {}};
  const auto head =
      differences(logs, "uniform", "progressive", [](const RunLog& log) { return log.best.accuracy.head; });
  const auto tail =
      differences(logs, "uniform", "progressive", [](const RunLog& log) { return log.best.accuracy.tail; });
  int asked = 0, in_favour = 0;
  for (const auto& [rho, values] : head.by_rho) {
    const double mean = Paired::mean(values);
    const bool match = std::abs(mean) <= kMatch;
    ++asked;
    in_favour += match;
    evidence.lines.push_back(fmt::format("rho {:g}: head {:+.2f} points ({} seeds), {} within {:g}", rho,
                                         mean, values.size(), match ? "a match" : "not a match", kMatch));
  }
  for (const auto& [rho, values] : tail.by_rho) {
    ++asked;
    in_favour += positive(values) == static_cast<int>(values.size());
    evidence.lines.push_back(fmt::format("rho {:g}: tail {:+.2f} points, better in {} of {} seeds", rho,
                                         Paired::mean(values), positive(values), values.size()));
  }
  evidence.verdict = verdict_of(in_favour, asked);
  return evidence;
}

Evidence weigh_second(std::span<const RunLog> logs) {
  Evidence evidence{"class-balanced sampling has a volatile tail", "", {}};
  const Quantity tail = [](const RunLog& log) { return volatility(log.tail_acc, kSettled); };
  const auto paired = differences(logs, "uniform", "class_balanced", tail);
  int asked = 0, in_favour = 0;
  for (const auto& [rho, values] : paired.by_rho) {
    ++asked;
    in_favour += positive(values) == static_cast<int>(values.size());
    evidence.lines.push_back(fmt::format(
        "rho {:g}: tail accuracy moves {:+.2f} points more from epoch to epoch (RMS) than under uniform, "
        "more in {} of {} seeds",
        rho, Paired::mean(values), positive(values), values.size()));
  }
  // A curve near zero cannot move: say how high the tail stands.
  std::map<std::pair<double, std::string>, std::vector<std::pair<double, double>>> levels;
  for (const RunLog& log : logs) {
    const double moves = tail(log);
    if (std::isfinite(moves)) levels[{log.rho, log.strategy}].push_back({moves, log.best.accuracy.tail});
  }
  for (const auto& [key, values] : levels) {
    double moves = 0, level = 0;
    for (const auto& [move, height] : values) {
      moves += move / static_cast<double>(values.size());
      level += height / static_cast<double>(values.size());
    }
    evidence.lines.push_back(
        fmt::format("rho {:g}, {}: moves by {:.2f} points, tail accuracy {:.2f} at the best epoch", key.first,
                    key.second, moves, level));
  }
  evidence.verdict = verdict_of(in_favour, asked);
  return evidence;
}

Evidence weigh_third(std::span<const RunLog> logs) {
  Evidence evidence{"gaps between the strategies widen with the imbalance", "", {}};
  int asked = 0, in_favour = 0;
  for (const std::string other : {"class_balanced", "square_root", "progressive"}) {
    const auto paired =
        differences(logs, "uniform", other, [](const RunLog& log) { return log.best.accuracy.overall; });
    if (paired.by_rho.size() < 2) continue;
    ++asked;
    double before = -1;
    bool widening = true;
    std::string line = other + " against uniform, overall:";
    for (const auto& [rho, values] : paired.by_rho) {
      const double mean = Paired::mean(values);
      widening = widening && std::abs(mean) > before;
      before = std::abs(mean);
      line += fmt::format(" {:+.2f} at rho {:g},", mean, rho);
    }
    line.back() = ';';
    in_favour += widening;
    evidence.lines.push_back(line + (widening ? " widens" : " does not widen at every step"));
  }
  evidence.verdict = verdict_of(in_favour, asked);
  return evidence;
}

}  // namespace

double volatility(std::span<const double> curve, int first) {
  double sum = 0;
  int steps = 0;
  for (std::size_t t = static_cast<std::size_t>(first) + 1; t < curve.size(); ++t) {
    const double change = curve[t] - curve[t - 1];
    sum += change * change;
    ++steps;
  }
  return steps > 0 ? std::sqrt(sum / steps) : std::numeric_limits<double>::quiet_NaN();
}

std::vector<Evidence> weigh_predictions(std::span<const RunLog> logs) {
  std::vector<Evidence> all = {weigh_first(logs), weigh_second(logs), weigh_third(logs)};
  for (Evidence& one : all) {
    if (one.verdict == "no runs" && !logs.empty()) one.verdict = "these runs cannot tell";
  }
  return all;
}

}  // namespace longtail::theory
