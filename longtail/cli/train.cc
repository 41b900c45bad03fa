// longtail train: one run, from the data to its log.
#include <memory>

#include "longtail/cli/commands.h"
#include "longtail/cli/param_flags.h"
#include "longtail/cli/run_words.h"
#include "longtail/data/registry.h"
#include "longtail/train/run.h"

namespace longtail::cli {
namespace {

struct TrainArguments {
  train::RunConfig config;
  std::string out;
  bool quiet = false;
};

void run(const TrainArguments& arguments) {
  show_run(arguments.out, arguments.quiet,
           [&](const train::RunOptions& options) { return train::run_training(arguments.config, options); });
}

}  // namespace

void add_train(App& app) {
  App* command = app.add_subcommand("train", "Train one network under one sampling strategy");
  const auto arguments = std::make_shared<TrainArguments>();
  add_param_flags(*command, train::run_params(), arguments->config);
  command
      ->add_option("--out", arguments->out,
                   "Folder of the run; the same command again resumes where it stopped")
      ->required()
      ->type_name("RUN");
  command->add_flag("--quiet", arguments->quiet, "Print errors only");
  command->footer(
      "Example, a run of the paper:\n"
      "  longtail train --data cifar-100-python --rho 100 --strategy progressive --seed 42 --out "
      "runs/progressive-42\n"
      "RUN/log.json then has the results. Ctrl-C stops after the current step and exits with 130.");
  command->callback([arguments, command] {
    const train::RunConfig& config = arguments->config;
    data::refuse_idle_cut(data::decided(config.subset, config.dataset), config.dataset,
                          command->count("--rho") > 0);
    data::refuse_idle_dir(config.dataset, config.data);
    run(*arguments);
  });
}

}  // namespace longtail::cli
