#include "longtail/report/predictions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>

namespace longtail::report {
namespace {

// "Matches": within this many points of accuracy.
constexpr double kMatch = 1.0;
// The first epochs, a warm-up of an untrained network, say nothing about a strategy.
constexpr int kSettled = 10;
constexpr int kFewSeeds = 3;

// A strategy minus uniform.
struct Distance {
  int seeds = 0;  // 0: there is no pair
  double difference = kMissing, low = kMissing, high = kMissing;
  Judgement judgement = Judgement::kCannotTell;

  bool judged() const { return std::isfinite(low); }
  double margin() const { return high - difference; }
  std::string words() const {
    return judged() ? fmt::format("{} points ({} to {})", fixed(difference, 2, true),
                                  fixed_bound(low, 2, true), fixed_bound(high, 2, true))
                    : fmt::format("{} points", fixed(difference, 2, true));
  }
};

Distance distance(const SeedTable& table, const Series& series) {
  const auto row = [&](const Series& one) {
    return static_cast<std::size_t>(std::find(table.names.begin(), table.names.end(), one.text()) -
                                    table.names.begin());
  };
  const std::size_t own = row(series), uniform = row(Series("uniform"));
  Distance found;
  if (own == table.strategies() || uniform == table.strategies()) return found;
  const Standing standing = analyse(table, {.baseline = uniform}).standings[own];
  if (!std::isfinite(standing.difference)) return found;
  for (std::size_t s = 0; s < table.seeds(); ++s)
    found.seeds += std::isfinite(table.values[own][s]) && std::isfinite(table.values[uniform][s]);
  found.difference = standing.difference;
  found.low = standing.low;
  found.high = standing.high;
  found.judgement = standing.judgement;
  return found;
}

Evidence evidence(Verdict verdict, const Distance& d, std::string words) {
  return {verdict, d.seeds < kFewSeeds, std::move(words)};
}

Evidence above(const Distance& d) {
  const bool told = d.judgement == Judgement::kEstablished;
  return evidence(!told              ? Verdict::kOpen
                  : d.difference > 0 ? Verdict::kHolds
                                     : Verdict::kFails,
                  d, d.words());
}

// Holds if the whole interval is inside, fails if all of it is outside.
Evidence within(const Distance& d, double most) {
  Verdict verdict = Verdict::kOpen;
  if (d.judgement == Judgement::kNoDifference || (d.judged() && d.low >= -most && d.high <= most)) {
    verdict = Verdict::kHolds;
  } else if (d.judged() && (d.low > most || d.high < -most)) {
    verdict = Verdict::kFails;
  }
  return evidence(verdict, d, d.words());
}

std::string ratio_of(const Condition& condition) { return fmt::format("{:g}", condition.rho()); }

// Root mean square changes of the tail's curve, as a table of its own.
SeedTable volatilities(const Results& results, const Condition& condition) {
  SeedTable table = seed_table(results, condition, Metric::kTail, At::kBest);
  const std::vector<Series> series = results.series_in(condition);
  for (std::size_t i = 0; i < series.size(); ++i) {
    for (std::size_t s = 0; s < table.seeds(); ++s) {
      const RunResult* run = results.find(series[i], condition, results.seeds[s]);
      table.values[i][s] = run && run->log ? volatility(run->log->tail_acc, kSettled) : kMissing;
    }
  }
  return table;
}

Prediction head_and_tail(const Results& results) {
  Prediction one{"progressive sampling matches uniform on head classes and beats it on tail classes", {}};
  for (const Condition& condition : results.conditions) {
    const std::string rho = ratio_of(condition);
    const auto of = [&](Metric metric) {
      return distance(seed_table(results, condition, metric, At::kBest), Series("progressive"));
    };
    if (const Distance head = of(Metric::kHead); head.seeds > 0)
      one.claims.push_back({.sentence = fmt::format("head: within {:g} point of uniform", kMatch),
                            .rho = rho,
                            .ours = within(head, kMatch)});
    if (const Distance tail = of(Metric::kTail); tail.seeds > 0)
      one.claims.push_back({.sentence = "tail: above uniform", .rho = rho, .ours = above(tail)});
  }
  return one;
}

Prediction volatile_tail(const Results& results) {
  Prediction one{"class-balanced sampling has a volatile tail", {}};
  const Series balanced("class_balanced"), uniform("uniform");
  for (const Condition& condition : results.conditions) {
    const SeedTable moves = volatilities(results, condition);
    const Distance d = distance(moves, balanced);
    if (d.seeds == 0) continue;
    Evidence said = above(d);
    // A curve near zero cannot move: say how high the tail stands.
    said.words += fmt::format("; its tail stands at {}, uniform's at {}",
                              fixed(average(results, balanced, condition, Metric::kTail, {}).mean, 2),
                              fixed(average(results, uniform, condition, Metric::kTail, {}).mean, 2));
    one.claims.push_back(
        {.sentence = "tail accuracy moves more from epoch to epoch (root mean square) than under uniform",
         .rho = ratio_of(condition),
         .ours = std::move(said)});
  }
  return one;
}

// The distances from uniform at two ratios, measured on different runs: their margins add up in squares.
Evidence widens(const Distance& before, const Distance& after) {
  const double growth = std::abs(after.difference) - std::abs(before.difference);
  Verdict verdict = Verdict::kOpen;
  if (before.judged() && after.judged()) {
    const double margin = std::hypot(before.margin(), after.margin());
    verdict = growth > margin ? Verdict::kHolds : growth < -margin ? Verdict::kFails : Verdict::kOpen;
  }
  return {verdict, std::min(before.seeds, after.seeds) < kFewSeeds,
          fmt::format("{}, then {}", before.words(), after.words())};
}

Prediction widening_gaps(const Results& results) {
  Prediction one{"gaps between the strategies widen with the imbalance", {}};
  // Conditions of the same data, by ratio.
  std::map<std::string, std::set<Condition>> ladders;
  for (const Condition& condition : results.conditions) ladders[condition.data()].insert(condition);
  for (const char* strategy : {"class_balanced", "square_root", "progressive"}) {
    for (const auto& [dataset, ladder] : ladders) {
      Distance before;
      double lower = 0;
      for (const Condition& condition : ladder) {
        const Distance d =
            distance(seed_table(results, condition, Metric::kOverall, At::kBest), Series(strategy));
        if (d.seeds == 0) continue;
        if (before.seeds > 0)
          one.claims.push_back(
              {.sentence = fmt::format("overall: {}'s distance from uniform grows", strategy),
               .rho = fmt::format("{:g}, {:g}", lower, condition.rho()),
               .ours = widens(before, d)});
        before = d;
        lower = condition.rho();
      }
    }
  }
  return one;
}

}  // namespace

std::string Prediction::verdict() const {
  int holds = 0, fails = 0, open = 0;
  bool partial = false;
  for (const Claim& claim : claims) {
    holds += claim.ours.verdict == Verdict::kHolds;
    fails += claim.ours.verdict == Verdict::kFails;
    open += claim.ours.verdict == Verdict::kOpen;
    partial = partial || (claim.ours.verdict != Verdict::kOpen && claim.ours.partial);
  }
  if (holds > 0 && fails > 0) return "holds in part";
  std::string words = verdict_words({holds > 0   ? Verdict::kHolds
                                     : fails > 0 ? Verdict::kFails
                                                 : Verdict::kOpen,
                                     partial, ""});
  const int told = holds + fails;
  if (told == 0 || open == 0) return words;
  return fmt::format("{} in {} of {} comparisons; the other{} cannot be told", words, told, told + open,
                     open == 1 ? "" : "s");
}

double volatility(std::span<const double> curve, int first) {
  double sum = 0;
  int steps = 0;
  for (std::size_t t = static_cast<std::size_t>(first) + 1; t < curve.size(); ++t) {
    const double change = curve[t] - curve[t - 1];
    sum += change * change;
    ++steps;
  }
  return steps > 0 ? std::sqrt(sum / steps) : kMissing;
}

std::vector<Prediction> judge_predictions(const Results& results) {
  return {head_and_tail(results), volatile_tail(results), widening_gaps(results)};
}

}  // namespace longtail::report
