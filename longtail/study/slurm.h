// Submits a study to Slurm: a job array with one task per run, each the same command that a person would
// type. What was submitted is recorded in DIR/slurm/jobs.json, next to the scripts and the output of the
// tasks.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "longtail/study/folder.h"

namespace longtail::study {

struct SubmitOptions {
  std::string program;  // absolute path of this executable
  std::filesystem::path folder;
  std::string data;
  std::string partition;
  std::string time;      // Slurm's form: "2:00:00"
  int cpus = 0;          // 0: the partition's default
  std::string gpus;      // Slurm's form: "1", "a100:2"; empty: none
  int max_parallel = 0;  // 0: no limit
  bool retry_failed = false;
};

// The script of an array over `names`: task i runs names[i]. The path of its output is given at submission,
// because a header line cannot quote every path.
std::string batch_script(const std::string& study, const std::vector<std::string>& names,
                         const std::string& list, const SubmitOptions& options);

struct SlurmJob {
  std::string id;                  // of the array
  std::vector<std::string> names;  // the run of each task
};

// The id in the output of `sbatch --parsable`: "123" or "123;cluster", possibly after a greeting of the site.
// An Error if there is none.
std::string parse_sbatch(const std::string& text);

// The state of the tasks that Slurm still knows: run name -> "RUNNING on node3 for 12:04", "PENDING
// (Resources)".
using SlurmWords = std::map<std::string, std::string>;
// Parses lines "id_task|state|node|time|reason" of squeue.
SlurmWords parse_squeue(const std::string& text, const std::vector<SlurmJob>& jobs);

// Submits the runs and records the job. An Error if Slurm is not installed or refuses the job.
SlurmJob submit(const std::string& study, const std::vector<std::string>& names,
                const SubmitOptions& options);
std::vector<SlurmJob> read_jobs(const std::filesystem::path& folder);
// Asks squeue about the jobs of the folder; empty if none was submitted or none is left. An Error if Slurm is
// not installed any more.
SlurmWords ask_slurm(const std::filesystem::path& folder);
// Cancels every job of the folder that Slurm still has; returns their ids.
std::vector<std::string> cancel_jobs(const std::filesystem::path& folder);

}  // namespace longtail::study
