// Which of our runs the paper has too: its findings are judged by these.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <type_traits>

#include "longtail/base/text.h"
#include "longtail/report/against.h"

namespace longtail::report {
namespace {

struct PaperRun {
  const RunResult* ours = nullptr;
  RunResult run{};  // under the paper's names
  std::string momentum{};

  std::tuple<Series, Condition, std::int64_t> place() const { return {run.series, run.condition, run.seed}; }
  std::string engine() const { return run.log ? run.log->fingerprint.engine : ""; }
  bool paper_groups() const { return !run.log || run.log->groups == "paper"; }
};

std::vector<PaperRun> runs_of_paper(const Results& results, const Results& paper) {
  std::vector<PaperRun> found;
  for (const RunResult& run : results.runs) {
    PaperRun one{.ours = &run, .run = run, .momentum = momentum_of(run)};
    one.run.series = Series(run.strategy);
    one.run.condition = Condition(run.rho);
    const bool published = std::any_of(paper.runs.begin(), paper.runs.end(), [&](const RunResult& theirs) {
      return theirs.series == one.run.series && theirs.condition == one.run.condition;
    });
    if (!published || !protocol_differences(protocol_of(run), paper_protocol()).empty()) continue;
    // Other groups than the paper's give other numbers.
    if (!one.paper_groups()) {
      for (Accuracies* all : {&one.run.best, one.run.last ? &*one.run.last : &one.run.best})
        for (Metric metric : {Metric::kHead, Metric::kMedium, Metric::kTail})
          (*all)[static_cast<std::size_t>(metric)] = kMissing;
    }
    found.push_back(std::move(one));
  }
  return found;
}

std::string with_momentum(const std::string& kind) {
  return kind == "plain"      ? "with plain momentum"
         : kind == "Nesterov" ? "with Nesterov's momentum"
                              : "whose momentum is not told";
}

// The momentum with the most of the paper's cells, then with the most runs; among equals plain, as in the
// published curves.
std::string main_momentum(const std::vector<PaperRun>& runs) {
  std::map<std::string, std::set<std::pair<Series, Condition>>> cells;
  std::map<std::string, std::set<std::tuple<Series, Condition, std::int64_t>>> places;
  for (const PaperRun& one : runs) {
    cells[one.momentum].emplace(one.run.series, one.run.condition);
    places[one.momentum].insert(one.place());
  }
  std::tuple<std::size_t, std::size_t, bool, std::string> best;
  for (const auto& [kind, own] : cells)
    best = std::max(best, {own.size(), places[kind].size(), kind == "plain", kind});
  return std::get<3>(best);
}

// Removes the runs of other momenta and says so.
void keep_one_momentum(std::vector<PaperRun>& runs, std::vector<std::string>& warnings) {
  const std::string kept = main_momentum(runs);
  std::map<std::string, int> others;
  std::erase_if(runs, [&](const PaperRun& one) {
    if (one.momentum == kept) return false;
    ++others[one.momentum];
    return true;
  });
  if (others.empty()) return;
  std::vector<std::string> words;
  words.reserve(others.size());
  for (const auto& [kind, count] : others) words.push_back(fmt::format("{} {}", count, with_momentum(kind)));
  warnings.push_back(
      fmt::format("Findings, pairs and what is missing go by the {} run{} {}: between runs of two momenta "
                  "the difference is not only the strategy's. In the tables of cells and curves only: {}.",
                  runs.size(), runs.size() == 1 ? "" : "s", with_momentum(kept), base::join(words, ", ")));
}

// Puts first the one to take of a run that was done twice (on two engines, for example): with the paper's
// groups, then on the engine of most runs of its seed. The order in which the logs were read does not matter.
void preferred_first(std::vector<PaperRun>& runs) {
  std::map<std::tuple<Condition, std::int64_t, std::string>, std::set<Series>> beside;
  for (const PaperRun& one : runs)
    beside[{one.run.condition, one.run.seed, one.engine()}].insert(one.run.series);
  const auto rank = [&](const PaperRun& one) {
    const auto company = beside.at({one.run.condition, one.run.seed, one.engine()}).size();
    return std::tuple(!one.paper_groups(), -static_cast<int>(company), one.engine(), one.ours->series,
                      one.ours->condition, one.run.seed);
  };
  std::stable_sort(runs.begin(), runs.end(),
                   [&](const PaperRun& a, const PaperRun& b) { return rank(a) < rank(b); });
}

}  // namespace

std::string momentum_of(const RunResult& run) {
  const auto found = run.config.find("nesterov");
  if (found == run.config.end()) return "not told";
  return found->second == "true" ? "Nesterov" : "plain";
}

Results comparable_with_paper(const Results& results) {
  const Results paper = paper_results();
  Results same;
  std::vector<PaperRun> runs = runs_of_paper(results, paper);
  keep_one_momentum(runs, same.warnings);
  preferred_first(runs);
  std::set<std::int64_t> seeds;
  std::set<std::tuple<Series, Condition, std::int64_t>> taken;
  std::vector<std::string> again;
  for (PaperRun& one : runs) {
    if (!taken.insert(one.place()).second) {
      again.push_back(fmt::format("{} at {}, seed {}", one.ours->series.title(), one.ours->condition.phrase(),
                                  one.ours->seed));
      continue;
    }
    seeds.insert(one.run.seed);
    same.runs.push_back(std::move(one.run));
  }
  if (!again.empty()) {
    same.warnings.push_back(
        fmt::format("Findings and pairs count a run of the paper once. Done again, and in the table of cells "
                    "only: {}.",
                    base::join(again, "; ")));
  }
  same.seeds.assign(seeds.begin(), seeds.end());
  const auto there = [&](const auto& wanted, auto RunResult::*name) {
    std::remove_cvref_t<decltype(wanted)> kept;
    for (const auto& one : wanted) {
      if (std::any_of(same.runs.begin(), same.runs.end(),
                      [&](const RunResult& run) { return run.*name == one; }))
        kept.push_back(one);
    }
    return kept;
  };
  same.series = there(paper.series, &RunResult::series);
  same.conditions = there(paper.conditions, &RunResult::condition);
  return same;
}

std::string missing_of_paper(const Results& same) {
  const Results paper = paper_results();
  std::size_t absent = 0;
  std::vector<std::string> parts;
  for (const Condition& condition : paper.conditions) {
    std::size_t here = 0;
    std::vector<std::string> cells;
    for (const Series& series : paper.series) {
      std::vector<std::string> seeds;  // the paper's: runs of other seeds are not among its 36
      for (std::int64_t seed : paper.seeds) {
        if (!same.find(series, condition, seed)) seeds.push_back(std::to_string(seed));
      }
      if (seeds.empty()) continue;
      here += seeds.size();
      cells.push_back(seeds.size() == paper.seeds.size()
                          ? series.title()
                          : fmt::format("{} (seed{} {})", series.title(), seeds.size() > 1 ? "s" : "",
                                        base::join(seeds, ", ")));
    }
    absent += here;
    if (here == 0) continue;
    const bool all = here == paper.series.size() * paper.seeds.size();
    parts.push_back(condition.phrase() + ": " + (all ? "all" : base::join(cells, ", ")));
  }
  if (parts.empty()) return "";
  return fmt::format("Of the paper's {} runs, {} {} missing here. {}.", paper.runs.size(), absent,
                     absent == 1 ? "is" : "are", base::join(parts, "; "));
}

}  // namespace longtail::report
