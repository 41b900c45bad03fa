// longtail rebalance: rebuilds the classifier of a trained run; its features stay frozen.
#include <memory>

#include "longtail/base/error.h"
#include "longtail/cli/commands.h"
#include "longtail/cli/param_flags.h"
#include "longtail/cli/recorded_data.h"
#include "longtail/cli/run_words.h"
#include "longtail/train/rebalance.h"
#include "longtail/train/rebalance_method.h"

namespace longtail::cli {
namespace {

struct RebalanceArguments {
  train::RunConfig where;  // only data, threads and rebalance
  std::string run;
  std::string out;
  bool quiet = false;
};

void run(const RebalanceArguments& arguments) {
  // The new run keeps the name of the old run's data set, wherever the data are read from now.
  const auto load = [&](train::RunConfig config) {
    place_data(config, arguments.run, arguments.where.data);
    data::Dataset dataset = train::read_run_dataset(config);
    refuse_other_data(train::read_state(arguments.run), dataset, arguments.run);
    return dataset;
  };
  show_run(arguments.out, arguments.quiet, [&](train::RunOptions options) {
    options.load = load;
    return train::rebalance(arguments.run, arguments.where, options);
  });
}

std::string methods_text() {
  std::string text = "METHOD is one of\n";
  for (const base::VariantInfo& info : train::rebalance_methods()) {
    text += fmt::format("  {:<13} {}\n", info.name, info.help);
    for (const base::ParamInfo& param : info.parameters)
      text += fmt::format("  {:<13}   {} = {}: {}\n", "", param.name, param.initial, param.help);
  }
  return text;
}

}  // namespace

void add_rebalance(App& app) {
  App* command = app.add_subcommand("rebalance", "Rebuild the classifier of a trained run, for rare classes");
  const auto arguments = std::make_shared<RebalanceArguments>();
  command->add_option("RUN", arguments->run, "Folder of a finished run; it stays as it is")->required();
  command->add_option("--method", arguments->where.rebalance, "What to do; a parameter follows a colon")
      ->required()
      ->check(Check(
          [](const std::string& text) -> std::string {
            try {
              train::make_rebalance_method(text);
            } catch (const base::Error& error) {
              return error.what();
            }
            return "";
          },
          "METHOD"));
  add_param_flags(*command, train::run_params(), arguments->where, {"data", "threads"});
  command
      ->add_option("--out", arguments->out,
                   "Folder of the new run; the same command again resumes where it stopped")
      ->required()
      ->type_name("RUN2");
  command->add_flag("--quiet", arguments->quiet, "Print errors only");
  command->footer(
      methods_text() +
      "Examples:\n"
      "  longtail rebalance runs/uniform-42 --method crt --out runs/crt-42\n"
      "  longtail rebalance runs/uniform-42 --method tau_norm:tau=0.7 --out runs/tau-42\n"
      "RUN2 is a run like any other: predict, export, evaluate, report and compare read it. The network\n"
      "after the last epoch of RUN is taken. Tau is never chosen on the test set; the best epoch of crt and\n"
      "lws is chosen as that of RUN was. docs/remedies.md has the formulas.\n"
      "--data says where the data are now, also of pictures in a folder that was moved (folder:DIR).");
  command->callback([arguments] { run(*arguments); });
}

}  // namespace longtail::cli
