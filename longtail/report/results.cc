#include "longtail/report/results.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

#include "longtail/base/error.h"
#include "longtail/base/file.h"
#include "longtail/base/text.h"
#include "longtail/report/race.h"
#include "longtail/sampling/shown.h"
#include "longtail/study/record.h"
#include "longtail/train/config.h"

namespace longtail::report {
namespace {

namespace fs = std::filesystem;

// Parameters that say where, how or how long a run was watched, but not what was trained.
const std::set<std::string, std::less<>> kIgnored = {
    "strategy", "seed",        "rho",       "epochs",      "threads",    "data",
    "data_dir", "keep_epochs", "engine",    "num_workers", "strategies", "imbalance_ratios",
    "seeds",    "save_dir",    "figure_dir"};
// Parameters of the data: they make another condition, not another series.
const std::set<std::string, std::less<>> kOfData = {"dataset",     "profile",     "n_max",
                                                    "counts_file", "class_order", "groups"};
// The names that the paper's logs use for ours.
const std::map<std::string, std::string, std::less<>> kAliases = {
    {"lr_milestones", "milestones"}, {"lr_gamma", "lr_decay"}, {"grad_clip", "clip"}};

Accuracies accuracies(const train::FullResult& result) {
  const train::EpochResult& one = result.accuracy;
  return {one.overall, one.head, one.medium, one.tail, result.balanced};
}

RunResult run_of(const fs::path& path, bool unfinished) {
  auto log = std::make_shared<train::RunLog>(train::read_log(path));
  if (log->schema > train::kLogSchema) {
    base::fail("has schema {}, this program reads up to {}; a newer longtail wrote it", log->schema,
               train::kLogSchema);
  }
  if (log->epochs() == 0) base::fail("holds no epoch");
  RunResult run;
  run.source = path.string();
  run.strategy = log->strategy;
  run.rho = log->rho;
  run.seed = log->seed;
  run.best = accuracies(log->best);
  run.last = accuracies(log->last);
  for (const auto& [key, value] : log->config) {
    const auto alias = kAliases.find(key);
    run.config[alias == kAliases.end() ? key : alias->second] = value;
  }
  if (!log->dataset.empty()) run.config["dataset"] = log->dataset;
  run.config["groups"] = log->groups;
  for (const Accuracies& all : {run.best, *run.last}) {
    for (const double value : all) {
      if (value < 0 || value > 100) base::fail("has an accuracy of {}, which is not a percentage", value);
    }
  }
  const auto asked = run.config.find("epochs");
  const auto wanted = asked == run.config.end() ? std::nullopt : base::parse_integer(asked->second);
  run.under_way = (wanted && *wanted > log->trained_epochs()) || (!log->finished && log->schema > 0);
  if (run.under_way && !unfinished) {
    base::fail("is not finished{}", wanted ? fmt::format(": {} of {} epochs", log->epochs(), *wanted) : "");
  }
  run.log = std::move(log);
  return run;
}

// The folders under runs/ of a study that are left out, by the record of the study: those that no longer
// belong to it, and those whose log is not the recorded one.
std::set<std::string> not_of_study(const fs::path& folder, std::vector<std::string>& warnings) {
  std::set<std::string> out;
  if (!fs::exists(folder / "study.json")) return out;
  try {
    const std::vector<std::string> runs = study::recorded_runs(folder);
    for (const std::string& name : runs) {
      const auto wrong = [&]() -> std::optional<std::string> {
        try {
          return study::damage(study::run_folder(folder, name));
        } catch (const base::Error& error) {
          return error.what();
        }
      }();
      if (!wrong) continue;
      out.insert(name);
      warnings.push_back(fmt::format("{}: {}; left out.", name, *wrong));
    }
    const std::vector<std::string> old = study::strangers(folder, runs);
    out.insert(old.begin(), old.end());
    if (!old.empty()) {
      warnings.push_back(fmt::format("{}: {} run{} left from an earlier form of the study ({}{}); left out.",
                                     folder.string(), old.size(), old.size() == 1 ? " is" : "s are", old[0],
                                     old.size() > 1 ? ", ..." : ""));
    }
  } catch (const base::Error& error) {
    warnings.push_back(
        fmt::format("{}; every log in {} is taken.", error.what(), (folder / "runs").string()));
  }
  return out;
}

// The logs under a folder, in order of their names.
std::vector<fs::path> logs_in(const fs::path& folder, std::vector<std::string>& warnings) {
  std::vector<fs::path> found, waiting;
  const bool study = fs::is_directory(folder / "runs");
  const std::set<std::string> out = study ? not_of_study(folder, warnings) : std::set<std::string>{};
  for (const auto& entry : fs::directory_iterator(study ? folder / "runs" : folder)) {
    if (study && out.contains(entry.path().filename().string())) continue;
    if (study && entry.is_directory()) {
      if (fs::exists(entry.path() / "log.json")) {
        found.push_back(entry.path() / "log.json");
      } else {
        waiting.push_back(entry.path().filename());
      }
    } else if (!study && entry.is_regular_file() && entry.path().extension() == ".json" &&
               entry.path().filename() != "timings.json" && entry.path().filename() != kRaceFile) {
      found.push_back(entry.path());
    } else if (!study && entry.is_directory() && fs::exists(entry.path() / "log.json")) {
      found.push_back(entry.path() / "log.json");
    }
  }
  std::sort(found.begin(), found.end());
  std::sort(waiting.begin(), waiting.end());
  if (!waiting.empty()) {
    std::string names;
    for (std::size_t i = 0; i < std::min<std::size_t>(waiting.size(), 3); ++i)
      names += (i ? ", " : "") + waiting[i].string();
    if (waiting.size() > 3) names += fmt::format(" and {} more", waiting.size() - 3);
    warnings.push_back(fmt::format("{}: {} of {} runs {} no log yet ({}); left out.", folder.string(),
                                   waiting.size(), waiting.size() + found.size(),
                                   waiting.size() == 1 ? "has" : "have", names));
  }
  return found;
}

// Keys whose value differs between runs. A run without a key does not count for that key, unless it is one
// that our own logs leave out at its default.
std::set<std::string> varying(const std::vector<RunResult>& runs) {
  std::map<std::string, std::set<std::string>> seen;
  for (const RunResult& run : runs) {
    for (const auto& [key, value] : run.config) {
      if (!kIgnored.contains(key)) seen[key].insert(value);
    }
  }
  std::set<std::string> keys;
  for (auto& [key, values] : seen) {
    const auto* entry = train::run_params().find(key);
    const bool left_out = entry && !entry->info.omitted.empty();
    for (const RunResult& run : runs) {
      if (left_out && run.log && run.log->schema > 0 && !run.config.contains(key))
        values.insert(entry->info.omitted);
    }
    if (values.size() > 1) keys.insert(key);
  }
  return keys;
}

// Whether the run has another value for a parameter than the default of the program.
bool departs(const RunResult& run, const std::string& key) {
  const auto* entry = train::run_params().find(key);
  const std::string value = detail::value_of(run, key);
  return entry && !kOfData.contains(key) && !value.empty() && value != entry->info.initial;
}

// Of the series of the first strategy, the one with the fewest departures from the defaults; if several, the
// one with the most runs. The others are departures from it.
Series plainest_of(const std::vector<Series>& series, const std::vector<RunResult>& runs,
                   const std::set<std::string>& keys) {
  std::map<Series, std::ptrdiff_t> departures, fewer_runs;
  for (const RunResult& run : runs) {
    departures[run.series] =
        std::count_if(keys.begin(), keys.end(), [&](const std::string& key) { return departs(run, key); });
    --fewer_runs[run.series];
  }
  const auto plainest = std::min_element(series.begin(), series.end(), [&](const auto& a, const auto& b) {
    return std::tuple(sampling::strategy_place(a.strategy()), departures[a], fewer_runs[a]) <
           std::tuple(sampling::strategy_place(b.strategy()), departures[b], fewer_runs[b]);
  });
  return plainest == series.end() ? Series() : *plainest;
}

void name_run(RunResult& run, const std::set<std::string>& keys) {
  std::map<std::string, std::string> beside;
  std::vector<std::string> data;
  for (const std::string& key : keys) {
    const std::string value = detail::value_of(run, key);
    if (value.empty() || train::goes_without_saying(key, value)) continue;
    if (kOfData.contains(key)) {
      data.push_back(key == "dataset" ? value : fmt::format("{}={}", key, value));
    } else {
      beside[key] = value;
    }
  }
  // A CSV has named its series and its data already.
  if (run.log) run.series = Series(run.strategy, beside_strategy(beside));
  run.condition = Condition(run.log ? base::join(data, ", ") : run.condition.data(), run.rho);
}

using Place = std::tuple<Series, Condition, std::int64_t>;
Place place(const RunResult& run) { return {run.series, run.condition, run.seed}; }

// The series with a run that was done on two engines: only these are told apart by the engine. A study spread
// over different machines stays one.
std::set<Series> on_two_engines(const std::vector<RunResult>& runs) {
  std::map<Place, std::string> seen;
  std::set<Series> found;
  for (const RunResult& run : runs) {
    const auto [at, fresh] = seen.emplace(place(run), detail::value_of(run, "engine"));
    if (!fresh && at->second != detail::value_of(run, "engine")) found.insert(run.series);
  }
  return found;
}

void drop_odd_epochs(std::vector<RunResult>& runs, const ReadOptions& options,
                     std::vector<std::string>& warnings) {
  std::map<int, int> counts;
  for (const RunResult& run : runs) {
    if (run.log && !run.under_way) ++counts[run.log->trained_epochs()];
  }
  if (counts.empty() && options.epochs.value_or(0) > 0)
    warnings.push_back("--epochs is ignored: results without logs do not say how long they trained.");
  if (counts.empty() || options.epochs == 0 || (counts.size() == 1 && !options.epochs)) return;
  const int common = std::max_element(counts.begin(), counts.end(), [](auto& a, auto& b) {
                       return std::pair(a.second, a.first) < std::pair(b.second, b.first);
                     })->first;
  const int wanted = options.epochs.value_or(common);
  if (!counts.contains(wanted)) {
    std::vector<std::string> there;
    there.reserve(counts.size());
    for (const auto& [epochs, count] : counts) there.push_back(std::to_string(epochs));
    base::fail<base::UsageError>("no run has {} epochs; there are runs of {}", wanted,
                                 base::join(there, ", "));
  }
  std::erase_if(runs, [&](const RunResult& run) {
    if (!run.log || run.under_way || run.log->trained_epochs() == wanted) return false;
    warnings.push_back(fmt::format(
        "{}: trained for {} epochs where {} {}; left out (--epochs {} reports those, --epochs "
        "all each as its own row).",
        run.source, run.log->trained_epochs(), options.epochs ? "--epochs asks for" : "most trained for",
        wanted, run.log->trained_epochs()));
    return true;
  });
}

void drop_duplicates(std::vector<RunResult>& runs, std::vector<std::string>& warnings) {
  std::map<Place, std::size_t> kept;
  std::vector<RunResult> unique;
  for (RunResult& run : runs) {
    const auto [at, fresh] = kept.emplace(place(run), unique.size());
    if (fresh) {
      unique.push_back(std::move(run));
      continue;
    }
    const RunResult& first = unique[at->second];
    warnings.push_back(
        fmt::format("{}: the same run as {} ({}, seed {}) with {} result; left out.", run.source,
                    first.source, run.series.text(), run.seed,
                    accuracy(first, Metric::kOverall, At::kBest) == accuracy(run, Metric::kOverall, At::kBest)
                        ? "the same"
                        : "another"));
  }
  runs = std::move(unique);
}

// One warning per series, or one for all series that lack the same seeds if there are many.
void note_missing(const Results& results, std::vector<std::string>& warnings) {
  constexpr std::size_t kMany = 4;
  for (const Condition& condition : results.conditions) {
    std::map<std::vector<std::string>, std::vector<std::string>> lacking;  // seeds -> series
    std::vector<std::vector<std::string>> order;
    for (const Series& series : results.series) {
      std::vector<std::string> missing;
      for (std::int64_t seed : results.seeds) {
        if (!results.find(series, condition, seed)) missing.push_back(std::to_string(seed));
      }
      if (missing.empty()) continue;
      if (lacking[missing].empty()) order.push_back(missing);
      lacking[missing].push_back(series.title());
    }
    for (const std::vector<std::string>& missing : order) {
      const std::vector<std::string>& who = lacking[missing];
      const std::string what =
          missing.size() == results.seeds.size()
              ? "no run"
              : fmt::format("seed{} {} missing", missing.size() > 1 ? "s" : "", base::join(missing, ", "));
      if (who.size() < kMany) {
        for (const std::string& one : who)
          warnings.push_back(fmt::format("{} at {}: {}.", one, condition.phrase(), what));
      } else {
        warnings.push_back(fmt::format("{} of {} series at {}: {} ({}, {} and {} others).", who.size(),
                                       results.series.size(), condition.phrase(), what, who[0], who[1],
                                       who.size() - 2));
      }
    }
  }
}

}  // namespace

std::string detail::value_of(const RunResult& run, const std::string& key) {
  if (key == "engine") return run.log ? run.log->fingerprint.engine : "";
  if (key == "epochs") return run.log ? std::to_string(run.log->trained_epochs()) : "";
  const auto found = run.config.find(key);
  return found == run.config.end() ? "" : found->second;
}

std::string beside_strategy(const std::map<std::string, std::string>& settings) {
  constexpr std::string_view kCropFlip = "crop_flip+";
  std::vector<std::string> parts;
  for (const auto& [key, value] : settings) {
    if (train::goes_without_saying(key, value)) continue;
    // What comes after the default augmentation is known by its own name.
    parts.push_back(key == "augment" && value.starts_with(kCropFlip) ? value.substr(kCropFlip.size())
                                                                     : fmt::format("{}={}", key, value));
  }
  return base::join(parts, ", ");
}

Results detail::arrange(std::vector<RunResult> runs, std::vector<std::string> warnings,
                        const ReadOptions& options) {
  drop_odd_epochs(runs, options, warnings);
  std::set<std::string> keys = varying(runs);
  if (options.epochs == 0) keys.insert("epochs");
  for (RunResult& run : runs) name_run(run, keys);
  if (const std::set<Series> twice = on_two_engines(runs); !twice.empty()) {
    keys.insert("engine");
    for (RunResult& run : runs) {
      if (twice.contains(run.series)) name_run(run, keys);
    }
  }
  drop_duplicates(runs, warnings);

  Results results;
  std::set<Series> series;
  std::set<Condition> conditions;
  std::set<std::int64_t> seeds;
  for (const RunResult& run : runs) {
    series.insert(run.series);
    conditions.insert(run.condition);
    seeds.insert(run.seed);
  }
  results.series.assign(series.begin(), series.end());
  std::stable_sort(results.series.begin(), results.series.end(), [](const auto& a, const auto& b) {
    return sampling::strategy_place(a.strategy()) < sampling::strategy_place(b.strategy());
  });
  call_by_name(results.series, options.names, warnings);
  for (RunResult& run : runs)
    run.series = *std::find(results.series.begin(), results.series.end(), run.series);
  results.plainest = plainest_of(results.series, runs, keys);
  results.conditions.assign(conditions.begin(), conditions.end());
  give_slugs(results.conditions);
  results.seeds.assign(seeds.begin(), seeds.end());
  results.select = options.select;
  results.varying.assign(keys.begin(), keys.end());
  results.runs = std::move(runs);
  for (const Condition& condition : results.conditions)
    results.trainings[condition] = detail::trainings_in(results, condition);
  detail::check_pairs(results, warnings);
  note_missing(results, warnings);
  for (std::string& warning : warnings)
    warning = base::to_utf8(warning);  // may quote a file that is not text
  results.warnings = std::move(warnings);
  return results;
}

Results read_results(std::span<const fs::path> paths, const ReadOptions& options) {
  std::vector<RunResult> runs;
  std::vector<std::string> warnings;
  const auto add_log = [&](const fs::path& path) {
    try {
      runs.push_back(run_of(path, options.unfinished));
      detail::select_epoch(runs.back(), options.select, warnings);
    } catch (const base::Error& error) {
      const std::string why = error.what();
      const bool named = why.find(path.string()) != std::string::npos;
      warnings.push_back((named ? why : path.string() + ": " + why) + "; left out.");
    }
  };
  for (const fs::path& path : paths) {
    if (fs::is_directory(path)) {
      for (const fs::path& log : logs_in(path, warnings)) add_log(log);
    } else if (path.extension() == ".csv") {
      for (RunResult& run : read_csv(base::read_text(path), path.string(), warnings))
        runs.push_back(std::move(run));
    } else {
      add_log(path);
    }
  }
  if (runs.empty() && paths.size() == 1 && warnings.size() == 1 && !fs::is_directory(paths[0])) {
    base::fail("{}",
               warnings[0].substr(0, warnings[0].rfind("; left out.")));  // one log, and it is the problem
  }
  if (runs.empty()) {
    std::string why;
    for (const std::string& warning : warnings) why += "\n  " + warning;
    base::fail("no run to report in {}; give a study folder, a folder of logs, logs or a CSV of results{}",
               paths.empty() ? "nothing" : paths[0].string(), why);
  }
  return detail::arrange(std::move(runs), std::move(warnings), options);
}

}  // namespace longtail::report
