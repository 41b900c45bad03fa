// The findings in sentences, and remarks about the statistics behind them.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "longtail/base/text.h"
#include "longtail/report/block_design.h"
#include "longtail/report/summary.h"
#include "longtail/report/table.h"

namespace longtail::report {
namespace {

std::string p_text(double p) { return p < 0.0005 ? "p < 0.001" : fmt::format("p = {:.3f}", p); }

std::string interval_words(const Comparison& c) {
  return std::isfinite(c.low)
             ? fmt::format(" ({} to {})", fixed_bound(c.low, 2, true), fixed_bound(c.high, 2, true))
             : "";
}

// "above for 2 of 3 seeds", by the sign of the mean of the pairs: the least-squares difference may have the
// other sign.
std::string seeds_words(const Comparison& c) {
  const auto above =
      std::count_if(c.differences.begin(), c.differences.end(), [](double d) { return d > 0; });
  const auto below =
      std::count_if(c.differences.begin(), c.differences.end(), [](double d) { return d < 0; });
  const std::string all = fmt::format("{} seed{}", c.pairs(), c.pairs() == 1 ? "" : "s");
  if (std::abs(c.mean) >= kNoSpread)
    return fmt::format("{} for {} of {}", c.mean > 0 ? "above" : "below", c.mean > 0 ? above : below, all);
  if (above + below == 0) return fmt::format("equal in {} of {}", c.pairs(), all);
  return fmt::format("above for {} and below for {} of {}", above, below, all);
}

// Whether a family has intervals at all: not with one seed; and, if the baseline is not compared, none
// against it.
bool has_intervals(const Family& family) {
  return family.method != Method::kNone &&
         std::any_of(family.standings.begin(), family.standings.end(),
                     [](const Standing& own) { return std::isfinite(own.difference); });
}

void remark_on_statistics(const Summary& summary, std::vector<std::string>& remarks) {
  int families = 0;
  bool pooled = false;
  const auto count = [&](const Family& family) {
    if (!has_intervals(family)) return;
    ++families;
    pooled = pooled || family.method == Method::kPooled;
  };
  for (const FamilyOf& one : summary.families) count(one.family);
  for (const auto& [condition, family] : summary.worst) count(family);
  if (families == 0) return;
  remarks.push_back(
      fmt::format("Intervals: 95%, together for all comparisons of one metric in one condition with {} ({}). "
                  "Established: the interval does not contain 0.",
                  summary.baseline.title(),
                  pooled ? "Dunnett; a run is strategy + seed + residual, one residual for all strategies"
                         : "paired t with Bonferroni's correction, each difference by its own spread"));
  remarks.push_back(fmt::format(
      "{} such famil{} looked at; the goal's, {} accuracy, is the primary one. If no strategy differed from "
      "{}, chance alone would still establish something in about {} of them.",
      families, families == 1 ? "y was" : "ies were",
      summary.goal == Goal::kWorst ? "the worst group's" : goal_name(summary.goal), summary.baseline.title(),
      fixed(0.05 * static_cast<double>(families), 1)));
  if (summary.options.looks)
    remarks.push_back(
        fmt::format("The answer goes by the looks of the race, each at {:g}%; findings and tables are at 5%.",
                    100 * summary.options.looks->alpha_of_a_look()));
}

void remark_on_spread(const Summary& summary, std::vector<std::string>& remarks) {
  const auto remark = [&](const std::string& what, const Condition& condition, const Family& family) {
    if (family.method != Method::kSeparate) return;
    const bool without =
        std::any_of(family.standings.begin(), family.standings.end(), [](const Standing& own) {
          return std::isfinite(own.difference) && own.judgement == Judgement::kCannotTell;
        });
    remarks.push_back(fmt::format(
        "{} at {}: the spread over seeds differs grossly between the strategies (Cochran's test, {}). Each "
        "difference is judged by its own spread (paired t, Bonferroni's correction).{}",
        what, condition.phrase(), p_text(family.unequal_p),
        without ? " One that is the same in every seed, or known from one seed, has no spread to judge it by."
                : ""));
  };
  for (const FamilyOf& one : summary.families)
    remark(fmt::format("{} accuracy", metric_title(one.metric)), one.condition, one.family);
  for (const auto& [condition, family] : summary.worst)
    remark(std::string(goal_title(Goal::kWorst)), condition, family);
}

void remark_on_sharing(const Summary& summary, std::vector<std::string>& remarks) {
  int most = 0;
  std::size_t of = 0;
  for (const FamilyOf& one : summary.families) {
    if (one.family.method == Method::kNone || one.family.sharing <= most) continue;
    most = one.family.sharing;
    of = one.series.size();
  }
  if (most == 0) return;
  remarks.push_back(fmt::format(
      "{} of {} series share{} a training with another (rebalanced from the same networks, or alike until an "
      "epoch), so that chance moves them together: the residual is taken from one series of each training.",
      most, of, most == 1 ? "s" : ""));
}

// Says where the numbers of a finding are not those of its pairs.
void remark_on_missing_runs(const Results& results, const Summary& summary,
                            std::vector<std::string>& remarks) {
  constexpr double kSeen = 0.005;  // visible in two decimals
  for (const Condition& condition : results.conditions) {
    const bool apart =
        std::any_of(summary.comparisons.begin(), summary.comparisons.end(), [&](const Comparison& c) {
          return c.condition == condition && std::abs(c.difference - c.mean) > kSeen;
        });
    if (!apart) continue;
    remarks.push_back(
        fmt::format("At {}: runs are missing, so differences are by least squares over all runs (each is "
                    "strategy + seed); the paired tables have the means of the pairs alone.",
                    condition.phrase()));
  }
}

// Series without a pair have no finding; if the baseline has no pair, no series has one.
void remark_on_links(const Summary& summary, std::vector<std::string>& remarks) {
  for (const FamilyOf& one : summary.families) {
    if (one.metric != Metric::kOverall) continue;
    const auto& all = one.family.standings;
    std::vector<std::string> indirect;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (std::isfinite(all[i].difference) &&
          !find_comparison(summary, one.series[i], one.condition, one.metric))
        indirect.push_back(one.series[i].title());
    }
    if (!indirect.empty())
      remarks.push_back(fmt::format(
          "At {}: {} {} no seed with {}; {} through the other series, and only the table of intervals has "
          "it.",
          one.condition.phrase(), base::listed(indirect), indirect.size() == 1 ? "shares" : "share",
          summary.baseline.title(), indirect.size() == 1 ? "its difference goes" : "each difference goes"));
    const bool any = std::any_of(all.begin(), all.end(), [](const Standing& own) { return own.comparable; });
    if (any && one.family.baseline < all.size() && !all[one.family.baseline].comparable)
      remarks.push_back(
          fmt::format("At {}: {} shares no seed with the other series, which are compared among themselves.",
                      one.condition.phrase(), summary.baseline.title()));
  }
}

// Where a series is compared by one seed, the spread is that of the series with several.
void remark_on_single_seeds(const Results& results, const Summary& summary,
                            std::vector<std::string>& remarks) {
  std::vector<std::string> parts;
  for (const Condition& condition : results.conditions) {
    std::set<Series> single, all;
    for (const Comparison& c : summary.comparisons) {
      if (c.condition != condition || !std::isfinite(c.low)) continue;
      all.insert(c.series);
      if (c.pairs() == 1) single.insert(c.series);
    }
    if (single.empty()) continue;
    parts.push_back(fmt::format("{} of {} series {} compared by one seed at {}", single.size(), all.size(),
                                single.size() == 1 ? "is" : "are", condition.phrase()));
  }
  if (parts.empty()) return;
  remarks.push_back(
      base::join(parts, ", ") +
      ": their intervals take the spread over seeds from the others, which nothing here can check "
      "for them.");
}

void remark_on_check(const Summary& summary, std::vector<std::string>& remarks) {
  int tested = 0;
  std::vector<std::string> disagree;
  for (const Comparison& c : summary.comparisons) {
    if (!c.holm_p) continue;
    ++tested;
    if (c.established() && *c.p >= 0.05)
      disagree.push_back(fmt::format("{} of {} at {} ({})", metric_name(c.metric), c.series.title(),
                                     c.condition.phrase(), p_text(*c.p)));
  }
  if (tested == 0) return;
  remarks.push_back(
      fmt::format("p-values are a check: two-sided sign-flip permutation test on the paired differences, "
                  "corrected by Holm over the {} comparisons made.",
                  tested));
  if (!disagree.empty())
    remarks.push_back(
        "Established by the interval but not by sign flips alone: " + base::join(disagree, "; ") + ".");
}

bool all_classes_tested(const Results& results) {
  return std::all_of(results.runs.begin(), results.runs.end(), [](const RunResult& run) {
    return !run.log || std::all_of(run.log->best.per_class.begin(), run.log->best.per_class.end(),
                                   [](double value) { return std::isfinite(value); });
  });
}

// What chose the best epoch: whether the test images did, and by which accuracy. None: the log calls its last
// epoch the best.
using Rule = std::optional<std::pair<bool, Metric>>;
struct Chosen {
  std::map<Condition, std::vector<std::string>> titles{};  // of the series
  std::vector<double> gaps{};  // best minus last epoch, one per cell, in the accuracy that chose
};
using Rules = std::map<Rule, Chosen>;

Rules rules_of(const Results& results) {
  Rules rules;
  for (const Condition& condition : results.conditions) {
    for (const Series& series : results.series) {
      const auto run = std::find_if(results.runs.begin(), results.runs.end(), [&](const RunResult& one) {
        return one.log && one.series == series && one.condition == condition;
      });
      if (run == results.runs.end()) continue;
      Chosen& own =
          rules[run->chosen_by ? Rule(std::pair(run->chosen_on_test, *run->chosen_by)) : std::nullopt];
      own.titles[condition].push_back(series.title());
      if (!run->chosen_by) continue;
      if (const auto gap = results.gap(series, condition, *run->chosen_by)) own.gaps.push_back(*gap);
    }
  }
  return rules;
}

// Whether series that are compared with each other have different rules.
bool differ_within(const Rules& rules, const Condition& condition) {
  return std::count_if(rules.begin(), rules.end(),
                       [&](const auto& one) { return one.second.titles.contains(condition); }) > 1;
}

// "Results"; if other series have another rule, also whose results they are and in which conditions.
std::string whose_results(const Results& results, const Rules& rules, const Chosen& own) {
  constexpr std::size_t kNamed = 6;
  if (rules.size() == 1) return "Results";
  std::map<std::string, std::vector<std::string>> conditions;  // by the words for whose results they are
  for (const auto& [condition, titles] : own.titles) {
    const std::string whose = !differ_within(rules, condition) ? ""
                              : titles.size() > kNamed
                                  ? fmt::format(" of {} of {} series", titles.size(), results.series.size())
                                  : " of " + base::listed(titles);
    conditions[whose].push_back(condition.phrase());
  }
  const bool everywhere = conditions.size() == 1 && own.titles.size() == results.conditions.size();
  std::vector<std::string> parts;
  parts.reserve(conditions.size());
  for (const auto& [whose, where] : conditions)
    parts.push_back(whose + (everywhere ? "" : " at " + base::listed(where)));
  return "The results" + base::join(parts, " and");
}

std::string flattery_words(const Chosen& own, bool on_test, Metric metric) {
  if (own.gaps.empty()) return "";
  const auto [low, high] = std::minmax_element(own.gaps.begin(), own.gaps.end());
  const double gap = mean(own.gaps);
  return fmt::format(" It is {} points of {} accuracy {} the last epoch{}{}.", fixed(std::abs(gap), 2),
                     metric_name(metric), gap < 0 ? "below" : "above",
                     own.gaps.size() == 1 ? ""
                                          : fmt::format(" on average ({} to {} by cell)",
                                                        fixed(*low, 2, *low < 0), fixed(*high, 2, *low < 0)),
                     on_test ? ": that much the choice may flatter" : "");
}

void remark_on_selection(const Results& results, const Summary& summary, std::vector<std::string>& remarks) {
  if (summary.options.at != At::kBest) return;
  const Rules rules = rules_of(results);
  for (const auto& [rule, own] : rules) {
    if (!rule) continue;
    const auto [on_test, metric] = *rule;
    remarks.push_back(
        fmt::format("{} are those of the best epoch, chosen on {}{}.{}", whose_results(results, rules, own),
                    on_test ? "the test images" : "held-out images",
                    metric == Metric::kOverall ? "" : fmt::format(" by {} accuracy", metric_name(metric)),
                    flattery_words(own, on_test, metric)));
  }
  if (rules.size() < 2) return;
  if (const auto last = rules.find(std::nullopt); last != rules.end())
    remarks.push_back(whose_results(results, rules, last->second) +
                      " are those of the last epoch, which nothing chose.");
  if (std::none_of(results.conditions.begin(), results.conditions.end(),
                   [&](const Condition& condition) { return differ_within(rules, condition); }))
    return;
  remarks.emplace_back(
      "Epochs were chosen by different rules: differences between these series are not the strategies' "
      "alone.");
}

}  // namespace

Finding finding_of(const Comparison& c, const Series& baseline) {
  Finding finding{
      .established = c.established(), .condition = c.condition, .metric = c.metric, .series = c.series};
  const bool up = c.difference > 0;
  const std::string where = fmt::format("{} accuracy at {}", metric_title(c.metric), c.condition.phrase());
  const std::string who = c.series.title(), whom = baseline.title();
  const std::string seeds = seeds_words(c);
  std::string tests;
  if (c.holm_p) {
    tests = fmt::format("; sign flips: {}, {} after Holm's correction", p_text(*c.p),
                        p_text(*c.holm_p).substr(2));
  }
  if (c.judgement == Judgement::kNoDifference) {
    finding.sentence = fmt::format("{}: {} and {} do not differ in any of {} seed{}.", where, who, whom,
                                   c.pairs(), c.pairs() == 1 ? "" : "s");
  } else if (finding.established) {
    finding.sentence =
        fmt::format("{}: {} is {} {} by {} points{}, {}{}.", where, who, up ? "above" : "below", whom,
                    fixed(std::abs(c.difference), 2), interval_words(c), seeds, tests);
  } else {
    finding.sentence =
        fmt::format("{}: {} against {} {}: {} points{}, {}{}.", where, who, whom,
                    c.judgement == Judgement::kCannotTell ? "cannot be judged" : "is not established",
                    fixed(c.difference, 2, true), interval_words(c), seeds, tests);
  }
  return finding;
}

std::vector<std::string> remarks_of(const Results& results, const Summary& summary) {
  std::vector<std::string> remarks;
  if (summary.goal != summary.options.goal)
    remarks.push_back(
        "These results do not tell balanced accuracy; the recommendation goes by overall accuracy.");
  if (!summary.balanced_apart && summary.goal == Goal::kBalanced && results.has_logs())
    remarks.push_back(fmt::format("Balanced accuracy is overall accuracy here: every class {}has as many{}.",
                                  all_classes_tested(results) ? "" : "that has test images ",
                                  all_classes_tested(results) ? " test images" : ""));
  remark_on_statistics(summary, remarks);
  for (const FamilyOf& one : summary.families) {
    if (one.family.method == Method::kNone && one.series.size() > 1 && one.metric == Metric::kOverall)
      remarks.push_back(fmt::format("At {}: {}", one.condition.phrase(), one.family.limit));
  }
  remark_on_spread(summary, remarks);
  remark_on_sharing(summary, remarks);
  remark_on_missing_runs(results, summary, remarks);
  remark_on_links(summary, remarks);
  remark_on_single_seeds(results, summary, remarks);
  remark_on_check(summary, remarks);
  remark_on_selection(results, summary, remarks);
  return remarks;
}

}  // namespace longtail::report
