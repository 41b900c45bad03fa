#include "longtail/report/claims.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>

#include "longtail/base/text.h"
#include "longtail/sampling/shown.h"

namespace longtail::report {
namespace {

constexpr int kPaperSeeds = 3;
constexpr auto& kStrategies = sampling::kPaperStrategies;
const Series kUniform("uniform"), kClassBalanced("class_balanced"), kProgressive("progressive");
const Condition kTen(10), kFifty(50), kHundred(100);

// One side of the comparison: its results and how to read them.
struct Side {
  const Results& results;
  SummaryOptions options;
};
using Judge = std::function<Evidence(const Side&)>;

Evidence missing(const std::string& what) { return {.words = what}; }
Evidence judged(bool holds, int seeds, std::string words) {
  return {holds ? Verdict::kHolds : Verdict::kFails, seeds < kPaperSeeds, std::move(words)};
}

struct Pairs {
  int count = 0, above = 0, below = 0;
  double mean = 0;
  std::string words() const {
    return fmt::format("{} points, {} of {} seed{} {}", fixed(mean, 2, true), std::max(above, below), count,
                       count == 1 ? "" : "s", above >= below ? "above" : "below");
  }
};

// The difference of one seed's pair from uniform; NaN without one.
double pair_of(const Side& side, const Series& series, const Condition& rho, Metric metric,
               std::int64_t seed) {
  const RunResult* a = side.results.find(series, rho, seed);
  const RunResult* b = side.results.find(kUniform, rho, seed);
  if (!a || !b) return kMissing;
  return accuracy(*a, metric, side.options.at) - accuracy(*b, metric, side.options.at);
}

Pairs pairs_of(const Side& side, const Series& series, const Condition& rho, Metric metric) {
  Pairs pairs;
  std::vector<double> differences;
  for (std::int64_t seed : side.results.seeds) {
    const double d = pair_of(side, series, rho, metric, seed);
    if (d != d) continue;
    differences.push_back(d);
    pairs.above += d > 0;
    pairs.below += d < 0;
  }
  pairs.count = static_cast<int>(differences.size());
  pairs.mean = mean(differences);
  return pairs;
}

// One seed to the contrary settles it, however few seeds there are.
Judge above_for_every_seed(const Series& series, const Condition& rho, Metric metric) {
  return [=](const Side& side) {
    const Pairs pairs = pairs_of(side, series, rho, metric);
    if (pairs.count == 0) return missing("no pair");
    const bool all = pairs.above == pairs.count;
    return judged(all, all ? pairs.count : kPaperSeeds, pairs.words());
  };
}

// One seed above and one below settle it. As long as all agree, fewer than three seeds leave it open.
Judge seeds_disagree(const Series& series, const Condition& rho, Metric metric) {
  return [=](const Side& side) {
    const Pairs pairs = pairs_of(side, series, rho, metric);
    if (pairs.count == 0) return missing("no pair");
    const bool disagree = pairs.above > 0 && pairs.below > 0;
    if (!disagree && pairs.count < kPaperSeeds) return missing(pairs.words());
    return judged(disagree, kPaperSeeds, pairs.words());
  };
}

// The means of the four strategies over the seeds in `of` that all of them have, since other seeds have other
// images and weights; and what is absent, in words.
struct Four {
  std::vector<double> means;
  std::vector<std::int64_t> common;  // the seeds in common
  std::string absent;
  int seeds() const { return static_cast<int>(common.size()); }
};
Four four_of(const Side& side, const Condition& rho, Metric metric, const std::vector<std::int64_t>& of) {
  Four four;
  std::vector<std::vector<double>> values(kStrategies.size());  // of the common seeds
  std::set<std::size_t> there;
  for (const std::int64_t seed : of) {
    std::vector<double> row;
    for (std::size_t s = 0; s < kStrategies.size(); ++s) {
      const RunResult* run = side.results.find(Series{std::string(kStrategies[s])}, rho, seed);
      const double value = run ? accuracy(*run, metric, side.options.at) : kMissing;
      if (value != value) continue;
      there.insert(s);
      row.push_back(value);
    }
    if (row.size() < kStrategies.size()) continue;
    for (std::size_t s = 0; s < row.size(); ++s) values[s].push_back(row[s]);
    four.common.push_back(seed);
  }
  for (const auto& one : values) four.means.push_back(mean(one));
  std::vector<std::string> absent;
  for (std::size_t s = 0; s < kStrategies.size(); ++s) {
    if (there.count(s) == 0) absent.push_back(sampling::strategy_title(kStrategies[s]));
  }
  if (there.empty()) {
    four.absent = "no run";
  } else if (!absent.empty()) {
    four.absent = "no run of " + base::join(absent, ", ");
  } else if (four.common.empty()) {
    four.absent = "no seed that all four have";
  }
  return four;
}
Four four_of(const Side& side, const Condition& rho, Metric metric) {
  return four_of(side, rho, metric, side.results.seeds);
}

// The extreme of the four strategies, highest or lowest.
Judge extreme_mean(const Series& series, const Condition& rho, Metric metric, bool highest) {
  return [=](const Side& side) {
    const Four four = four_of(side, rho, metric);
    if (!four.absent.empty()) return missing(four.absent);
    const std::size_t own = sampling::strategy_place(series.strategy());
    std::size_t next = own == 0 ? 1 : 0;
    for (std::size_t s = 0; s < kStrategies.size(); ++s) {
      if (s != own && (highest ? four.means[s] > four.means[next] : four.means[s] < four.means[next]))
        next = s;
    }
    const bool holds = highest ? four.means[own] > four.means[next] : four.means[own] < four.means[next];
    return judged(holds, four.seeds(),
                  fmt::format("{}; {} {}", fixed(four.means[own], 1),
                              sampling::strategy_title(kStrategies[next]), fixed(four.means[next], 1)));
  };
}

// Class-balanced against uniform by group: below in all groups, or in all but the tail.
Judge balanced_loses(const Condition& rho, bool on_the_tail_too) {
  return [=](const Side& side) {
    std::vector<std::string> words;
    int seeds = 1 << 30;
    bool holds = true;
    for (Metric metric : {Metric::kHead, Metric::kMedium, Metric::kTail}) {
      const Pairs pairs = pairs_of(side, kClassBalanced, rho, metric);
      if (pairs.count == 0) return missing("no pair");
      seeds = std::min(seeds, pairs.count);
      holds = holds && (pairs.mean < 0) == (metric != Metric::kTail || on_the_tail_too);
      words.push_back(fmt::format("{} {}", metric_name(metric), fixed(pairs.mean, 1, true)));
    }
    return judged(holds, seeds, base::join(words, ", "));
  };
}

Judge square_root_between(const Condition& rho) {
  return [=](const Side& side) {
    const Four four = four_of(side, rho, Metric::kOverall);
    if (!four.absent.empty()) return missing(four.absent);
    return judged(four.means[1] < four.means[2] && four.means[2] < four.means[0], four.seeds(),
                  fmt::format("{}; balanced {}, uniform {}", fixed(four.means[2], 1), fixed(four.means[1], 1),
                              fixed(four.means[0], 1)));
  };
}

// Over the seeds that all eight cells share.
Evidence range_grows(const Side& side) {
  std::vector<std::int64_t> seeds = side.results.seeds;
  for (const Condition& rho : {kTen, kHundred}) {
    const Four four = four_of(side, rho, Metric::kOverall);
    if (!four.absent.empty()) return missing(fmt::format("{} at {}", four.absent, rho.phrase()));
    std::erase_if(seeds, [&](std::int64_t seed) { return std::ranges::count(four.common, seed) == 0; });
  }
  if (seeds.empty()) return missing("no seed that all four have at both");
  std::vector<double> ranges;
  for (const Condition& rho : {kTen, kHundred}) {
    const Four four = four_of(side, rho, Metric::kOverall, seeds);
    const auto [low, high] = std::minmax_element(four.means.begin(), four.means.end());
    ranges.push_back(*high - *low);
  }
  return judged(ranges[0] < ranges[1], static_cast<int>(seeds.size()),
                fmt::format("{} points at ρ = 10, {} at ρ = 100", fixed(ranges[0], 2), fixed(ranges[1], 2)));
}

struct Statement {
  std::string finding, sentence, rho;
  Judge judge;
  std::string last_epoch{};  // the paper's words for a claim about the last epoch, which its CSV lacks
};

std::vector<Statement> statements() {
  const std::string first = "1. Progressive helps the tail, not the overall accuracy";
  const std::string second = "2. Class-balanced does harm under severe imbalance";
  const std::string third = "3. The choice matters more, the more severe the imbalance";
  std::vector<Statement> all;
  for (const Condition& rho : {kHundred, kFifty}) {
    all.push_back({first, "Tail: progressive is above uniform for every seed", rho.text(),
                   above_for_every_seed(kProgressive, rho, Metric::kTail)});
  }
  for (const auto& [rho, words] : {std::pair(kHundred, "+2.49"), std::pair(kFifty, "+1.96")}) {
    all.push_back({first, "Tail, last epoch: progressive is above uniform for every seed", rho.text(),
                   above_for_every_seed(kProgressive, rho, Metric::kTail),
                   std::string(words) + " points, 3 of 3 seeds above"});
  }
  for (const Condition& rho : {kHundred, kFifty}) {
    all.push_back({first, "Tail: progressive has the highest mean of the four", rho.text(),
                   extreme_mean(kProgressive, rho, Metric::kTail, true)});
  }
  for (const Condition& rho : {kHundred, kFifty}) {
    all.push_back({first, "Overall: the seeds disagree whether progressive is above uniform", rho.text(),
                   seeds_disagree(kProgressive, rho, Metric::kOverall)});
  }
  all.push_back({first, "Overall: progressive is above uniform for every seed", kTen.text(),
                 above_for_every_seed(kProgressive, kTen, Metric::kOverall)});
  all.push_back({second, "Class-balanced is below uniform on head, medium and tail", kHundred.text(),
                 balanced_loses(kHundred, true)});
  all.push_back({second, "Class-balanced is below uniform on head and medium, not on the tail", kFifty.text(),
                 balanced_loses(kFifty, false)});
  for (const Condition& rho : {kHundred, kFifty, kTen}) {
    all.push_back({second, "Overall: class-balanced has the lowest mean of the four", rho.text(),
                   extreme_mean(kClassBalanced, rho, Metric::kOverall, false)});
  }
  for (const Condition& rho : {kHundred, kFifty}) {
    all.push_back({second, "Overall: square-root lies between class-balanced and uniform", rho.text(),
                   square_root_between(rho)});
  }
  all.push_back({third, "Overall: the four strategies lie further apart at ρ = 100 than at ρ = 10", "10, 100",
                 range_grows});
  return all;
}

}  // namespace

std::string verdict_words(const Evidence& evidence) {
  if (evidence.verdict == Verdict::kOpen) return "cannot be told";
  return fmt::format("{}{}", evidence.verdict == Verdict::kHolds ? "holds" : "does not hold",
                     evidence.partial ? " so far" : "");
}

std::vector<Claim> judge_claims(const Results& ours, const Results& paper, const SummaryOptions& options) {
  SummaryOptions best = options, last = options;
  best.at = At::kBest;
  last.at = At::kLast;
  std::vector<Claim> claims;
  for (const Statement& one : statements()) {
    const bool at_the_end = !one.last_epoch.empty();
    claims.push_back({one.finding, one.sentence, one.rho,
                      at_the_end ? one.last_epoch : one.judge({paper, best}).words,
                      one.judge({ours, at_the_end ? last : options})});
  }
  return claims;
}

Table claims_table(const std::vector<Claim>& claims) {
  Table table{.id = "against_findings", .caption = "The paper's findings, by our numbers."};
  table.columns = {{"", true, true},  {"Claim", true, true}, {"ρ", true},
                   {"Verdict", true}, {"Paper", true},       {"Ours", true}};
  std::vector<std::string> findings;
  for (const Claim& claim : claims) {
    if (findings.empty() || findings.back() != claim.finding) findings.push_back(claim.finding);
    Cell verdict = text(verdict_words(claim.ours));
    verdict.bold = claim.ours.verdict == Verdict::kFails;
    table.rows.push_back({text(claim.finding.substr(0, 1)), text(claim.sentence), text(claim.rho),
                          std::move(verdict), text(claim.paper), text(claim.ours.words)});
  }
  table.notes.push_back("The findings: " + base::join(findings, ". ") + ".");
  table.notes.push_back(
      "So far: from fewer than three seeds. Cannot be told: the runs that would tell are not there, or are "
      "too few.");
  return table;
}

Table paired_beside_paper(const Results& ours, const Results& paper, const SummaryOptions& options) {
  Table table{.id = "against_paired",
              .caption =
                  "Paired differences per seed, Progressive minus Uniform (percentage points), the paper's "
                  "and ours."};
  std::set<std::int64_t> seeds(paper.seeds.begin(), paper.seeds.end());
  for (std::int64_t seed : ours.seeds) {
    if (seeds.size() < 10) seeds.insert(seed);
  }
  table.columns = {{"Metric", true, true}, {"ρ", true, true}, {"", true}};
  for (std::int64_t seed : seeds) table.columns.push_back({fmt::format("Seed {}", seed)});
  table.columns.push_back({"Mean"});
  table.columns.push_back({"Sign agreement"});
  SummaryOptions best = options;
  best.at = At::kBest;
  for (Metric metric : {Metric::kOverall, Metric::kTail}) {
    for (const Condition& rho : paper.conditions) {
      if (pairs_of({ours, options}, kProgressive, rho, metric).count == 0) continue;
      for (const auto& [who, side] :
           {std::pair("Paper", Side{paper, best}), std::pair("Ours", Side{ours, options})}) {
        std::vector<Cell> row = {text(std::string(metric_title(metric))), text(rho.text()), text(who)};
        for (std::int64_t seed : seeds)
          row.push_back(difference(pair_of(side, kProgressive, rho, metric, seed), 2));
        const Pairs pairs = pairs_of(side, kProgressive, rho, metric);
        row.push_back(difference(pairs.mean, 2));
        row.push_back(text(fmt::format("{}/{}", std::max(pairs.above, pairs.below), pairs.count)));
        table.rows.push_back(std::move(row));
      }
    }
  }
  return table;
}

}  // namespace longtail::report
