// The folder of a study:
//   study.json             the study as it is now: every run with its whole configuration, engine, version
//   study.toml             the same as a study file with every parameter written out
//   runs/NAME/run.json     the configuration of one run, checked against the hash in its name
//   runs/NAME/log.json     its result (train/run_log.h), with the checkpoint and the timings next to it
//   runs/NAME/done.json    marks the run as finished and records the checksum of its log
//   runs/NAME/failed.json  why it failed, when and where
//   runs/NAME/progress.json, study.lock   how far it is, and who works on it
// The folder is the only source of truth about a run; any number of processes may read it at any time.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "longtail/study/grid.h"
#include "longtail/study/record.h"
#include "longtail/study/study_file.h"
#include "longtail/train/run_log.h"

namespace longtail::study {

// The study as recorded in its folder.
struct Plan {
  std::string name;
  std::string about;
  std::string version;  // of the program that wrote it
  std::string engine;
  std::vector<PlannedRun> runs;
};

// Resolves the study and records it in the folder, under a lock, so that several processes may start at once.
// The first process decides what the engine `auto` means, for good. Writes only what changed.
// `on_wait` is called if another process has the lock. The folder of a run with a new name but the same hash
// is renamed. While a process works on the run, it keeps its old name, also in the plan, until open_study is
// called again. A folder that a person has named is left alone.
Plan open_study(const StudyFile& study, const std::filesystem::path& folder, const std::string& version,
                const std::function<void(const std::string&)>& on_wait = {});
// The same for the study recorded in the folder: afterwards every run has its folder again.
Plan reopen_study(const std::filesystem::path& folder,
                  const std::function<void(const std::string&)>& on_wait = {});
// Reads the recorded study.
Plan read_plan(const std::filesystem::path& folder);
// The engine that this study has or would get; writes nothing.
std::string engine_of(const StudyFile& study, const std::filesystem::path& folder);
// An Error that says what to do if the engine of the study does not support the network of a run, or this
// machine cannot run the engine.
void require_engine(const Plan& plan);

std::filesystem::path lock_path(const std::filesystem::path& run_folder);

// The configuration of the run in a folder; an Error if it does not match the hash in the name.
PlannedRun read_run(const std::filesystem::path& run_folder);

enum class Status { kWaiting, kInterrupted, kRunning, kDone, kFailed, kDamaged };
std::string_view word(Status status);

struct RunState {
  Status status = Status::kWaiting;
  std::string note;  // who runs it, why it failed, what is damaged; if done: faults of its predictions
  int epoch = 0;     // epochs done
  int epochs = 0;
  train::EpochResult best;         // at the best epoch so far; valid if epoch > 0
  double seconds = 0;              // spent so far; 0: unknown
  std::int64_t failed_at = 0;      // seconds since 1970
  train::Fingerprint fingerprint;  // if done
};

// The progress of a run, for status and the live view; written after every epoch.
struct Mark {
  int epoch = 0;
  train::EpochResult best;
  double seconds = 0;
};
void write_mark(const std::filesystem::path& run_folder, const Mark& mark);

// Determines the state of a run from the folder alone. Writes nothing.
RunState inspect(const std::filesystem::path& folder, const PlannedRun& run);
// The same for a run whose lock the caller holds.
RunState inspect_idle(const std::filesystem::path& run_folder, const PlannedRun& run);

// Folders under runs/ that belong to no run of the plan: leftovers of an earlier version of the study.
std::vector<std::string> strangers(const std::filesystem::path& folder, const Plan& plan);

// Records the end of a run. The caller holds its lock.
void record_done(const std::filesystem::path& run_folder);
void record_failed(const std::filesystem::path& run_folder, const std::string& reason);
// Removes temporary files that killed processes left in the folder of a run. The caller holds its lock.
void remove_temporaries(const std::filesystem::path& run_folder);
// Renames a damaged file (name.damaged), so that the run can be repeated.
void set_aside(const std::filesystem::path& file);

}  // namespace longtail::study
