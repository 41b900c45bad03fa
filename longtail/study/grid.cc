#include "longtail/study/grid.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <set>

#include "longtail/base/error.h"
#include "longtail/base/text.h"
#include "longtail/sampling/strategy.h"
#include "longtail/train/beginning.h"
#include "longtail/train/rebalance_method.h"

namespace longtail::study {
namespace {

using base::fail;
using base::UsageError;

constexpr std::size_t kMostRuns = 100'000;
// A file system takes 255 bytes, and `study collect` writes NAME.predictions under a temporary name first.
constexpr std::size_t kLongestName = 230;

// Keeps letters, digits and a few harmless characters: safe in any file system and any shell.
std::string safe(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) || c == '.' || c == '_' || c == '+') {
      result += c;
    } else if (c == ':' || c == ',' || c == '-' || c == '/') {
      result += '-';
    }
  }
  return result;
}

std::string value_of(const train::RunConfig& config, const std::string& key) {
  return train::run_params().find(key)->get(config);
}

// The value as it appears in the name of a run: of a path only the file name.
std::string said_in_name(const train::RunConfig& config, const std::string& key) {
  const std::string value = value_of(config, key);
  return safe(train::names_file(key, value) ? std::filesystem::path(value).filename().string() : value);
}

void apply(train::RunConfig& config, const Setting& setting, const std::string& value) {
  try {
    if (setting.of_trainer) return;
    if (!setting.of_strategy) {
      train::run_params().set(config, setting.key, value);
    } else if (strategy_takes(config.strategy, setting.key)) {
      // "progressive" and gamma = 2 make "progressive:gamma=2".
      config.strategy +=
          (config.strategy.find(':') == std::string::npos ? ":" : ",") + setting.key + "=" + value;
      sampling::make_strategy(config.strategy);
    }
  } catch (const UsageError&) {
    throw;
  } catch (const base::Error& error) {
    fail<UsageError>("{}: {}", setting.where, error.what());
  }
}

std::string single_value(const StudyFile& study, const char* key, const std::string& otherwise) {
  const Setting* setting = study.find(key);
  return setting ? setting->values[0] : otherwise;
}

// The resolved profile, if all runs of the study share one.
std::optional<data::SubsetConfig> common_profile(const StudyFile& study) {
  for (const char* key : {"profile", "dataset"}) {
    if (const Setting* setting = study.find(key); setting && setting->axis()) return std::nullopt;
  }
  return data::decided({.profile = single_value(study, "profile", data::SubsetConfig{}.profile)},
                       single_value(study, "dataset", train::RunConfig{}.dataset));
}

// Refuses a setting of how classes are cut (`rho`, `n_max`, `class_order`) that has no effect in any run.
void refuse_idle_cut(const StudyFile& study, const Setting& setting) {
  auto profile = common_profile(study);
  if (!profile || data::takes_ratio(*profile)) return;
  if (setting.axis()) {
    fail<UsageError>("{}: `{}` has {} values, but the profile `{}` takes none", setting.where, setting.key,
                     setting.values.size(), profile->profile);
  }
  try {
    data::subset_params().set(*profile, setting.key, setting.values[0]);
    data::refuse_idle_cut(*profile, single_value(study, "dataset", train::RunConfig{}.dataset),
                          setting.key == "rho");
  } catch (const UsageError& error) {
    fail<UsageError>("{}: {}", setting.where, error.what());
  }
}

void refuse_idle_parameters(const StudyFile& study) {
  std::vector<std::string> strategies = {train::RunConfig{}.strategy};
  const Setting* chosen = study.find("strategy");
  if (chosen) strategies = chosen->values;
  for (const Setting& setting : study.settings) {
    if (setting.key == "rho" || setting.key == "n_max" || setting.key == "class_order")
      refuse_idle_cut(study, setting);
    if (!setting.of_strategy) continue;
    if (chosen && std::find(chosen->said.begin(), chosen->said.end(), setting.key) != chosen->said.end()) {
      fail<UsageError>("{}: `{}` is given twice: here, and in `strategy` at {}", setting.where, setting.key,
                       chosen->where);
    }
    const bool used = std::any_of(strategies.begin(), strategies.end(),
                                  [&](const std::string& s) { return strategy_takes(s, setting.key); });
    if (!used) {
      fail<UsageError>("{}: no strategy of this study ({}) takes `{}`", setting.where,
                       base::join(strategies, ", "), setting.key);
    }
  }
}

std::size_t combinations(const StudyFile& study) {
  std::size_t count = 1;
  for (const Setting& setting : study.settings) {
    count *= setting.values.size();
    if (count > kMostRuns) {
      fail<UsageError>("{}: the grid has more than {} runs", setting.where, base::with_commas(kMostRuns));
    }
  }
  return count;
}

// The configuration of one combination: `index` counts through the axes, the last one fastest. Parameters of
// strategies are applied last, when the strategy is known.
struct Combination {
  train::RunConfig config;
  std::map<std::string, std::string> params;  // of the trainer
  std::vector<std::size_t> place;             // for each setting, the index of its value
};
Combination combination(const StudyFile& study, std::size_t index, const std::string& engine) {
  Combination result;
  train::RunConfig& config = result.config;
  std::vector<std::pair<const Setting*, const std::string*>> choice;
  for (auto setting = study.settings.rbegin(); setting != study.settings.rend(); ++setting) {
    result.place.insert(result.place.begin(), index % setting->values.size());
    const std::string& value = setting->values[result.place.front()];
    choice.emplace_back(&*setting, &value);
    if (setting->of_trainer) result.params[setting->key] = value;
    index /= setting->values.size();
  }
  for (const bool of_strategy : {false, true}) {
    for (const auto& [setting, value] : choice) {
      if (setting->of_strategy == of_strategy) apply(config, *setting, *value);
    }
  }
  if (config.engine == "auto" && !study.trainer) config.engine = engine;
  return result;
}

// Calls `make`. If it refuses the combination, the error gets the line of the parameter that it names.
template <class Make>
PlannedRun named_line(const StudyFile& study, const Make& make) {
  try {
    return make();
  } catch (const UsageError& error) {
    const std::string_view why = error.what();
    for (const Setting& setting : study.settings) {
      if (why.starts_with("`" + setting.key + "`")) fail<UsageError>("{}: {}", setting.where, why);
    }
    throw;
  }
}

// The name of a run: `words`, seed and hash. Words that are too long are cut: the hash tells the runs apart.
std::string full_name(const std::string& words, const PlannedRun& run) {
  const std::string end = fmt::format("-seed{}-{}", run.config.seed, run.hash.substr(0, kHashDigits));
  return words.substr(0, kLongestName - end.size()) + end;
}

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    if (c == '\n') {
      result += "\\n";
    } else {
      result += c;
    }
  }
  return result + "\"";
}

std::string toml_value(const std::string& type, const std::string& text) {
  if (type == "text") return quoted(text);
  if (type == "integers") return "[" + text + "]";
  return text;
}

std::string toml_values(const std::string& type, const std::vector<std::string>& values) {
  std::vector<std::string> parts;
  parts.reserve(values.size());
  for (const std::string& value : values) parts.push_back(toml_value(type, value));
  return parts.size() == 1 ? parts[0] : "[" + base::join(parts, ", ") + "]";
}

// The type of a strategy's parameter is not looked up: what is not a number is text, and is read back as
// text.
std::string setting_toml(const Setting& setting) {
  const auto* entry = train::run_params().find(setting.key);
  const bool numbers =
      std::all_of(setting.values.begin(), setting.values.end(),
                  [](const std::string& value) { return base::parse_real(value).has_value(); });
  const std::string type = entry ? entry->info.type : numbers ? "real" : "text";
  return fmt::format("{} = {}\n", setting.key, toml_values(type, setting.values));
}

// The JSON values that trainers may have are valid TOML too.
std::string param_toml(const Setting& setting) {
  const std::string values = base::join(setting.values, ", ");
  return fmt::format("{} = {}\n", quoted(setting.key), setting.axis() ? "[" + values + "]" : values);
}

// The settings of a case. If the command line replaced them all, the case equals the grid. It must set
// something, so it repeats the seed, which changes neither a run nor its name.
std::string case_toml(const StudyFile& study, const std::vector<Setting>& settings) {
  std::string text = "\n[[case]]\n";
  for (const Setting& setting : settings) text += setting_toml(setting);
  if (!settings.empty()) return text;
  const Setting* seed = study.find("seed");
  return text + (seed ? setting_toml(*seed)
                      : fmt::format("seed = {}\n", train::run_params().find("seed")->info.initial));
}

std::string trainer_toml(const StudyFile& study) {
  std::vector<std::string> words;
  for (const std::string& word : study.trainer->command) words.push_back(quoted(word));
  std::string text = "\n[trainer]\ncommand = [" + base::join(words, ", ") + "]\n";
  if (study.trainer->seconds > 0) text += fmt::format("time_limit = \"{}s\"\n", study.trainer->seconds);
  text += fmt::format("retries = {}\n\n[trainer.params]\n", study.trainer->retries);
  for (const Setting& setting : study.settings) {
    if (setting.of_trainer && !setting.axis()) text += param_toml(setting);
  }
  return text;
}

// The axes in their order: the first varies slowest.
std::string grid_toml(const StudyFile& study) {
  std::string text = "\n[grid]\n";
  for (const Setting& setting : study.settings) {
    if (setting.of_trainer) {
      if (setting.axis()) text += "params." + param_toml(setting);
    } else if (setting.axis() || setting.of_strategy) {
      text += setting_toml(setting);
    }
  }
  return text;
}

}  // namespace

PlannedRun make_run(const train::RunConfig& config, const std::vector<std::string>& also) {
  PlannedRun run;
  run.config = train::resolved(config);
  run.hash = train::config_hash(run.config);
  std::string name = safe(run.config.strategy) + "-";
  name += data::takes_ratio(run.config.subset) ? "rho" + safe(value_of(run.config, "rho"))
                                               : run.config.subset.profile;
  for (const std::string& key : also) {
    const bool said = key == "strategy" || key == "rho" || key == "seed" ||
                      (key == "profile" && !data::takes_ratio(run.config.subset));
    if (!said) name += "-" + key + said_in_name(run.config, key);
  }
  run.name = full_name(name, run);
  return run;
}

std::string run_hash(const PlannedRun& run) {
  return run.trainer ? trainer_hash(run) : train::config_hash(run.config);
}

namespace {

// Makes the run one of the trainer: without an engine, and with the varying params in its name.
void hand_over(const StudyFile& study, const std::map<std::string, std::string>& params, PlannedRun& run) {
  run.trainer = study.trainer;
  run.trainer->params = params;
  run.config.engine = train::RunConfig{}.engine;
  run.hash = trainer_hash(run);
  std::string also;
  for (const Setting& setting : study.settings) {
    if (setting.of_trainer && setting.axis()) also += "-" + safe(setting.key + params.at(setting.key));
  }
  const auto seed = run.name.rfind("-seed");
  run.name = full_name(run.name.substr(0, seed) + also, run);
}

}  // namespace

std::string parent_hash(const PlannedRun& run) {
  if (run.config.rebalance == train::kNoRebalance) return "";
  train::RunConfig trained = run.config;
  trained.rebalance = train::kNoRebalance;
  return train::config_hash(trained);
}

std::vector<std::optional<std::size_t>> parents_of(std::span<const PlannedRun> runs) {
  std::map<std::string, std::size_t> places;
  for (std::size_t i = 0; i < runs.size(); ++i) places[runs[i].hash] = i;
  std::vector<std::optional<std::size_t>> parents;
  for (const PlannedRun& run : runs) {
    auto parent = places.end();
    try {
      parent = places.find(parent_hash(run));
    } catch (const base::StorageError&) {  // a file of the run is missing here; read-only commands still work
    }
    parents.push_back(parent == places.end() ? std::nullopt : std::optional(parent->second));
  }
  return parents;
}

std::vector<std::optional<Beginning>> beginnings_of(std::span<const PlannedRun> runs) {
  std::vector<std::optional<Beginning>> result(runs.size());
  std::map<std::string, std::vector<std::size_t>> related;  // only runs in the same list are compared
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const train::RunConfig& config = runs[i].config;
    if (runs[i].trainer || config.rebalance != train::kNoRebalance) continue;
    std::string part;
    try {
      part = train::common_part(config);
    } catch (const base::StorageError&) {  // a file of the run is missing here, as in parents_of
      continue;
    }
    std::vector<std::size_t>& before = related[part];
    for (const std::size_t other : before) {
      const int epochs = train::alike_epochs(config, runs[other].config);
      if (epochs >= config.epochs || train::keeps_before(config, epochs)) continue;
      if (epochs > (result[i] ? result[i]->epochs : 0)) result[i] = {other, epochs};
    }
    before.push_back(i);
  }
  return result;
}

namespace {

// Where the study sets a key: "paper.toml:12: ", or nothing.
std::string line_of(const StudyFile& study, std::string_view key) {
  std::vector<std::vector<Setting>> all = study.cases;
  all.push_back(study.settings);
  for (const std::vector<Setting>& settings : all) {
    for (const Setting& setting : settings) {
      if (setting.key == key) return setting.where + ": ";
    }
  }
  return "";
}

// The trained run behind each rebalanced run must be in the study, so that it is trained once and in plain
// sight.
void check_parents(const StudyFile& study, const std::vector<PlannedRun>& runs,
                   const std::set<std::string>& hashes) {
  for (const PlannedRun& run : runs) {
    const std::string parent = parent_hash(run);
    if (parent.empty()) continue;
    if (study.trainer) {
      fail<UsageError>(
          "{}`rebalance` is `{}`, but the runs are done by a trainer, whose network only it knows",
          line_of(study, "rebalance"), run.config.rebalance);
    }
    if (!hashes.contains(parent)) {
      fail<UsageError>(
          "{0}`rebalance` has `{1}`, but the run that it starts from is no run of the study; write "
          "rebalance = [\"none\", \"{1}\"]",
          line_of(study, "rebalance"), run.config.rebalance);
    }
  }
}

// A run and its place in the grid, whose first axis varies slowest.
struct PlacedRun {
  std::vector<std::size_t> place;
  PlannedRun run;
};

// Adds the new runs of a study without cases. `grid` is the study of which it is a case.
void add_runs(const StudyFile& grid, const StudyFile& study, const std::string& engine,
              std::set<std::string>& seen, std::vector<PlacedRun>& runs,
              const std::vector<std::string>& also) {
  refuse_idle_parameters(study);
  std::vector<std::string> axes = also;
  for (const Setting& setting : study.settings) {
    const bool named = std::find(also.begin(), also.end(), setting.key) != also.end();
    if (setting.axis() && !setting.of_strategy && !setting.of_trainer && !named) axes.push_back(setting.key);
  }
  const std::size_t count = combinations(study);
  for (std::size_t index = 0; index < count; ++index) {
    const Combination chosen = combination(study, index, engine);
    PlannedRun run = named_line(study, [&] { return make_run(chosen.config, axes); });
    if (study.trainer) hand_over(study, chosen.params, run);
    std::vector<std::size_t> place = chosen.place;
    place.resize(grid.settings.size());  // settings that only a case has come last
    // A strategy that ignores an axis gives the same run at each of its values; cases may repeat runs too.
    if (seen.insert(run.hash).second) runs.push_back({std::move(place), std::move(run)});
  }
}

}  // namespace

std::vector<PlannedRun> resolve(const StudyFile& study, const std::string& engine) {
  std::vector<PlacedRun> placed;
  std::set<std::string> seen;
  if (study.cases.empty()) add_runs(study, study, engine, seen, placed, {});
  for (const std::vector<Setting>& settings : study.cases) {
    std::vector<std::string> also;
    for (const Setting& setting : settings) {
      if (!setting.of_strategy) also.push_back(setting.key);
    }
    add_runs(study, study.of_case(settings), engine, seen, placed, also);
  }
  // All cases of one seed come before the next seed: they can be compared as soon as one seed is finished.
  if (!study.cases.empty()) {
    std::stable_sort(placed.begin(), placed.end(),
                     [](const PlacedRun& a, const PlacedRun& b) { return a.place < b.place; });
  }
  std::vector<PlannedRun> runs;
  runs.reserve(placed.size());
  for (PlacedRun& one : placed) runs.push_back(std::move(one.run));
  check_parents(study, runs, seen);
  return runs;
}

std::string wanted_engine(const StudyFile& study) {
  const Setting* setting = study.find("engine");
  if (!setting) return "auto";
  if (setting->axis()) {
    fail<UsageError>(
        "{}: `engine` cannot be an axis: the runs of a study must be comparable; make two studies",
        setting->where);
  }
  return setting->values[0];
}

std::string resolved_toml(const StudyFile& study, const std::string& engine) {
  const auto& table = train::run_params();
  std::string text = "name = " + quoted(study.name) + "\n";
  if (!study.about.empty()) text += "about = " + quoted(study.about) + "\n";
  std::string section;
  const auto profile = common_profile(study);
  for (const auto& entry : table.entries()) {
    const Setting* setting = study.find(entry.info.name);
    if (setting ? setting->axis() : !entry.info.identity) continue;
    if (entry.info.section != section) text += fmt::format("\n[{}]\n", section = entry.info.section);
    std::string value = setting ? setting->values[0] : entry.info.initial;
    if (entry.info.name == "rho" && profile && !data::takes_ratio(*profile)) continue;
    if (entry.info.name == "engine" && value == "auto" && !study.trainer) value = engine;
    if (entry.info.name == "data" && !value.empty()) value = std::filesystem::absolute(value).string();
    text += fmt::format("{} = {}\n", entry.info.name, toml_value(entry.info.type, value));
  }
  if (study.trainer) text += trainer_toml(study);
  text += grid_toml(study);
  for (const std::vector<Setting>& settings : study.cases) text += case_toml(study, settings);
  return text;
}

}  // namespace longtail::study
