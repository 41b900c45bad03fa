#include "longtail/study/slurm.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <regex>
#include <set>

#include "longtail/base/error.h"
#include "longtail/base/file.h"
#include "longtail/base/quote.h"
#include "longtail/base/text.h"
#include "longtail/study/command.h"

namespace longtail::study {
namespace {

namespace fs = std::filesystem;
using base::fail;
using base::quote::shell;
using nlohmann::json;

// Seconds before the time limit at which a task is told to stop, save and queue itself again.
constexpr int kNotice = 60;

std::string slurm(const std::vector<std::string>& command) {
  const CommandResult result = run_command(command);
  if (!result.found) {
    fail(
        "Slurm is not on this machine: there is no `{}`. Submit from a login node of the cluster, or use "
        "`longtail study run` here",
        command[0]);
  }
  if (result.code != 0) {
    fail("{} failed with exit code {}: {}", command[0], result.code,
         base::trim(result.err.empty() ? result.out : result.err));
  }
  return result.out;
}

fs::path jobs_path(const fs::path& folder) { return folder / "slurm" / "jobs.json"; }

// A name must not end a header line or be read as a pattern there.
std::string header_safe(std::string text) {
  for (char& c : text) {
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '-' && c != '_' && c != '.') c = '_';
  }
  return text;
}

// Accepts Slurm's forms of a time limit: 90, 90:00, 1:30:00, 2-12, 2-12:30, 2-12:30:00.
void refuse_odd_time(const std::string& time) {
  static const std::regex form("([0-9]+-)?[0-9]+(:[0-9]+){0,2}");
  if (!time.empty() && !std::regex_match(time, form)) {
    fail<base::UsageError>("--time `{}` is no time limit of Slurm; write it as 2:00:00 or 1-12:00:00", time);
  }
}

// One partition, or a list from which Slurm takes the first that is free.
std::string checked_partition(const std::string& text) {
  static const std::regex form("[A-Za-z0-9_.-]+(,[A-Za-z0-9_.-]+)*");
  if (!std::regex_match(text, form))
    fail<base::UsageError>("--partition `{}`: write it as a name or as names, as in cpu,long",
                           base::quote::terminal(text));
  return text;
}

std::string checked_gpus(const std::string& text) {
  static const std::regex form("([A-Za-z][A-Za-z0-9_.-]*:)?[1-9][0-9]*");
  if (!std::regex_match(text, form))
    fail<base::UsageError>("--gpus `{}`: write it as a number or as type:number, as in a100:2", text);
  return text;
}

// The output path of the tasks as Slurm reads it: a pattern in which %% is a percent sign. A backslash would
// disable the pattern, so it is refused.
std::string output_pattern(const fs::path& folder) {
  std::string pattern;
  for (const char c : (folder / "slurm").string()) {
    if (c == '\\' || static_cast<unsigned char>(c) < 0x20) {
      fail<base::UsageError>(
          "the folder {} has a character in its name that Slurm would read as something else",
          folder.string());
    }
    pattern += c == '%' ? "%%" : std::string(1, c);
  }
  return pattern + "/%A_%a.out";
}

}  // namespace

std::string batch_script(const std::string& study, const std::vector<std::string>& names,
                         const std::string& list, const SubmitOptions& options) {
  refuse_odd_time(options.time);
  for (const std::string& path : {options.folder.string(), options.data, options.program, list}) {
    for (const char c : path) {
      if (static_cast<unsigned char>(c) < 0x20) {
        fail<base::UsageError>("the path {} has a control character in it", base::quote::terminal(path));
      }
    }
  }
  std::string text = "#!/bin/sh\n";
  const auto header = [&](const std::string& line) { text += "#SBATCH " + line + "\n"; };
  header("--job-name=" + header_safe("longtail-" + study));
  header(fmt::format("--array=0-{}{}", names.size() - 1,
                     options.max_parallel > 0 ? fmt::format("%{}", options.max_parallel) : ""));
  if (!options.partition.empty()) header("--partition=" + checked_partition(options.partition));
  if (!options.time.empty()) header("--time=" + options.time);
  if (options.cpus > 0) header(fmt::format("--cpus-per-task={}", options.cpus));
  if (!options.gpus.empty()) header("--gpus=" + checked_gpus(options.gpus));
  header("--requeue");
  header("--open-mode=append");
  header(fmt::format("--signal=B:USR1@{}", kNotice));
  text += fmt::format(
      R"(# One task per run. The command may be repeated at will: it resumes where it was and never does a run twice.
run=$(sed -n "$((SLURM_ARRAY_TASK_ID + 1))p" {list})
again=
trap 'again=1; kill -TERM "$task"' USR1
trap 'kill -TERM "$task"' TERM INT
{program} study run --out {folder} --only "$run"{threads}{data}{retry} &
task=$!
wait "$task"
code=$?
while kill -0 "$task" 2>/dev/null; do
  wait "$task"
  code=$?
done
# Near its time limit: saved and stopped; queue again.
if [ -n "$again" ] && [ "$code" -eq 130 ]; then
  exec scontrol requeue "$SLURM_JOB_ID"
fi
exit "$code"
)",
      fmt::arg("list", shell(list)), fmt::arg("program", shell(options.program)),
      fmt::arg("folder", shell(options.folder.string())),
      fmt::arg("threads", options.cpus > 0 ? fmt::format(" --threads {}", options.cpus) : ""),
      fmt::arg("data", options.data.empty() ? "" : " --data " + shell(options.data)),
      fmt::arg("retry", options.retry_failed ? " --retry-failed" : ""));
  return text;
}

std::string parse_sbatch(const std::string& text) {
  const auto lines = base::split(base::trim(text), '\n');
  std::string id(base::trim(base::split(base::trim(lines.back()), ';')[0]));
  if (!base::parse_integer(id)) {
    fail(
        "sbatch took the job and said `{}`, in which there is no number of a job: it is not recorded; "
        "`squeue --me` shows it, and `scancel` takes it out of the queue",
        base::quote::terminal(base::trim(text)));
  }
  return id;
}

SlurmWords parse_squeue(const std::string& text, const std::vector<SlurmJob>& jobs) {
  SlurmWords words;
  for (const std::string& line : base::split(text, '\n')) {
    const auto fields = base::split(line, '|');
    if (fields.size() < 5) continue;
    const auto id = base::split(base::trim(fields[0]), '_');
    const std::int64_t task = id.size() == 2 ? base::parse_integer(id[1]).value_or(-1) : -1;
    for (const SlurmJob& job : jobs) {
      if (job.id != id[0] || task < 0 || task >= static_cast<std::int64_t>(job.names.size())) continue;
      std::string state(base::trim(fields[1]));
      if (!base::trim(fields[2]).empty()) {
        state += fmt::format(" on {} for {}", base::trim(fields[2]), base::trim(fields[3]));
      } else if (base::trim(fields[4]) != "None") {
        state += fmt::format(" ({})", base::trim(fields[4]));
      }
      words[job.names[static_cast<std::size_t>(task)]] = state;
    }
  }
  return words;
}

std::vector<SlurmJob> read_jobs(const fs::path& folder) {
  std::error_code error;
  if (!fs::exists(jobs_path(folder), error)) return {};
  std::vector<SlurmJob> jobs;
  try {
    for (const json& job : json::parse(base::read_text(jobs_path(folder)))) {
      jobs.push_back({job.at("id").get<std::string>(), job.at("runs").get<std::vector<std::string>>()});
      if (!base::parse_integer(jobs.back().id)) {  // it becomes an argument of scancel
        fail("{} is damaged: a job has the id `{}`; remove it to forget the jobs", jobs_path(folder).string(),
             jobs.back().id);
      }
    }
  } catch (const json::exception& problem) {
    fail("{} is damaged: {}; remove it to forget the jobs", jobs_path(folder).string(), problem.what());
  }
  return jobs;
}

SlurmJob submit(const std::string& study, const std::vector<std::string>& names,
                const SubmitOptions& options) {
  const std::string output = "--output=" + output_pattern(options.folder);
  base::make_folder(options.folder / "slurm");
  std::vector<SlurmJob> jobs = read_jobs(options.folder);
  const std::string stem = fmt::format("array-{}", jobs.size() + 1);
  const fs::path list = options.folder / "slurm" / (stem + ".txt");
  const fs::path script = options.folder / "slurm" / (stem + ".sh");
  base::write_atomically(list, base::join(names, "\n") + "\n");
  base::write_atomically(script, batch_script(study, names, list.string(), options));
  SlurmJob job{parse_sbatch(slurm({"sbatch", "--parsable", output, script.string()})), names};
  jobs.push_back(job);
  json record = json::array();
  for (const SlurmJob& each : jobs) record.push_back({{"id", each.id}, {"runs", each.names}});
  base::write_atomically(jobs_path(options.folder), record.dump(1) + "\n");
  return job;
}

SlurmWords ask_slurm(const fs::path& folder) {
  const std::vector<SlurmJob> jobs = read_jobs(folder);
  if (jobs.empty()) return {};
  // Asks for all jobs of the user: for an id that it has forgotten, squeue reports an error.
  return parse_squeue(slurm({"squeue", "--me", "--array", "--noheader", "--format=%i|%T|%N|%M|%r"}), jobs);
}

std::vector<std::string> cancel_jobs(const fs::path& folder) {
  const std::vector<SlurmJob> jobs = read_jobs(folder);
  std::set<std::string> left;
  for (const std::string& line :
       base::split(slurm({"squeue", "--me", "--array", "--noheader", "--format=%F"}), '\n')) {
    left.emplace(base::trim(line));
  }
  std::vector<std::string> cancelled;
  for (const SlurmJob& job : jobs) {
    if (left.contains(job.id)) cancelled.push_back(job.id);
  }
  if (cancelled.empty()) return cancelled;
  std::vector<std::string> command = {"scancel"};
  command.insert(command.end(), cancelled.begin(), cancelled.end());
  slurm(command);
  return cancelled;
}

}  // namespace longtail::study
