#include "longtail/study/folder.h"

#include <algorithm>
#include <ctime>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "longtail/base/error.h"
#include "longtail/base/file.h"
#include "longtail/base/file_events.h"
#include "longtail/base/hash.h"
#include "longtail/base/quote.h"
#include "longtail/study/engine_choice.h"
#include "longtail/study/lock.h"
#include "longtail/train/predictions.h"
#include "longtail/train/rebalance_method.h"
#include "longtail/train/run_folder.h"

namespace longtail::study {
namespace {

namespace fs = std::filesystem;
using base::fail;
using nlohmann::json;

constexpr int kSchema = 1;
constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

// Parses one of our small JSON files; any fault is an Error that names the file.
template <class Read>
auto read_json(const fs::path& path, const std::string& way_out, Read read) {
  try {
    return read(json::parse(base::read_text(path, std::uint64_t{1} << 30)));
  } catch (const json::parse_error& error) {
    fail("{} is damaged at byte {}{}", path.string(), error.byte, way_out);
  } catch (const json::exception&) {
    fail("{} is damaged: it does not hold what it should{}", path.string(), way_out);
  }
}
template <class Read>
auto read_json(const fs::path& path, Read read) {
  return read_json(path, "", read);
}

void write_if_changed(const fs::path& path, const std::string& text) {
  std::error_code error;
  if (fs::exists(path, error) && base::read_text(path) == text) return;
  base::write_atomically(path, text);
}

// Adds to the identity of the run where its data are and how to do it, for a process that does it later or on
// another machine.
json run_json(const PlannedRun& run) {
  json config = train::config_map(run.config);
  config["keep_epochs"] = train::run_params().find("keep_epochs")->get(run.config);
  if (!run.config.data.empty()) config["data"] = fs::absolute(run.config.data).string();
  if (run.config.threads > 0) config["threads"] = fmt::format("{}", run.config.threads);
  json object = {{"name", run.name}, {"hash", run.hash}, {"config", config}};
  if (run.trainer) {
    json params = json::object();
    for (const auto& [key, value] : run.trainer->params) params[key] = json::parse(value);
    object["trainer"] = {{"command", run.trainer->command},
                         {"time_limit", run.trainer->seconds},
                         {"retries", run.trainer->retries},
                         {"params", params}};
  }
  return object;
}

// Does not recompute the hash, so that a machine without the study's engine can still read the plan.
PlannedRun parse_run(const json& object) {
  PlannedRun run;
  run.name = object.at("name").get<std::string>();
  run.hash = object.at("hash").get<std::string>();
  require_run_name(run.name);
  const auto config = object.at("config").get<std::map<std::string, std::string>>();
  for (const auto& [key, value] : config) base::require_plain(fmt::format("`{}` of a run", key), value);
  run.config = train::config_from_map(config);
  if (object.contains("trainer")) {
    const json& trainer = object["trainer"];
    run.trainer = Trainer{trainer.at("command").get<std::vector<std::string>>(),
                          trainer.at("time_limit").get<double>(),
                          trainer.at("retries").get<int>(),
                          {}};
    for (const auto& [key, value] : trainer.at("params").items()) run.trainer->params[key] = value.dump();
  }
  return run;
}

json plan_json(const Plan& plan) {
  json runs = json::array();
  for (const PlannedRun& run : plan.runs) runs.push_back(run_json(run));
  return {{"schema", kSchema},       {"name", plan.name},     {"about", plan.about},
          {"version", plan.version}, {"engine", plan.engine}, {"runs", runs}};
}

json number(double value) { return value == value ? json(value) : json(nullptr); }
double number(const json& value) { return value.is_number() ? value.get<double>() : kUnknown; }

// The state of a run that is neither done nor failed.
void read_progress(const fs::path& folder, RunState& state) {
  const fs::path path = folder / "progress.json";
  std::error_code error;
  if (!fs::exists(path, error)) return;
  try {
    read_json(path, [&](const json& object) {
      state.epoch = object.at("epoch").get<int>();
      state.seconds = object.at("seconds").get<double>();
      state.best = {number(object.at("overall")), number(object.at("head")), number(object.at("medium")),
                    number(object.at("tail")), 0};
      return 0;
    });
  } catch (const base::Error&) {
    state.epoch = 0;  // it is only for display
  }
}

void read_failure(const fs::path& path, RunState& state) {
  try {
    read_json(path, [&](const json& object) {
      state.note = base::quote::terminal(object.at("reason").get<std::string>());
      state.failed_at = object.at("time").get<std::int64_t>();
      return 0;
    });
  } catch (const base::Error& error) {
    state.note = error.what();
  }
}

void read_result(const fs::path& folder, RunState& state) {
  const train::RunLog log = train::read_log(folder / "log.json");
  state.epoch = log.epochs();
  state.best = log.best.accuracy;
  state.seconds = log.seconds_training + log.seconds_evaluation;
  state.fingerprint = log.fingerprint;
  try {
    if (!log.predictions.empty())
      train::read_predictions(train::predictions_path(folder / "log.json"), log.predictions);
  } catch (const base::StorageError&) {
    throw;  // the content is unknown, so not damage
  } catch (const base::Error& error) {
    state.note = error.what();
  }
}

}  // namespace

fs::path lock_path(const fs::path& run_folder) { return run_folder / "study.lock"; }

std::string engine_of(const StudyFile& study, const fs::path& folder) {
  std::string wanted = wanted_engine(study);
  if (study.trainer) return kTrainerEngine;
  if (wanted != "auto") return wanted;
  if (base::present(folder / "study.json")) return read_plan(folder).engine;
  return engine_for(resolve(study, wanted));
}

namespace {

void write_run(const fs::path& run_folder, const PlannedRun& run) {
  write_if_changed(run_folder / "run.json", run_json(run).dump(1) + "\n");
}

// The names of the runs in the current study.json, before it is rewritten; empty if it is missing or damaged.
std::set<std::string> names_on_record(const fs::path& folder) {
  try {
    const std::vector<std::string> names = recorded_runs(folder);
    return {names.begin(), names.end()};
  } catch (const base::StorageError&) {
    throw;
  } catch (const base::Error&) {
    return {};
  }
}

// The hash of the run that a folder was made for. Empty for a folder that a person has named (moved away, or
// a copy): a folder of the study has its name in its run.json or in `on_record`.
std::string promised_hash(const fs::path& run_folder, const std::set<std::string>& on_record) {
  try {
    return read_json(run_folder / "run.json", [&](const json& object) {
      const std::string name = run_folder.filename().string();
      const bool own = object.at("name").get<std::string>() == name || on_record.contains(name);
      return own ? object.at("hash").get<std::string>() : "";
    });
  } catch (const base::Error&) {
    return "";
  }
}

// Whether the folder of a run is missing or holds only the files it was created with.
bool is_untouched(const fs::path& run_folder) {
  if (!base::present(run_folder)) return true;
  std::error_code error;
  fs::directory_iterator entries(run_folder, error);
  return !error && std::all_of(fs::begin(entries), fs::end(entries), [](const fs::directory_entry& entry) {
    return entry.path().filename() == "run.json" || entry.path().filename() == "study.lock";
  });
}

// The same, and no process works in it.
bool is_fresh(const fs::path& run_folder) {
  return is_untouched(run_folder) && !FileLock::is_held(lock_path(run_folder));
}

// Renames the old folder of a run, replacing a folder in which nothing has been done, unless a process works
// in either. Returns the name that the run has from now on. The new name is written to run.json first: after
// a kill the folder has either that name or its old one, which is still on record.
std::string moved(const fs::path& folder, const std::string& old, const PlannedRun& run) {
  const fs::path from = run_folder(folder, old), to = run_folder(folder, run.name);
  const auto lock = FileLock::try_take(lock_path(from));
  if (!lock) return old;
  if (base::present(to)) {
    const auto empty = FileLock::try_take(lock_path(to));
    if (!empty || !is_untouched(to)) return run.name;
    for (const char* name : {"run.json", "study.lock"}) base::remove_file(to / name);
    base::remove_file(to);
  }
  write_run(from, run);
  base::rename_file(from, to);
  return run.name;
}

// The name of a run changes when a parameter becomes an axis, but its hash shows that it is the same run, so
// its folder is renamed. While a process works in it, folder and plan keep the old name. Returns whether the
// plan has changed.
bool rename_folders(Plan& plan, const fs::path& folder) {
  std::vector<std::string> old = strangers(folder, plan);
  if (old.empty()) return false;
  // Folders with results first: that work must not be repeated.
  std::stable_partition(old.begin(), old.end(),
                        [&](const std::string& name) { return !is_fresh(run_folder(folder, name)); });
  const std::set<std::string> on_record = names_on_record(folder);
  std::map<std::string, PlannedRun*> wanted;  // by hash
  for (PlannedRun& run : plan.runs) {
    if (is_fresh(run_folder(folder, run.name))) wanted[run.hash] = &run;
  }
  bool changed = false;
  for (const std::string& name : old) {
    const auto run = wanted.find(promised_hash(run_folder(folder, name), on_record));
    if (run == wanted.end()) continue;
    std::string& now = run->second->name;
    const std::string before = now;
    if (base::present(run_folder(folder, now)) && is_fresh(run_folder(folder, name))) continue;
    now = moved(folder, name, *run->second);
    changed = changed || now != before;
    wanted.erase(run);
  }
  return changed;
}

// Creates the folders of the runs with their initial files; existing folders stay as they are.
void make_run_folders(const Plan& plan, const fs::path& folder) {
  for (const PlannedRun& run : plan.runs) {
    base::make_folder(run_folder(folder, run.name));
    write_run(run_folder(folder, run.name), run);
  }
}

void write_plan(const Plan& plan, const fs::path& folder) {
  write_if_changed(folder / "study.json", plan_json(plan).dump(1) + "\n");
}

constexpr std::string_view kWritten = "# Written by longtail ";

// A study.toml that a person wrote is not overwritten.
void require_own_study_file(const fs::path& folder) {
  const fs::path path = folder / "study.toml";
  if (!base::present(path) || base::read_text(path).starts_with(kWritten)) return;
  fail(
      "{} was not written by longtail, and the study would write over it; use another folder for the study "
      "(--out DIR), or give the file another name",
      path.string());
}

FileLock lock_study(const fs::path& folder, const std::function<void(const std::string&)>& on_wait) {
  const fs::path path = folder / "study.lock";
  if (auto lock = FileLock::try_take(path)) return std::move(*lock);
  if (on_wait) on_wait(fmt::format("waiting for {}, which has {}", FileLock::holder(path), path.string()));
  return FileLock::take(path);
}

}  // namespace

Plan open_study(const StudyFile& study, const fs::path& folder, const std::string& version,
                const std::function<void(const std::string&)>& on_wait) {
  // Refuse before anything is created.
  const std::string engine = engine_of(study, folder);
  require_networks(engine, resolve(study, engine));
  require_own_study_file(folder);
  base::make_folder(folder / "runs");
  const FileLock lock = lock_study(folder, on_wait);
  Plan plan{study.name, study.about, version, engine_of(study, folder), {}};
  plan.runs = resolve(study, plan.engine);
  rename_folders(plan, folder);
  make_run_folders(plan, folder);
  write_if_changed(folder / "study.toml", fmt::format("{}{}: the study with every parameter written out.\n{}",
                                                      kWritten, version, resolved_toml(study, plan.engine)));
  write_plan(plan, folder);
  return plan;
}

Plan reopen_study(const fs::path& folder, const std::function<void(const std::string&)>& on_wait) {
  read_plan(folder);  // fails before anything is created
  const FileLock lock = lock_study(folder, on_wait);
  Plan plan = read_plan(folder);
  // A process may have been killed after renaming folders and before writing the plan.
  if (rename_folders(plan, folder)) write_plan(plan, folder);
  make_run_folders(plan, folder);
  return plan;
}

Plan read_plan(const fs::path& folder) {
  std::error_code error;
  if (!fs::exists(folder / "study.json", error)) {
    if (error) fail("cannot look into {}: {}", folder.string(), error.message());
    fail(
        "{} is not the folder of a study: it has no study.json; `longtail study run FILE --out {}` makes one",
        folder.string(), folder.string());
  }
  const fs::path path = folder / "study.json";
  const std::string way_out = "; remove it, and `longtail study run FILE` writes it again: no run is lost";
  return read_json(path, way_out, [&](const json& object) {
    if (const int schema = object.at("schema").get<int>(); schema != kSchema) {
      fail("{}/study.json has schema {}; this longtail reads {}", folder.string(), schema, kSchema);
    }
    Plan plan{object.at("name").get<std::string>(),
              object.at("about").get<std::string>(),
              object.at("version").get<std::string>(),
              object.at("engine").get<std::string>(),
              {}};
    for (const std::string* text : {&plan.name, &plan.about, &plan.version, &plan.engine}) {
      base::require_plain(path.string(), *text);
    }
    for (const json& run : object.at("runs")) plan.runs.push_back(parse_run(run));
    return plan;
  });
}

void require_engine(const Plan& plan) {
  if (plan.engine == kTrainerEngine) return;
  require_networks(plan.engine, plan.runs);
  require_machine(plan.engine);
}

PlannedRun read_run(const fs::path& folder) {
  PlannedRun run = read_json(folder / "run.json", parse_run);
  const std::string hash = run_hash(run);
  if (hash != run.hash || folder.filename().string() != run.name) {
    fail(
        "{}/run.json is damaged: it is not the configuration that its name promises; remove it and run the "
        "study again",
        folder.string());
  }
  return run;
}

std::string_view word(Status status) {
  switch (status) {
    case Status::kWaiting:
      return "waiting";
    case Status::kInterrupted:
      return "interrupted";
    case Status::kRunning:
      return "running";
    case Status::kDone:
      return "done";
    case Status::kFailed:
      return "failed";
    case Status::kDamaged:
      return "damaged";
  }
  return "";
}

void write_mark(const fs::path& folder, const Mark& mark) {
  const json object = {{"epoch", mark.epoch},
                       {"seconds", mark.seconds},
                       {"overall", number(mark.best.overall)},
                       {"head", number(mark.best.head)},
                       {"medium", number(mark.best.medium)},
                       {"tail", number(mark.best.tail)}};
  base::write_atomically(folder / "progress.json", object.dump() + "\n");
}

RunState inspect(const fs::path& folder, const PlannedRun& run) {
  const fs::path place = run_folder(folder, run.name);
  if (!FileLock::is_held(lock_path(place))) return inspect_idle(place, run);
  RunState state;
  state.epochs = train::logged_epochs(run.config);
  state.status = Status::kRunning;
  state.note = base::quote::terminal(FileLock::holder(lock_path(place)));
  read_progress(place, state);
  return state;
}

RunState inspect_idle(const fs::path& place, const PlannedRun& run) {
  RunState state;
  state.epochs = train::logged_epochs(run.config);
  if (const auto wrong = damage(place)) {
    state.status = Status::kDamaged;
    state.note = *wrong;
  } else if (base::present(place / "done.json")) {
    try {
      read_result(place, state);
      state.status = Status::kDone;
    } catch (const base::DamagedFile& error) {  // it changed since it was checked
      state.status = Status::kDamaged;
      state.note = error.what();
    }
  } else if (base::present(place / "failed.json")) {
    state.status = Status::kFailed;
    read_progress(place, state);
    read_failure(place / "failed.json", state);
  } else {
    read_progress(place, state);
    state.status = state.epoch > 0 ? Status::kInterrupted : Status::kWaiting;
  }
  return state;
}

std::vector<std::string> strangers(const fs::path& folder, const Plan& plan) {
  std::vector<std::string> names;
  for (const PlannedRun& run : plan.runs) names.push_back(run.name);
  return strangers(folder, names);
}

void record_done(const fs::path& folder) {
  const json object = {{"log_sha256", base::sha256(base::read_text(folder / "log.json"))},
                       {"host", host_name()},
                       {"time", static_cast<std::int64_t>(std::time(nullptr))}};
  base::write_atomically(folder / "done.json", object.dump(1) + "\n");
  base::remove_file(folder / "failed.json");
  base::remove_file(folder / "progress.json");
}

void record_failed(const fs::path& folder, const std::string& reason) {
  const json object = {
      {"reason", reason}, {"host", host_name()}, {"time", static_cast<std::int64_t>(std::time(nullptr))}};
  base::write_atomically(folder / "failed.json",
                         object.dump(1, ' ', false, json::error_handler_t::replace) + "\n");
}

void remove_temporaries(const fs::path& folder) {
  train::remove_temporaries(folder);
  base::remove_temporaries(folder, [](std::string_view name) {
    return name == "run.json" || name == "done.json" || name == "failed.json" || name == "progress.json" ||
           name == "config.json";
  });
}

void set_aside(const fs::path& file) {
  if (base::present(file)) base::rename_file(file, file.string() + ".damaged");
}

}  // namespace longtail::study
