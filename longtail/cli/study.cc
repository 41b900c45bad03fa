// longtail study: runs a grid of runs that always finishes.
#include "longtail/cli/study.h"

#include <filesystem>

#include "longtail/base/error.h"
#include "longtail/cli/commands.h"

namespace longtail::cli {

study::StudyFile StudyFlags::read() const {
  study::StudyFile study = study::read_study(file);
  for (const std::string& change : changes) study::override_setting(study, change);
  return study;
}

void add_study_flags(App& app, StudyFlags& flags, bool file_required) {
  app.add_option("FILE", flags.file, "The study, a TOML file; studies/ has some")->required(file_required);
  app.add_option("--data", flags.data, "Folder with the files of the data set")->may_be_empty();
  app.add_option(
         "--set", flags.changes,
         "Change the study: section.key=value, as in --set train.epochs=20 or --set grid.seed=[1,2]; may be "
         "repeated")
      ->type_name("KEY=VALUE")
      ->expected(1)
      ->take_all();
}

std::string own_program() {
  std::error_code error;
  const auto path = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) base::fail("cannot find this program: {}", error.message());
  return path.string();
}

void add_study(App& app) {
  App* command = app.add_subcommand("study", "Run a grid of trainings: resumable, in parallel, on a cluster");
  command->require_subcommand(1);
  command->footer(
      "A study is a TOML file; running it is idempotent: stop it, add a seed, add a machine, then give the "
      "same\n"
      "command again, and only what is missing is done. Example:\n"
      "  longtail study check studies/paper.toml\n"
      "  longtail study run studies/paper.toml --out out/paper --data data\n"
      "  longtail study status out/paper\n"
      "  longtail study watch out/paper --serve\n"
      "docs/studies.md tells more, docs/cluster.md about Slurm.");
  add_study_check(*command);
  add_study_run(*command);
  add_study_status(*command);
  add_study_watch(*command);
  add_study_collect(*command);
  add_study_submit(*command);
  add_study_cancel(*command);
  add_study_work(*command);
}

}  // namespace longtail::cli
