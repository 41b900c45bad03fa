#include "longtail/report/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "longtail/base/error.h"
#include "longtail/base/text.h"
#include "longtail/report/table.h"

namespace longtail::report {
namespace {

std::string pick_baseline(const Results& results, const std::string& wanted) {
  const auto has = [&](const std::string& name) {
    return std::find(results.series.begin(), results.series.end(), name) != results.series.end();
  };
  if (wanted.empty()) return has("uniform") ? "uniform" : results.plainest;
  if (has(wanted)) return wanted;
  base::fail<base::UsageError>("there is no series `{}` to compare with{}; there are: {}", wanted,
                               base::did_you_mean(wanted, results.series), base::join(results.series, ", "));
}

Comparison compare(const Results& results, const std::string& baseline, const std::string& series,
                   const std::string& condition, Metric metric, At at) {
  Comparison result{.series = series, .condition = condition, .metric = metric};
  for (std::int64_t seed : results.seeds) {
    const Run* ours = results.find(series, condition, seed);
    const Run* theirs = results.find(baseline, condition, seed);
    if (!ours || !theirs) continue;
    const double difference = accuracy(*ours, metric, at) - accuracy(*theirs, metric, at);
    if (!std::isfinite(difference)) continue;
    result.seeds.push_back(seed);
    result.differences.push_back(difference);
  }
  result.mean = mean(result.differences);
  result.agreement = sign_agreement(result.differences);
  if (result.pairs() >= kSeedsForTests) {
    result.p = sign_flip_p(result.differences);
    result.interval = bootstrap_interval(result.differences);
  }
  return result;
}

void correct(std::vector<Comparison>& comparisons) {
  std::vector<double> p_values;
  for (const Comparison& comparison : comparisons) {
    if (comparison.p) p_values.push_back(*comparison.p);
  }
  const std::vector<double> corrected = holm(p_values);
  std::size_t next = 0;
  for (Comparison& comparison : comparisons) {
    if (comparison.p) comparison.holm_p = corrected[next++];
  }
}

std::string p_text(double p) { return p < 0.0005 ? "p < 0.001" : fmt::format("p = {:.3f}", p); }

Finding finding_of(const Comparison& c, const std::string& baseline) {
  Finding finding{
      .established = c.established(), .condition = c.condition, .metric = c.metric, .series = c.series};
  const auto above =
      std::count_if(c.differences.begin(), c.differences.end(), [](double d) { return d > 0; });
  const auto below =
      std::count_if(c.differences.begin(), c.differences.end(), [](double d) { return d < 0; });
  const bool up = above == below ? c.mean >= 0 : above > below;
  const std::string where =
      fmt::format("{} accuracy at {}", metric_title(c.metric), condition_title(c.condition));
  const std::string who = series_title(c.series), whom = series_title(baseline);
  const std::string seeds = fmt::format("for {} of {} seed{}, {} points on average", c.agreement, c.pairs(),
                                        c.pairs() == 1 ? "" : "s", fixed(c.mean, 2, true));
  std::string tests;
  if (c.p) {
    tests = fmt::format(" (95% interval {} to {}; {}, {} after Holm's correction)",
                        fixed(c.interval->low, 2, true), fixed(c.interval->high, 2, true), p_text(*c.p),
                        p_text(*c.holm_p).substr(2));
  }
  if (finding.established) {
    finding.sentence =
        fmt::format("{}: {} is {} {} {}{}.", where, who, up ? "above" : "below", whom, seeds, tests);
  } else if (c.agreement == 0) {
    finding.sentence = fmt::format("{}: {} and {} do not differ in any of {} seed{}.", where, who, whom,
                                   c.pairs(), c.pairs() == 1 ? "" : "s");
  } else {
    const std::string reason = c.pairs() < 3 && c.unanimous() ? " (too few seeds)" : "";
    finding.sentence = fmt::format("{}: {} against {} is not established{}: {} {}{}.", where, who, whom,
                                   reason, up ? "above" : "below", seeds, tests);
  }
  return finding;
}

std::string all_of(const std::vector<std::string>& series) {
  std::vector<std::string> titles;
  for (const std::string& one : series) titles.push_back(series_title(one));
  const std::string last = titles.back();
  titles.pop_back();
  return titles.empty() ? last : base::join(titles, ", ") + " and " + last;
}

std::string lead_of(const Results& results, const std::string& condition, const SummaryOptions& options) {
  std::vector<std::string> parts;
  std::vector<std::string> first;
  for (Metric metric : {Metric::kOverall, Metric::kTail}) {
    const std::vector<std::string> best = leaders(results, condition, metric, options);
    if (best.empty()) continue;
    const Average top = average(results, best[0], condition, metric, options);
    const bool spread = top.seeds > 1 && best.size() == 1;
    const std::string value = fixed(top.mean, 1) + (spread ? " ± " + fixed(top.deviation, 1) : "");
    const std::string who = best == first ? ""
                                          : all_of(best) + (best.size() > 1 ? " share "
                                                            : first.empty() ? " has "
                                                                            : " ");
    parts.push_back(fmt::format("{}the highest mean {} accuracy ({})", who, metric_name(metric), value));
    if (first.empty()) first = best;
  }
  return fmt::format("At {}, {}.", condition_title(condition), base::join(parts, " and "));
}

void add_remarks(const Results& results, Summary& summary) {
  int most = 0, untested = 0;  // pairs: at most, and at most of those that are too few for a test
  for (const Comparison& c : summary.comparisons) {
    most = std::max(most, c.pairs());
    if (!c.p) untested = std::max(untested, c.pairs());
  }
  if (untested > 0) {
    summary.remarks.push_back(fmt::format(
        "No p-value is shown below {} seeds: the smallest that a sign-flip test on {} can give is {}, "
        "whatever the "
        "data. A difference counts as established there only if every seed agrees, of at least three.",
        kSeedsForTests, untested == 1 ? "1 pair" : fmt::format("{} pairs", untested),
        fixed(2 / std::exp2(untested), 2)));
  }
  if (most >= kSeedsForTests) {
    const auto tested = std::count_if(summary.comparisons.begin(), summary.comparisons.end(),
                                      [](const Comparison& c) { return c.p.has_value(); });
    summary.remarks.push_back(fmt::format(
        "p-values: two-sided sign-flip permutation test on the paired differences; corrected by Holm over "
        "the {} "
        "comparisons made; established means a corrected p below 0.05. Intervals: 95% percentile bootstrap.",
        tested));
  }
  std::vector<double> gaps;
  for (const std::string& condition : results.conditions) {
    for (const std::string& series : results.series) {
      const auto best = results.values(series, condition, Metric::kOverall, At::kBest);
      const auto last = results.values(series, condition, Metric::kOverall, At::kLast);
      if (!best.empty() && best.size() == last.size()) gaps.push_back(mean(best) - mean(last));
    }
  }
  if (!gaps.empty() && summary.options.at == At::kBest) {
    const auto [low, high] = std::minmax_element(gaps.begin(), gaps.end());
    bool on_test = false;
    for (const Run& run : results.runs) on_test = on_test || (run.log && run.log->selected_on == "test");
    summary.remarks.push_back(fmt::format(
        "Results are those of the best epoch, chosen on {}. It is {} points of overall accuracy "
        "above the last epoch{}{}.",
        on_test ? "the test images" : "held-out images", fixed(mean(gaps), 2),
        gaps.size() == 1 ? ""
                         : fmt::format(" on average ({} to {} by cell)", fixed(*low, 2), fixed(*high, 2)),
        on_test ? ": that much the choice may flatter" : ""));
  }
}

}  // namespace

bool Comparison::established() const {
  if (holm_p) return *holm_p < 0.05;
  return pairs() >= 3 && unanimous();
}

std::vector<std::string> leaders(const Results& results, const std::string& condition, Metric metric,
                                 const SummaryOptions& options) {
  std::vector<std::string> best;
  double top = -1;
  for (const std::string& series : results.series) {
    const Average candidate = average(results, series, condition, metric, options);
    if (candidate.seeds == 0 || candidate.mean < top) continue;
    if (candidate.mean > top) best.clear();
    top = candidate.mean;
    best.push_back(series);
  }
  return best;
}

Average average(const Results& results, const std::string& series, const std::string& condition,
                Metric metric, const SummaryOptions& options) {
  const std::vector<double> values = results.values(series, condition, metric, options.at);
  return {mean(values), deviation(values, options.deviation), static_cast<int>(values.size())};
}

Summary summarise(const Results& results, const SummaryOptions& options) {
  Summary summary;
  summary.options = options;
  summary.baseline = pick_baseline(results, options.baseline);
  for (const std::string& condition : results.conditions) {
    for (const std::string& series : results.series) {
      if (series == summary.baseline) continue;
      for (Metric metric : kMetrics) {
        Comparison c = compare(results, summary.baseline, series, condition, metric, options.at);
        if (c.pairs() > 0) summary.comparisons.push_back(std::move(c));
      }
    }
  }
  correct(summary.comparisons);
  for (const Comparison& c : summary.comparisons) summary.findings.push_back(finding_of(c, summary.baseline));
  if (results.series.size() > 1) {
    for (auto condition = results.conditions.rbegin(); condition != results.conditions.rend(); ++condition) {
      summary.leads.push_back(lead_of(results, *condition, options));
    }
  }
  add_remarks(results, summary);
  return summary;
}

const Comparison* find_comparison(const Summary& summary, const std::string& series,
                                  const std::string& condition, Metric metric) {
  for (const Comparison& c : summary.comparisons) {
    if (c.series == series && c.condition == condition && c.metric == metric) return &c;
  }
  return nullptr;
}

}  // namespace longtail::report
