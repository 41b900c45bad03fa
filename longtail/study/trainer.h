// A trainer supplied by the user: a command that does a run. The contract is small. It is given a
// configuration file and the folder of the run, writes log.json there (docs/log.md) and ends with exit code
// 0; it is called again until the log says `finished`.
//
//   [trainer]
//   command = ["python3", "train.py", "{config}", "{run}"]
//   time_limit = "2h"
//   retries = 1
//   [trainer.params]
//   heads = [1, 2]               # any names; a list is an axis of the grid
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "longtail/train/run_log.h"

namespace longtail::study {

inline constexpr const char* kTrainerEngine = "trainer";  // stands in place of an engine's name

struct Trainer {
  std::vector<std::string> command;
  double seconds = 0;                         // time limit of one call; 0: none
  int retries = 0;                            // further calls after a failed one
  std::map<std::string, std::string> params;  // values as JSON: 0.5, true, "text"
};

struct PlannedRun;

// The hash of everything that distinguishes runs of a trainer: the identity of the configuration without the
// engine, the command, and the params.
std::string trainer_hash(const PlannedRun& run);

// The text of config.json: name, hash, config (every parameter, typed), params, data, threads.
std::string config_json(const PlannedRun& run, const std::string& data, int threads);

// The settings and callbacks of a call of the trainer.
struct TrainerCall {
  std::filesystem::path folder;
  std::string data;
  int threads = 0;
  std::function<bool()> should_stop;
  std::function<void(const train::RunLog&)> on_log;          // log.json has more epochs than before
  std::function<void(const std::string& sentence)> on_note;  // a call has failed and is repeated
};

// Calls the trainer until its log is finished, which it may be already. Throws base::Interrupted if stopped
// (also if the trainer was stopped just before). Throws base::Error with the reason if a call fails, takes
// too long or writes a log of another run. The reason contains the last lines of the output;
// FOLDER/output.txt has all of it.
void run_trainer(const PlannedRun& run, const TrainerCall& call);

// An Error that names the first field in which the log does not belong to this run.
void check_trainer_log(const PlannedRun& run, const train::RunLog& log);

}  // namespace longtail::study
