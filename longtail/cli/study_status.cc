// longtail study status: the state of every run, read from the folder alone.
#include <fmt/format.h>

#include "longtail/base/error.h"
#include "longtail/base/text.h"
#include "longtail/cli/study.h"
#include "longtail/study/board.h"
#include "longtail/study/sharing.h"
#include "longtail/study/slurm.h"
#include "longtail/study/table.h"
#include "longtail/study/view.h"

namespace longtail::cli {
namespace {

std::string run_line(const study::PlannedRun& run, const study::RunState& state, std::size_t width) {
  std::string line = fmt::format("  {:<11} {:<{}}", study::word(state.status), run.name, width);
  if (state.status == study::Status::kDone) {
    line += fmt::format("  {:.1f} ({})  {}", state.best.overall, study::groups_text(state.best),
                        state.seconds > 0 ? base::duration(state.seconds) : "time not known");
  } else if (state.epoch > 0) {
    line += fmt::format("  epoch {}/{}", state.epoch, state.epochs);
  }
  return line + (state.note.empty() ? "" : "  " + state.note);
}

void print_slurm(const std::string& folder) {
  if (study::read_jobs(folder).empty()) return;
  try {
    const study::SlurmWords words = study::ask_slurm(folder);
    fmt::print("Slurm: {} of the submitted tasks are queued or running\n", words.size());
    for (const auto& [name, word] : words) fmt::print("  {:<40} {}\n", name, word);
  } catch (const base::Error& error) {
    fmt::print("Slurm: {}\n", error.what());
  }
}

void print_status(const std::string& folder) {
  const study::Plan plan = study::read_plan(folder);
  const study::Board board = study::make_board(plan, folder, {});
  const auto states = board.states();
  std::vector<std::string> counts;
  for (const auto status : {study::Status::kDone, study::Status::kRunning, study::Status::kInterrupted,
                            study::Status::kWaiting, study::Status::kDamaged, study::Status::kFailed}) {
    if (const int count = board.count(status); count > 0)
      counts.push_back(fmt::format("{} {}", count, word(status)));
  }
  fmt::print("study {}: {} runs: {}; engine {}\n", plan.name, plan.runs.size(), base::join(counts, ", "),
             plan.engine);
  std::size_t width = 0;
  for (const study::PlannedRun& run : plan.runs) width = std::max(width, run.name.size());
  for (std::size_t i = 0; i < states.size(); ++i)
    fmt::print("{}\n", run_line(plan.runs[i], states[i], width));
  if (const auto others = study::strangers(folder, plan); !others.empty()) {
    fmt::print("{} run folders belong to an earlier form of the study: {}\n", others.size(),
               base::join(others, ", "));
  }
  const auto table = study::result_table(plan.runs, states, study::kPrintWidth);
  if (!table.empty()) fmt::print("\nAccuracy at the best epoch in percent, mean over the seeds done\n");
  for (const std::string& line : table) fmt::print("{}\n", line);
  fmt::print("{}\n", study::check_sharing(plan.runs, states).sentence());
  print_slurm(folder);
}

}  // namespace

void add_study_status(App& app) {
  App* command = app.add_subcommand("status", "What is done, running, waiting, failed");
  const auto folder = std::make_shared<std::string>();
  command->add_option("DIR", *folder, "Folder of the study")->required();
  command->callback([folder] { print_status(*folder); });
}

}  // namespace longtail::cli
