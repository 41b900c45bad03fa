// longtail study submit and cancel: run the study as a Slurm job array, or cancel it.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "longtail/base/error.h"
#include "longtail/base/quote.h"
#include "longtail/base/text.h"
#include "longtail/cli/study.h"
#include "longtail/study/folder.h"
#include "longtail/study/slurm.h"
#include "longtail/train/run.h"

namespace longtail::cli {
namespace {

struct SubmitFlags {
  StudyFlags study;
  std::string out;
  study::SubmitOptions options;
  bool retry_failed = false;
};

// The runs that are not done, not failed (unless failed runs are retried) and not in Slurm's queue.
std::vector<std::string> missing(const study::Plan& plan, const SubmitFlags& flags) {
  const study::SlurmWords queued = study::ask_slurm(flags.out);
  std::vector<std::string> names;
  for (const study::PlannedRun& run : plan.runs) {
    const study::RunState state = study::inspect(flags.out, run);
    if (state.status == study::Status::kDone || queued.contains(run.name)) continue;
    if (state.status == study::Status::kFailed && !flags.retry_failed) continue;
    names.push_back(run.name);
  }
  return names;
}

void submit(SubmitFlags& flags) {
  const study::StudyFile file = flags.study.read();
  const study::Plan plan = study::open_study(file, flags.out, LONGTAIL_VERSION);
  const std::vector<std::string> names = missing(plan, flags);
  if (names.empty()) {
    fmt::print("Nothing to submit: every run is done, queued or failed; `longtail study status {}` tells.\n",
               base::quote::argument(flags.out));
    return;
  }
  // Missing data would make every task fail on its node, so report them here.
  std::set<std::string> seen;
  for (const study::PlannedRun& run : plan.runs) {
    if (run.trainer) continue;  // only the trainer knows what it reads
    train::RunConfig config = run.config;
    if (!flags.study.data.empty()) config.data = flags.study.data;
    if (std::find(names.begin(), names.end(), run.name) == names.end()) continue;
    if (seen.insert(config.dataset).second) train::load_run_dataset(config);
  }
  flags.options.program = own_program();
  flags.options.folder = std::filesystem::absolute(flags.out);
  flags.options.retry_failed = flags.retry_failed;
  if (!flags.study.data.empty()) flags.options.data = std::filesystem::absolute(flags.study.data).string();
  const study::SlurmJob job = study::submit(plan.name, names, flags.options);
  fmt::print(
      "Submitted {} runs as job {}. `longtail study status {}` shows them, `longtail study cancel {}` ends "
      "them.\n",
      names.size(), job.id, base::quote::argument(flags.out), base::quote::argument(flags.out));
  if (!file.trainer && study::wanted_engine(file) == "auto") {
    fmt::print(
        "The engine of this study is {} (what `auto` means on this machine). If the nodes have a better one, "
        "cancel and\n"
        "submit with --set model.engine=amx into another folder.\n",
        plan.engine);
  }
}

}  // namespace

void add_study_submit(App& app) {
  App* command = app.add_subcommand("submit", "Hand the missing runs to Slurm as a job array");
  const auto flags = std::make_shared<SubmitFlags>();
  add_study_flags(*command, flags->study, true);
  command->add_option("--out", flags->out, "Folder of the study, seen by every node")->required();
  command->add_option("--partition", flags->options.partition, "Slurm's partition");
  command->add_option(
      "--time", flags->options.time,
      "Time limit of a task in Slurm's form, 2:00:00; a task near it saves and queues itself again");
  command->add_option("--cpus", flags->options.cpus, "CPUs, and so threads, of a task")
      ->check(Range(1, 1024));
  command->add_option("--gpus", flags->options.gpus,
                      "GPUs of a task in Slurm's form: 1, a100:2 (for a [trainer])");
  command->add_option("--max-parallel", flags->options.max_parallel, "Tasks at a time")
      ->check(Range(1, 100000));
  command->add_flag("--retry-failed", flags->retry_failed, "Submit runs again that are recorded as failed");
  command->callback([flags] { submit(*flags); });
}

void add_study_cancel(App& app) {
  App* command = app.add_subcommand("cancel", "Take the jobs of a study out of Slurm; what is done stays");
  const auto folder = std::make_shared<std::string>();
  command->add_option("DIR", *folder, "Folder of the study")->required();
  command->callback([folder] {
    study::read_plan(*folder);
    const auto ids = study::cancel_jobs(*folder);
    fmt::print("{}\n", ids.empty() ? "No job of this study is in Slurm's queue."
                                   : "Cancelled job " + base::join(ids, ", ") + ".");
  });
}

}  // namespace longtail::cli
