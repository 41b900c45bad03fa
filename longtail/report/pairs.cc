// Whether runs that are compared differ in more than their series: other images, weights, groups or engines.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <vector>

#include "longtail/base/text.h"
#include "longtail/report/results.h"
#include "longtail/train/config.h"

namespace longtail::report {
namespace {

// What runs that must share something have in common: those of our parameters that `decides` accepts, and all
// parameters that are not ours, since they may mean other images or another network to a user's own trainer.
std::string alike_in(const RunResult& run, const auto& decides) {
  std::string text;
  for (const auto& entry : train::run_params().entries()) {
    if (!decides(entry.info)) continue;
    const std::string value = detail::value_of(run, entry.info.name);
    text += (value.empty() ? entry.info.omitted : value) + ";";
  }
  for (const auto& [key, value] : run.config) {
    if (!train::run_params().find(key)) text += fmt::format("{}={};", key, value);
  }
  return text;
}

// What decides which weights a network can have: another head, width or shortcut cannot begin with the same
// weights.
std::string network_of(const RunResult& run) {
  return alike_in(run, [](const auto& info) { return info.section == "model" && info.name != "engine"; });
}

// What decides the pixels of the images.
std::string pixels_of(const RunResult& run) {
  return alike_in(run, [](const auto& info) {
    return info.name == "image_size" || info.name == "fit" || info.name == "skip_unreadable";
  });
}

// Within a seed and condition every run should start from the same images and weights.
void check_starts(const Results& results, std::vector<std::string>& warnings) {
  using Pairs = std::tuple<Condition, std::int64_t, std::string>;  // the last: what must be equal for it
  std::map<Pairs, const RunResult*> first;
  const auto check = [&](const RunResult& run, const std::string& alike, const char* what,
                         std::string train::Fingerprint::*member) {
    const auto [at, fresh] = first.emplace(Pairs(run.condition, run.seed, what + alike), &run);
    if (fresh || at->second->log->fingerprint.*member == run.log->fingerprint.*member) return;
    warnings.push_back(
        fmt::format("{}: {} than {} of the same seed {}; their difference is not only the strategy's.",
                    run.source, what, at->second->source, run.seed));
  };
  for (const RunResult& run : results.runs) {
    if (!run.log) continue;
    if (!run.log->fingerprint.data.empty())
      check(run, pixels_of(run), "other data", &train::Fingerprint::data);
    if (run.log->fingerprint.subset.empty()) continue;
    check(run, "", "another subset", &train::Fingerprint::subset);
    check(run, network_of(run), "other initial weights", &train::Fingerprint::init);
  }
}

void note_unproven(const Results& results, std::vector<std::string>& warnings) {
  const auto bare = std::count_if(results.runs.begin(), results.runs.end(), [](const RunResult& run) {
    return run.log && run.log->fingerprint.subset.empty();
  });
  if (bare == 0) return;
  warnings.push_back(fmt::format(
      "{} log{} no fingerprint (the paper's published form): that the runs of a seed had the same "
      "images and the same initial weights is taken on trust.",
      bare, bare == 1 ? " carries" : "s carry"));
}

// Series may be compared across different machines. The reader of a difference should know that, and whether
// the pairs of a seed span several engines.
void note_engines(const Results& results, std::vector<std::string>& warnings) {
  std::set<std::string> engines;
  std::map<std::pair<Condition, std::int64_t>, std::string> engine_of_seed;
  bool named = true;
  bool across = false;
  for (const RunResult& run : results.runs) {
    const std::string engine = detail::value_of(run, "engine");
    if (engine.empty()) continue;
    engines.insert(engine);
    const auto& first = engine_of_seed.try_emplace({run.condition, run.seed}, engine).first->second;
    across = across || first != engine;
    named = named && run.series.text().find("engine=" + engine) != std::string::npos;
  }
  if (engines.size() < 2 || named) return;
  warnings.push_back(fmt::format("The runs were trained on {} engines ({}), whose rounding differs; {}.",
                                 engines.size(),
                                 base::join(std::vector<std::string>(engines.begin(), engines.end()), ", "),
                                 across ? "pairs across them are not exact" : "no pair is across them"));
}

// In a condition the groups have one definition, but `auto` is resolved when a run is trained, and another
// version may have cut elsewhere.
void note_groups(const Results& results, std::vector<std::string>& warnings) {
  for (const Condition& condition : results.conditions) {
    std::map<std::vector<int>, std::vector<std::string>> sources;  // by group_sizes
    for (const RunResult& run : results.runs) {
      if (run.log && run.condition == condition) sources[run.log->group_sizes].push_back(run.source);
    }
    if (sources.size() < 2) continue;
    std::vector<std::string> cuts;
    cuts.reserve(sources.size());
    for (const auto& [sizes, logs] : sources) {
      cuts.push_back(fmt::format("{} in {}{}", fmt::join(sizes, ", "), logs[0],
                                 logs.size() > 1 ? fmt::format(" and {} more", logs.size() - 1) : ""));
    }
    warnings.push_back(fmt::format(
        "At {}, not all logs have their classes cut into the same groups (head, medium and tail: {}). Only "
        "overall and balanced accuracy can be compared between them.",
        condition.phrase(), base::join(cuts, "; ")));
  }
}

}  // namespace

void detail::check_pairs(const Results& results, std::vector<std::string>& warnings) {
  check_starts(results, warnings);
  note_groups(results, warnings);
  note_unproven(results, warnings);
  note_engines(results, warnings);
}

}  // namespace longtail::report
