#include "longtail/report/family.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

#include "longtail/report/block_design.h"
#include "longtail/report/multivariate_t.h"
#include "longtail/report/stats.h"

namespace longtail::report {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// Residuals differ grossly if equal variances would give a largest share this unlikely.
constexpr double kGross = 0.01;

// Half-widths of the intervals for i minus j: against the baseline (Dunnett, two-sided), with i as the one
// that might be the best (Hsu, one-sided), and among all pairs (Tukey).
struct Widths {
  double with_baseline = kInfinity;
  double with_best = kInfinity;
  double of_all_pairs = kInfinity;
};

// Pairs that differ by more than the critical value for all pairs.
std::vector<std::vector<bool>> above_by_widths(const auto& intervals, std::size_t k) {
  std::vector<std::vector<bool>> found(k, std::vector<bool>(k, false));
  for (std::size_t i = 0; i < k; ++i) {
    for (std::size_t j = 0; j < k; ++j)
      found[i][j] = i != j && intervals.estimate(i, j) > intervals.widths(i, j).of_all_pairs;
  }
  return found;
}

class Pooled {
 public:
  Pooled(const Fit& fit, const FamilyOptions& options, std::size_t baseline)
      : fit_(fit), options_(options), residual_(std::sqrt(fit.sum_of_squares / fit.dof)) {
    if (baseline < fit.who.size()) critical_ = critical(baseline, Sides::kTwo);
    for (std::size_t i = 0; i < fit.who.size(); ++i) best_.push_back(critical(i, Sides::kOne));
    const int k = static_cast<int>(fit.who.size());
    const double alpha = pair_alpha(options, k, baseline < fit.who.size());
    all_pairs_ = all_pairs_critical(entrants(), fit.dof, 1 - alpha);
    if (!fit.balanced || options.entrants > 0) return;
    for (int means = 2; means <= k; ++means) ranges_.push_back(range_critical(means, k, fit.dof, alpha));
  }
  double residual() const { return residual_; }
  double critical() const { return critical_; }
  double estimate(std::size_t i, std::size_t j) const { return fit_.effect[i] - fit_.effect[j]; }
  Widths widths(std::size_t i, std::size_t j) const {
    const double error = residual_ * std::sqrt(fit_.unit_variance(i, j));
    return {critical_ * error, best_[i] * error, all_pairs_ * error};
  }
  // Which pairs differ by the step-down range test of Ryan, Einot, Gabriel and Welsch: two means differ if
  // their range is above the critical value for as many means as it spans, and so is every range that
  // contains it. It keeps its error probability over all pairs, whichever are equal. For balanced tables
  // only; others use Tukey's critical value.
  std::vector<std::vector<bool>> above() const {
    const std::size_t k = fit_.who.size();
    if (ranges_.empty()) return above_by_widths(*this, k);
    std::vector<std::vector<bool>> found(k, std::vector<bool>(k, false));
    std::vector<std::size_t> order(k);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t i, std::size_t j) { return fit_.effect[i] > fit_.effect[j]; });
    for (std::size_t means = k; means >= 2; --means) {
      for (std::size_t top = 0; top + means <= k; ++top) {
        const std::size_t bottom = top + means - 1, i = order[top], j = order[bottom];
        const double error = residual_ * std::sqrt(fit_.unit_variance(i, j));
        found[i][j] = estimate(i, j) > ranges_[means - 2] * error && (top == 0 || found[order[top - 1]][j]) &&
                      (bottom + 1 == k || found[i][order[bottom + 1]]);
      }
    }
    return found;
  }

 private:
  static double range_critical(int means, int k, double dof, double alpha) {
    const double part = means >= k - 1 ? alpha : 1 - std::pow(1 - alpha, static_cast<double>(means) / k);
    return all_pairs_critical(means, dof, 1 - part);
  }
  int entrants() const { return std::max(static_cast<int>(fit_.who.size()), options_.entrants); }
  // For all comparisons with the strategy `control`.
  double critical(std::size_t control, Sides sides) const {
    if (fit_.balanced) return dunnett_critical(entrants() - 1, fit_.dof, 1 - options_.alpha, sides);
    std::vector<std::size_t> others;
    for (std::size_t i = 0; i < fit_.who.size(); ++i) {
      if (i != control) others.push_back(i);
    }
    const auto& v = fit_.unit_covariance;
    Matrix correlation(others.size(), std::vector<double>(others.size(), 1));
    for (std::size_t a = 0; a < others.size(); ++a) {
      for (std::size_t b = 0; b < others.size(); ++b) {
        const std::size_t i = others[a], j = others[b];
        const double covariance = v[i][j] - v[i][control] - v[j][control] + v[control][control];
        if (a != b)
          correlation[a][b] =
              covariance / std::sqrt(fit_.unit_variance(i, control) * fit_.unit_variance(j, control));
      }
    }
    return critical_value(correlation, fit_.dof, 1 - options_.alpha, sides);
  }

  const Fit& fit_;
  const FamilyOptions& options_;
  double residual_ = 0, critical_ = 0, all_pairs_ = 0;
  std::vector<double> best_;
  std::vector<double> ranges_;  // critical values for 2, 3, ... means; empty: no step-down
};

// Every difference judged by its own spread over the seeds that have both runs.
class Separate {
 public:
  Separate(const SeedTable& table, const Fit& fit, const FamilyOptions& options, std::size_t baseline)
      : table_(table),
        fit_(fit),
        others_(std::max(static_cast<int>(fit.who.size()), options.entrants) - 1),
        alpha_(options.alpha / others_),
        pair_alpha_(pair_alpha(options, others_ + 1, baseline < fit.who.size()) * 2 / others_ /
                    (others_ + 1)) {}
  double estimate(std::size_t i, std::size_t j) const { return pairs(i, j).mean; }
  Widths widths(std::size_t i, std::size_t j) const {
    const Pairs p = pairs(i, j);
    // If the difference is the same in every seed, there is no spread to judge it by: that is not certainty.
    if (p.count < 2 || p.deviation < kNoSpread) return {};
    const double error = p.deviation / std::sqrt(p.count);
    return {student_critical(p.count - 1, 1 - alpha_, Sides::kTwo) * error,
            student_critical(p.count - 1, 1 - alpha_, Sides::kOne) * error,
            student_critical(p.count - 1, 1 - pair_alpha_, Sides::kTwo) * error};
  }
  std::vector<std::vector<bool>> above() const { return above_by_widths(*this, fit_.who.size()); }

 private:
  struct Pairs {
    int count = 0;
    double mean = 0, deviation = 0;
  };
  Pairs pairs(std::size_t i, std::size_t j) const {
    std::vector<double> d;
    for (std::size_t s = 0; s < table_.seeds(); ++s) {
      const double one = table_.values[fit_.who[i]][s] - table_.values[fit_.who[j]][s];
      if (std::isfinite(one)) d.push_back(one);
    }
    Pairs p{.count = static_cast<int>(d.size()), .mean = fit_.effect[i] - fit_.effect[j]};
    if (d.size() < 2) return p;
    p.mean = std::accumulate(d.begin(), d.end(), 0.0) / p.count;
    double sum = 0;
    for (const double one : d) sum += (one - p.mean) * (one - p.mean);
    p.deviation = std::sqrt(sum / (p.count - 1));
    return p;
  }
  const SeedTable& table_;
  const Fit& fit_;
  int others_ = 1;
  double alpha_ = 0.05, pair_alpha_ = 0.05;
};

// The strategies that are compared: those that share seeds with the baseline, directly or through others. If
// there are none, the largest set that shares seeds within itself; the first of equals.
std::vector<std::size_t> with_common_seeds(const SeedTable& table, std::size_t baseline) {
  std::vector<std::size_t> most;
  if (baseline < table.strategies()) most = connected(table, baseline);
  if (most.size() > 1) return most;
  for (std::size_t i = 0; i < table.strategies(); ++i) {
    std::vector<std::size_t> own = connected(table, i);
    if (own.size() > most.size()) most = std::move(own);
  }
  return most;
}

// One strategy per training, the one with the most runs: the residual is estimated from these. All strategies
// if there is only one training, or if these have no seeds in common.
std::vector<std::size_t> trained_apart(const SeedTable& table, const std::vector<std::size_t>& who) {
  if (table.trainings.empty()) return who;
  const auto runs = [&](std::size_t i) {
    return std::count_if(table.values[i].begin(), table.values[i].end(),
                         [](double value) { return std::isfinite(value); });
  };
  std::map<int, std::size_t> chosen;
  for (const std::size_t i : who) {
    const auto [at, fresh] = chosen.emplace(table.trainings[i], i);
    if (!fresh && runs(i) > runs(at->second)) at->second = i;
  }
  std::vector<std::size_t> apart;
  apart.reserve(chosen.size());
  for (const auto& [training, i] : chosen) apart.push_back(i);
  std::sort(apart.begin(), apart.end());
  const bool linked = connected(part_of(table, apart, table.seeds()), 0).size() == apart.size();
  return apart.size() > 1 && linked ? apart : who;
}

bool same_in_every_seed(const SeedTable& table, std::size_t i, std::size_t j) {
  int pairs = 0;
  for (std::size_t s = 0; s < table.seeds(); ++s) {
    const double d = table.values[i][s] - table.values[j][s];
    if (!std::isfinite(d)) continue;
    ++pairs;
    if (d != 0) return false;
  }
  return pairs > 0;
}

void compare_with_baseline(const SeedTable& table, const Fit& fit, const auto& intervals,
                           std::size_t baseline, Family& family) {
  for (std::size_t i = 0; i < fit.who.size(); ++i) {
    if (i == baseline || baseline >= fit.who.size()) continue;
    Standing& own = family.standings[fit.who[i]];
    const double width = intervals.widths(i, baseline).with_baseline;
    own.difference = intervals.estimate(i, baseline);
    // By least squares they may differ even if they are tied on the seeds that both have.
    const bool same =
        std::abs(own.difference) < kNoSpread && same_in_every_seed(table, fit.who[i], fit.who[baseline]);
    if (same) own.judgement = Judgement::kNoDifference;
    if (!std::isfinite(width)) continue;
    own.low = own.difference - width;
    own.high = own.difference + width;
    if (!same)
      own.judgement = own.low > 0 || own.high < 0 ? Judgement::kEstablished : Judgement::kNotEstablished;
  }
}

// Hsu's constrained intervals for a mean minus the best of the others: upper bounds with i as the control,
// lower ones against those whose upper bound is above 0.
void compare_with_best(const Fit& fit, const auto& intervals, Family& family) {
  const std::size_t k = fit.who.size();
  std::vector<bool> candidate(k);
  for (std::size_t i = 0; i < k; ++i) {
    double high = kInfinity;
    for (std::size_t j = 0; j < k; ++j) {
      if (j != i) high = std::min(high, intervals.estimate(i, j) + intervals.widths(i, j).with_best);
    }
    family.standings[fit.who[i]].best_high = std::max(0.0, high);
    candidate[i] = high > 0;
  }
  for (std::size_t i = 0; i < k; ++i) {
    double low = 0;
    for (std::size_t j = 0; j < k; ++j) {
      if (j != i && candidate[j])
        low = std::min(low, intervals.estimate(i, j) - intervals.widths(j, i).with_best);
    }
    family.standings[fit.who[i]].best_low = low;
  }
}

void rule_out(const Fit& fit, const auto& intervals, std::size_t baseline, Family& family) {
  const std::size_t k = fit.who.size();
  const bool with_baseline = baseline < k;
  // The gate: as long as all may be equal, none is ruled out.
  const bool open = !with_baseline || family.any_established();
  const std::vector<std::vector<bool>> above = intervals.above();
  for (std::size_t i = 0; i < k; ++i) {
    Standing& own = family.standings[fit.who[i]];
    for (std::size_t j = 0; j < k; ++j) {
      if (j == i) continue;
      const bool dunnett = i == baseline || j == baseline;
      const bool below =
          dunnett ? intervals.estimate(j, i) > intervals.widths(i, j).with_baseline : above[j][i];
      if (open && below) own.may_be_best = false;
    }
  }
}

// The leader is one that may be the best. Where runs are missing and each difference is judged by its own
// pairs, a strategy that is ruled out may have the highest least-squares mean.
void choose_leader(const Fit& fit, const auto& intervals, std::size_t baseline, Family& family) {
  std::size_t first = 0;
  for (std::size_t i = 1; i < fit.who.size(); ++i) {
    const bool here = family.standings[fit.who[i]].may_be_best;
    const bool there = family.standings[fit.who[first]].may_be_best;
    if (here == there ? fit.effect[i] > fit.effect[first] : here) first = i;
  }
  family.leader = fit.who[first];
  for (std::size_t i = 0; i < fit.who.size(); ++i) {
    if (i == first) continue;
    Standing& own = family.standings[fit.who[i]];
    const Widths widths = intervals.widths(i, first);
    own.rival_lead = intervals.estimate(first, i);
    own.rival_margin = i == baseline || first == baseline ? widths.with_baseline : widths.of_all_pairs;
  }
}

void judge(const SeedTable& table, const Fit& fit, const auto& intervals, std::size_t baseline,
           Family& family) {
  compare_with_baseline(table, fit, intervals, baseline, family);
  compare_with_best(fit, intervals, family);
  rule_out(fit, intervals, baseline, family);
  choose_leader(fit, intervals, baseline, family);
  for (Standing& one : family.standings) {
    for (double* bound : {&one.low, &one.high, &one.best_low, &one.best_high})
      *bound = std::isinf(*bound) ? kNaN : possible(*bound);  // without a spread there is no bound
  }
}

}  // namespace

double possible(double difference) { return std::clamp(difference, -100.0, 100.0); }

std::string judgement_words(Judgement judgement) {
  switch (judgement) {
    case Judgement::kEstablished:
      return "established";
    case Judgement::kNotEstablished:
      return "not established";
    case Judgement::kNoDifference:
      return "no difference";
    case Judgement::kHeldBack:
      return "held back";
    case Judgement::kCannotTell:
      break;
  }
  return "cannot be told";
}

bool Family::any_established() const {
  return std::any_of(standings.begin(), standings.end(),
                     [](const Standing& one) { return one.judgement == Judgement::kEstablished; });
}

std::vector<std::size_t> Family::may_be_best() const {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < standings.size(); ++i) {
    if (standings[i].may_be_best) found.push_back(i);
  }
  return found;
}

std::vector<std::size_t> Family::ruled_out() const {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < standings.size(); ++i) {
    if (standings[i].comparable && !standings[i].may_be_best) found.push_back(i);
  }
  return found;
}

namespace {

Standing without_comparison(const std::vector<double>& values) {
  Standing own{.difference = kNaN, .low = kNaN, .high = kNaN, .best_low = kNaN, .best_high = kNaN};
  double sum = 0;
  for (const double value : values) {
    if (!std::isfinite(value)) continue;
    ++own.seeds;
    sum += value;
  }
  own.mean = own.seeds > 0 ? sum / own.seeds : kNaN;
  own.effect = kNaN;
  return own;
}

// Every strategy by itself. The leader is the baseline if it has runs, otherwise the first that has any.
void list_strategies(const SeedTable& table, Family& family) {
  for (const auto& values : table.values) family.standings.push_back(without_comparison(values));
  const auto has_runs = [](const Standing& one) { return one.seeds > 0; };
  const auto first = std::find_if(family.standings.begin(), family.standings.end(), has_runs);
  if (first == family.standings.end()) return;
  const bool baseline =
      family.baseline < family.standings.size() && has_runs(family.standings[family.baseline]);
  family.leader = baseline ? family.baseline : static_cast<std::size_t>(first - family.standings.begin());
}

std::string nothing_to_compare(const Family& family) {
  const auto with_runs = std::count_if(family.standings.begin(), family.standings.end(),
                                       [](const Standing& one) { return one.seeds > 0; });
  if (with_runs == 0) return "There is no run.";
  return with_runs == 1 ? "Only one strategy has runs: there is nothing to compare it with."
                        : "No two strategies have a seed in common: nothing can be compared.";
}

// The effects use all runs; the residual uses one series per training (`apart`).
Fit fit_of(const SeedTable& table, const std::vector<std::size_t>& who,
           const std::vector<std::size_t>& apart) {
  Fit least = fit(table, who);
  if (apart.size() < who.size()) {
    const Fit spread = fit(table, apart);
    least.sum_of_squares = spread.sum_of_squares;
    least.dof = spread.dof;
  }
  return least;
}

// Effects, leader and differences from the baseline, which is at `baseline` in least.who if it is compared.
void take_effects(const Fit& least, std::size_t baseline, Family& family) {
  for (std::size_t i = 0; i < least.who.size(); ++i) {
    Standing& own = family.standings[least.who[i]];
    own.comparable = true;
    own.may_be_best = true;
    own.effect = least.effect[i];
    if (baseline < least.who.size() && i != baseline)
      own.difference = least.effect[i] - least.effect[baseline];
  }
  family.leader = least.who[static_cast<std::size_t>(
      std::max_element(least.effect.begin(), least.effect.end()) - least.effect.begin())];
}

std::string too_few_seeds(const Family& family, const std::vector<std::size_t>& who) {
  const bool one_seed =
      std::all_of(who.begin(), who.end(), [&](std::size_t i) { return family.standings[i].seeds == 1; });
  const std::string who_lacks = family.sharing > 0 ? "trainings" : "strategies";
  return fmt::format(
      "{} there is no telling a difference from the spread between seeds: run at least three seeds{}.",
      one_seed ? "With one seed" : "No two " + who_lacks + " have more than one seed in common, so",
      one_seed ? "" : " of each");
}

// For the case that every difference is the same in all seeds.
void judge_without_spread(const SeedTable& table, const Fit& least, std::size_t baseline, Family& family) {
  const std::vector<std::size_t>& who = least.who;
  const bool equal = std::all_of(who.begin() + 1, who.end(),
                                 [&](std::size_t i) { return same_in_every_seed(table, i, who.front()); });
  family.limit = equal
                     ? "All strategies have the same value in every seed."
                     : "Every seed shows exactly the same differences: there is no spread to judge them by.";
  for (std::size_t i = 0; i < who.size() && baseline < who.size(); ++i) {
    if (i != baseline && same_in_every_seed(table, who[i], family.baseline))
      family.standings[who[i]].judgement = Judgement::kNoDifference;
  }
}

}  // namespace

Family analyse(const SeedTable& table, const FamilyOptions& options) {
  Family family{.alpha = options.alpha, .baseline = options.baseline};
  list_strategies(table, family);
  const std::vector<std::size_t> who = with_common_seeds(table, options.baseline);
  if (who.size() < 2) {
    family.limit = nothing_to_compare(family);
    return family;
  }
  const std::vector<std::size_t> apart = trained_apart(table, who);
  family.sharing = static_cast<int>(who.size() - apart.size());
  const Fit least = fit_of(table, who, apart);
  const auto baseline =
      static_cast<std::size_t>(std::find(who.begin(), who.end(), options.baseline) - who.begin());
  take_effects(least, baseline, family);
  if (least.dof < 1) {
    family.limit = too_few_seeds(family, who);
    return family;
  }
  family.dof = least.dof;
  family.residual = std::sqrt(least.sum_of_squares / least.dof);
  if (family.residual < kNoSpread) {
    judge_without_spread(table, least, baseline, family);
    return family;
  }
  family.unequal_p = unequal_p(table, apart);
  if (family.unequal_p < kGross) {
    family.method = Method::kSeparate;
    judge(table, least, Separate(table, least, options, baseline), baseline, family);
  } else {
    family.method = Method::kPooled;
    const Pooled intervals(least, options, baseline);
    family.critical = intervals.critical();
    judge(table, least, intervals, baseline, family);
  }
  return family;
}

SeedTable part_of(const SeedTable& table, const std::vector<std::size_t>& strategies, std::size_t seeds) {
  SeedTable part;
  for (const std::size_t i : strategies) {
    part.names.push_back(table.names[i]);
    if (!table.trainings.empty()) part.trainings.push_back(table.trainings[i]);
    const auto& row = table.values[i];
    part.values.emplace_back(row.begin(),
                             row.begin() + static_cast<std::ptrdiff_t>(std::min(seeds, row.size())));
  }
  return part;
}

}  // namespace longtail::report
