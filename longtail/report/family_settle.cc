// What would settle a family: the chance after so many seeds, and how many seeds make it large enough.
#include <algorithm>
#include <cmath>
#include <limits>

#include "longtail/report/family.h"
#include "longtail/report/multivariate_t.h"

namespace longtail::report {
namespace {

// With more strategies than kWholeShare, the pairs without the baseline get this share of the error
// probability, in addition to the comparisons with it (simulated: bench/bench_families).
constexpr double kPairShare = 0.25;
constexpr int kWholeShare = 4;

}  // namespace

double pair_alpha(const FamilyOptions& options, int strategies, bool with_baseline) {
  const bool whole = options.entrants > 0 || !with_baseline || strategies <= kWholeShare;
  return whole ? options.alpha : kPairShare * options.alpha;
}

std::vector<Lead> leads_of(const Family& family) {
  std::vector<Lead> leads;
  for (const std::size_t i : family.may_be_best()) {
    if (i == family.leader) continue;
    leads.push_back({family.standings[family.leader].effect - family.standings[i].effect,
                     i == family.baseline || family.leader == family.baseline});
  }
  return leads;
}

double chance_to_settle(const std::vector<Lead>& leads, double residual, int strategies, int seeds,
                        double alpha, int entrants, int sharing) {
  const double dof = static_cast<double>(strategies - sharing - 1) * (seeds - 1);
  const bool race = entrants > 0;
  // For the step-down test, the range of all means but one: those between the leader and a rival are seldom
  // all. A race has one critical value for all pairs.
  const double pair = pair_alpha({.alpha = alpha, .entrants = entrants}, strategies, true);
  const int means = race ? entrants : std::max(2, strategies - 1);
  const int others = (race ? entrants : strategies) - 1;
  Box box;
  for (const Lead& lead : leads) {
    box.low.push_back(lead.with_baseline ? dunnett_critical(others, dof, 1 - alpha, Sides::kTwo)
                                         : all_pairs_critical(means, dof, 1 - pair));
    box.high.push_back(std::numeric_limits<double>::infinity());
    box.shift.push_back(lead.ahead / (residual * std::sqrt(2.0 / seeds)));
  }
  // The leader's mean is common to all of these differences.
  const std::vector<double> loadings(leads.size(), leads.size() > 1 ? std::sqrt(0.5) : 0);
  return product_probability(loadings, dof, box);
}

SeedRange seeds_of_candidates(const Family& family) {
  SeedRange range;
  for (const std::size_t i : family.may_be_best()) {
    const int own = family.standings[i].seeds;
    range.fewest = range.most == 0 ? own : std::min(range.fewest, own);
    range.most = std::max(range.most, own);
  }
  return range;
}

int seeds_to_settle(const Family& family, int seeds, double chance, int most) {
  if (family.may_be_best().size() < 2) return 0;
  if (family.method != Method::kPooled) return -1;
  const std::vector<Lead> leads = leads_of(family);
  int strategies = 0;
  for (const Standing& one : family.standings) strategies += one.comparable;
  const auto enough = [&](int count) {
    return chance_to_settle(leads, family.residual, strategies, count, family.alpha, 0, family.sharing) >=
           chance;
  };
  if (!enough(seeds + most)) return -1;
  int low = seeds, high = seeds + most;  // enough at high
  for (int step = 1; low + step < high; step *= 2) {
    if (enough(low + step)) {
      high = low + step;
    } else {
      low += step;
    }
  }
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    (enough(middle) ? high : low) = middle;
  }
  return high - seeds;
}

}  // namespace longtail::report
