// The folder of a study:
//   study.json             the study as it is now: every run with its whole configuration, engine, version
//   study.toml             the same as a study file that says everything
//   runs/NAME/run.json     the configuration of one run, checked against the hash in its name
//   runs/NAME/log.json     its result (train/run_log.h), with the checkpoint and the timings beside it
//   runs/NAME/done.json    says that the run is finished and what bytes its log has
//   runs/NAME/failed.json  why it failed, when and where
//   runs/NAME/progress.json, study.lock   how far it is, and who works on it
// What is true of a run is read from here and nowhere else; any number of processes may look at any time.
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
// The first decides what the engine `auto` means; it stays so. Writes only what changed.
// `on_wait` is told if another process has the lock. A run that has another name now, but the same hash, keeps its folder,
// which is renamed; one that somebody works on keeps its old name, in the plan too, until open_study is called again.
// A folder that a person has named is left alone.
Plan open_study(const StudyFile& study, const std::filesystem::path& folder, const std::string& version,
                const std::function<void(const std::string&)>& on_wait = {});
// The same of the study that the folder holds: every run has its folder again.
Plan reopen_study(const std::filesystem::path& folder,
                  const std::function<void(const std::string&)>& on_wait = {});
// The study as the folder has it.
Plan read_plan(const std::filesystem::path& folder);
// What the engine of this study is or would be, without writing.
std::string engine_of(const StudyFile& study, const std::filesystem::path& folder);
// An Error with the way out if the engine of the study cannot do the network of a run, or this machine cannot run it.
void require_engine(const Plan& plan);

std::filesystem::path lock_path(const std::filesystem::path& run_folder);

// The configuration of the run in a folder; an Error if it is not the one its name promises.
PlannedRun read_run(const std::filesystem::path& run_folder);

enum class Status { kWaiting, kInterrupted, kRunning, kDone, kFailed, kDamaged };
std::string_view word(Status status);

struct RunState {
  Status status = Status::kWaiting;
  std::string
      note;       // who runs it, why it failed, what is damaged; if done: what is wrong with its predictions
  int epoch = 0;  // epochs done
  int epochs = 0;
  train::EpochResult best;         // at the best epoch so far; valid if epoch > 0
  double seconds = 0;              // spent so far; 0: not known
  std::int64_t failed_at = 0;      // seconds since 1970
  train::Fingerprint fingerprint;  // if done
};

// How far a run is, for status and the live view; written after every epoch.
struct Mark {
  int epoch = 0;
  train::EpochResult best;
  double seconds = 0;
};
void write_mark(const std::filesystem::path& run_folder, const Mark& mark);

// The truth about a run. Reads only.
RunState inspect(const std::filesystem::path& folder, const PlannedRun& run);
// The same of the run in a folder whose lock the caller has.
RunState inspect_idle(const std::filesystem::path& run_folder, const PlannedRun& run);

// Folders under runs/ that belong to no run of the plan: left from an earlier form of the study.
std::vector<std::string> strangers(const std::filesystem::path& folder, const Plan& plan);

// Records the end of a run. The caller has its lock.
void record_done(const std::filesystem::path& run_folder);
void record_failed(const std::filesystem::path& run_folder, const std::string& reason);
// Removes what killed writers of the files of a run left behind. The caller has its lock.
void remove_temporaries(const std::filesystem::path& run_folder);
// Moves what is damaged out of the way (name.damaged), so that the run can be done again.
void set_aside(const std::filesystem::path& file);

}  // namespace longtail::study
