// longtail evaluate: computes the final tables of a run again from its checkpoint.
#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <memory>

#include "longtail/base/file.h"
#include "longtail/base/threads.h"
#include "longtail/cli/commands.h"
#include "longtail/cli/param_flags.h"
#include "longtail/cli/recorded_data.h"
#include "longtail/cli/run_words.h"
#include "longtail/train/checkpoint.h"
#include "longtail/train/evaluate.h"
#include "longtail/train/rebalance_method.h"
#include "longtail/train/run.h"

namespace longtail::cli {
namespace {

constexpr int kBatch = 128;

struct EvaluateArguments {
  train::RunConfig where;  // only data, threads and engine
  std::string run;
  bool classes = false;
};

// The log, with the results measured again on the networks of the checkpoint.
train::RunLog measured(const train::Checkpoint& state, const train::RunConfig& config,
                       const std::string& run) {
  const auto data = train::load_run_dataset(config);
  refuse_other_data(state, *data, run);
  base::ThreadPool pool(config.threads == 0 ? base::available_cpus() : config.threads);
  const auto engine = nn::make_engine(config.engine, state.spec(), kBatch, pool);
  const auto groups = data::Groups::parse(state.log->groups).of(state.log->class_counts);
  train::RunLog log = *state.log;
  const std::vector<std::int32_t> rows = train::learnable_rows(data->test, state.log->class_counts);
  const train::EvaluationSet test{*data, data->test, rows, groups,
                                  train::logit_scale(train::config_from_map(state.config))};
  log.best = train::evaluate(*engine, state.best, test, kBatch).full(log.best_epoch);
  log.last = train::evaluate(*engine, state.network, test, kBatch).full(state.epochs_done - 1);
  return log;
}

// Compares the measured results with the log, or with the checkpoint's copy if there is no log.
void compare_with_log(const train::RunLog& log, const train::Checkpoint& state, const std::string& run) {
  const std::filesystem::path path = train::log_path(run);
  const bool there = base::present(path);
  const train::RunLog said = there ? train::read_log(path) : *state.log;
  const char* what = there ? "The log of the run" : "The copy of the log in the checkpoint";
  if (!there) fmt::print("There is no {}; resuming the run writes it again.\n", path.string());
  if (train::log_text(log) == train::log_text(said)) {
    fmt::print("{} says the same, to the last digit.\n", what);
    return;
  }
  if (train::log_text(said) != train::log_text(*state.log)) {
    fmt::print(
        "{} is not the log of this checkpoint: one of them was changed, or the run was stopped between the "
        "two; resuming it writes the log again.\n",
        path.string());
  }
  const double moved = log.last.accuracy.overall - said.last.accuracy.overall;
  fmt::print("{}, made with engine {}, differs by {:+.2f} points of overall accuracy at the last epoch.\n",
             what, said.fingerprint.engine, moved);
}

void run(const EvaluateArguments& arguments, bool engine_given) {
  const train::Checkpoint state = train::read_state(arguments.run);
  train::RunConfig config = train::config_from_map(state.config);
  place_data(config, arguments.run, arguments.where.data);
  config.threads = arguments.where.threads;
  if (engine_given) config.engine = nn::resolve_engine(arguments.where.engine, state.spec());
  const train::RunLog log = measured(state, config, arguments.run);
  fmt::print("{}: {}, rho {}, seed {}, {} of {} epochs, engine {}\n", arguments.run, log.strategy, log.rho,
             log.seed, state.epochs_done, train::logged_epochs(config), config.engine);
  fmt::print("{}", result_table(log));
  if (arguments.classes) fmt::print("\n{}", class_table(log));
  std::fflush(stdout);  // before an error about an unreadable log
  compare_with_log(log, state, arguments.run);
}

}  // namespace

void add_evaluate(App& app) {
  App* command = app.add_subcommand("evaluate", "Measure a trained run again and print its tables");
  const auto arguments = std::make_shared<EvaluateArguments>();
  command->add_option("RUN", arguments->run, "Folder of the run")->required();
  add_param_flags(*command, train::run_params(), arguments->where, {"data", "threads", "engine"});
  command->add_flag("--classes", arguments->classes, "Also the accuracy of each class");
  command->footer(
      "Example:\n"
      "  longtail evaluate runs/progressive-42 --data cifar-100-python\n"
      "--data says where the data are now, also of pictures in a folder that was moved (folder:DIR).\n"
      "Without --engine the one that the run was trained with is used.");
  command->callback([arguments, command] { run(*arguments, command->count("--engine") > 0); });
}

}  // namespace longtail::cli
