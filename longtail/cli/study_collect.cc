// longtail study collect: copies the logs of a study to plain files, to share or to keep under version
// control.
#include <fmt/format.h>

#include "longtail/base/error.h"
#include "longtail/base/file.h"
#include "longtail/cli/study.h"
#include "longtail/report/race.h"
#include "longtail/study/folder.h"
#include "longtail/train/predictions.h"

namespace longtail::cli {
namespace {

namespace fs = std::filesystem;

void copy_if_there(const fs::path& from, const fs::path& to) {
  if (!fs::exists(from)) return;
  const std::string bytes = base::read_text(from);
  if (!fs::exists(to) || base::read_text(to) != bytes) base::write_atomically(to, bytes);
}

// Copies only finished runs whose log has the recorded bytes; the others are counted, never copied.
void collect(const fs::path& study_folder, const fs::path& out) {
  const study::Plan plan = study::read_plan(study_folder);
  int done = 0, written = 0, without = 0;
  for (const study::PlannedRun& run : plan.runs) {
    const study::RunState state = study::inspect(study_folder, run);
    if (state.status != study::Status::kDone) continue;
    if (done++ == 0) base::make_folder(out);
    const fs::path from = study::run_folder(study_folder, run.name) / "log.json";
    const fs::path to = out / (run.name + ".json");
    const std::string log = base::read_text(from);
    if (state.note.empty()) {
      // The predictions for every test image, if the run kept them and they are sound.
      copy_if_there(train::predictions_path(from), train::predictions_path(to));
    } else {
      ++without;
      fmt::print(stderr, "longtail: {}: {}\n", run.name, state.note);
    }
    if (fs::exists(to) && base::read_text(to) == log) continue;
    base::write_atomically(to, log);
    ++written;
  }
  if (done == 0) base::fail("{}: none of its {} runs is done yet", study_folder.string(), plan.runs.size());
  // A report on the logs of a race needs its looks too.
  copy_if_there(study_folder / report::kRaceFile, out / report::kRaceFile);
  fmt::print("{} of {} runs are done; their logs are in {} ({} new)\n", done, plan.runs.size(), out.string(),
             written);
  if (without > 0) {
    fmt::print(stderr,
               "longtail: {} of these logs are without their predictions; remove the folder of the run and "
               "give `longtail study run --out {}` to make them again\n",
               without, study_folder.string());
  }
}

}  // namespace

void add_study_collect(App& app) {
  App* command =
      app.add_subcommand("collect", "Copy the logs of the finished runs into a folder, to share or commit");
  struct Options {
    std::string folder;
    std::string out;
  };
  const auto options = std::make_shared<Options>();
  command->add_option("DIR", options->folder, "Folder of the study")->required();
  command->add_option("--out", options->out, "Where to; one file per run")->required();
  command->footer(
      "Example:\n  longtail study collect out/paper --out results/paper\n"
      "  longtail report results/paper");
  command->callback([options] { collect(options->folder, options->out); });
}

}  // namespace longtail::cli
