// longtail probe: measures the bias and variance of the gradient on a network.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <memory>

#include "longtail/base/error.h"
#include "longtail/base/file.h"
#include "longtail/base/text.h"
#include "longtail/cli/commands.h"
#include "longtail/cli/interrupt.h"
#include "longtail/cli/param_flags.h"
#include "longtail/cli/probe_words.h"
#include "longtail/cli/recorded_data.h"
#include "longtail/cli/strategy_check.h"
#include "longtail/data/registry.h"
#include "longtail/nn/init.h"
#include "longtail/train/checkpoint.h"
#include "longtail/train/hold_out.h"
#include "longtail/train/run.h"

namespace longtail::cli {
namespace {

namespace fs = std::filesystem;

struct ProbeOptions {
  std::string run;
  train::RunConfig config;  // without a run: all flags; with one: only where and how to run
  std::vector<std::string> epochs;
  theory::ProbePlan plan;
  bool json = false;
  std::string out;
  std::string format = "pdf";
};

// The flags that define a fresh network and its subset; a run has its own values.
const std::vector<std::string> kFreshFlags = {
    "dataset",      "skip_unreadable", "profile",  "rho",  "n_max", "counts_file", "class_order", "groups",
    "val_fraction", "model",           "shortcut", "seed", "loss",  "epochs",      "batch_size"};
const std::vector<std::string> kEitherFlags = {"engine", "data", "threads"};

// A network to probe, and how many epochs it was trained.
struct Stop {
  int epochs_done = 0;
  theory::NetworkState network;
};

// `state` is the checkpoint of the run, null without a run.
train::RunConfig config_of(const ProbeOptions& options, const train::Checkpoint* state) {
  if (!state) {
    data::refuse_idle_dir(options.config.dataset, options.config.data);
    return train::resolved(options.config);
  }
  train::RunConfig config = train::config_from_map(state->config);
  place_data(config, options.run, options.config.data);
  config.threads = options.config.threads;
  if (options.config.engine != "auto") config.engine = options.config.engine;
  return train::resolved(config);
}

std::vector<int> kept_epochs(const fs::path& run) {
  std::vector<int> epochs;
  const fs::path folder = train::kept_path(run, 0).parent_path();
  if (!fs::is_directory(folder)) return epochs;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const auto number = base::parse_integer(entry.path().stem().string());
    if (number && entry.path().extension() == ".ckpt") epochs.push_back(static_cast<int>(*number));
  }
  std::sort(epochs.begin(), epochs.end());
  return epochs;
}

std::string kept_words(const std::vector<int>& kept) {
  std::vector<std::string> words;
  words.reserve(kept.size());
  for (const int epoch : kept) words.push_back(std::to_string(epoch));
  return words.empty() ? "none" : base::join(words, ", ");
}

Stop fresh(const train::RunConfig& config, const nn::ResNetSpec& spec) {
  return {0, {nn::initial_parameters(spec, config.seed), nn::initial_buffers(spec)}};
}

Stop read_stop(const fs::path& run, const train::Checkpoint& state, const std::string& text) {
  const auto number = base::parse_integer(text);
  if (text == "last" || (number && *number == state.epochs_done)) return {state.epochs_done, state.network};
  const fs::path path = train::kept_path(run, static_cast<int>(*number));
  if (!fs::exists(path)) {
    base::fail(
        "{} has no network after {} epochs: kept are {}, and the last has {}; train it again in another "
        "folder with --keep-epochs {}",
        run.string(), text, kept_words(kept_epochs(run)), state.epochs_done, text);
  }
  train::Checkpoint kept = train::read_checkpoint(path);
  if (kept.config != state.config || kept.epochs_done != *number || !(kept.spec() == state.spec())) {
    base::fail(
        "{} is no network of the run in {}: another training has left it there; move it away, or leave "
        "--epoch {} out",
        path.string(), run.string(), text);
  }
  return {static_cast<int>(*number), std::move(kept.network)};
}

std::vector<std::string> epochs_to_probe(const ProbeOptions& options) {
  if (options.epochs == std::vector<std::string>{"all"} && !options.run.empty()) {
    std::vector<std::string> epochs;
    for (const int epoch : kept_epochs(options.run)) epochs.push_back(std::to_string(epoch));
    if (epochs.empty()) {
      base::fail(
          "{} kept no checkpoints; train it again in another folder with --keep-epochs 0,50,100, or leave "
          "--epoch out",
          options.run);
    }
    return epochs;
  }
  for (const std::string& text : options.epochs) {
    const auto number = base::parse_integer(text);
    if (text != "last" && (!number || *number < 0 || *number > 1'000'000)) {
      base::fail<base::UsageError>("--epoch `{}`: write the number of epochs done, `last` or `all`", text);
    }
    if (options.run.empty() && text != "0") {
      base::fail<base::UsageError>("--epoch {} needs a run; without one the initial network is probed", text);
    }
  }
  if (options.run.empty()) return {"0"};
  return options.epochs.empty() ? std::vector<std::string>{"last"} : options.epochs;
}

// Prints the stages to standard error: one line that is redrawn on a terminal, otherwise one line per stage.
theory::OnStage stage_printer() {
  const bool terminal = isatty(STDERR_FILENO) != 0;
  return [terminal](const std::string& stage, std::int64_t done, std::int64_t total) {
    if (interrupted()) base::fail<base::Interrupted>("interrupted; nothing was written");
    if (terminal) {
      fmt::print(stderr, "\r\x1b[K{} {}/{}", stage, base::with_commas(done), base::with_commas(total));
      if (done == total) fmt::print(stderr, "\r\x1b[K");
    } else if (done == total) {
      fmt::print(stderr, "{}: {}\n", stage, base::with_commas(total));
    }
  };
}

void check_strategies(const std::vector<std::string>& texts, int epochs) {
  for (const std::string& text : texts) {
    const auto strategy = sampling::make_strategy(text);
    sampling::refuse_feedback(*strategy);
    sampling::refuse_late_change("strategy", strategy->name(), strategy->deferral(epochs), epochs);
  }
}

ProbeReport make_report(const ProbeOptions& options) {
  const std::vector<std::string> epochs = epochs_to_probe(options);
  std::unique_ptr<const train::Checkpoint> state;  // of the run
  if (!options.run.empty()) state = std::make_unique<const train::Checkpoint>(train::read_state(options.run));
  const train::RunConfig config = config_of(options, state.get());
  check_strategies(options.plan.strategies, config.epochs);
  const data::Dataset dataset = *train::load_run_dataset(config);
  // Everything below takes the classes, the subset and the shapes of the network from the data.
  if (state) refuse_other_data(*state, dataset, options.run);
  data::Subset subset =
      data::make_subset(config.subset, dataset.train.labels, dataset.classes(), config.seed);
  // Groups count all images of a class, including held-out ones, as in the log of the run.
  const std::vector<data::Group> groups = data::Groups::parse(config.subset.groups).of(subset.counts);
  const double fraction = train::decided_fraction(config.val_fraction, subset.counts, groups);
  if (fraction > 0) subset = train::hold_out(subset, fraction, config.seed).training;
  const nn::ResNetSpec spec = train::network_of(config, dataset.classes(), dataset.channels);
  base::ThreadPool pool(config.threads > 0 ? config.threads : base::available_cpus());
  const auto engine = nn::make_engine(config.engine, spec, config.batch_size, pool);
  const auto loss = nn::make_loss(config.loss, subset.counts);

  ProbeReport report;
  report.title =
      options.run.empty()
          ? fmt::format("fresh {} on {}, {}, seed {}", config.model, config.dataset,
                        data::severity(config.subset), config.seed)
          : fmt::format("{}: {} on {}, {}, seed {}, trained with {}", options.run, config.model,
                        config.dataset, data::severity(config.subset), config.seed, config.strategy);
  report.engine = engine->name();
  report.groups = config.subset.groups;
  report.group_of = groups;
  report.batch = config.batch_size;
  std::vector<Stop> stops;  // all are loaded before the first is measured, which takes minutes
  stops.reserve(epochs.size());
  for (const std::string& text : epochs)
    stops.push_back(text == "0" ? fresh(config, spec) : read_stop(options.run, *state, text));
  for (Stop& stop : stops) {
    const sampling::Situation situation{std::min(stop.epochs_done, config.epochs - 1), config.epochs};
    theory::GradientMeter meter(*engine, dataset, subset, loss->at(situation), config.batch_size, pool);
    if (stop.epochs_done == 0) meter.settle(stop.network, static_cast<std::uint64_t>(config.seed));
    theory::ProbePlan plan = options.plan;
    plan.batch = config.batch_size;
    plan.seed = static_cast<std::uint64_t>(config.seed);
    plan.situation = situation;
    report.results.push_back(theory::probe(meter, stop.network, subset, groups, plan, stage_printer()));
    report.results.back().epoch = stop.epochs_done;
  }
  return report;
}

void refuse_fresh_flags(const App& command, const std::string& run) {
  for (const std::string& name : kFreshFlags) {
    const std::string flag = train::run_params().find(name)->info.flag();
    if (command.get_option(flag)->count() > 0) {
      base::fail<base::UsageError>("{} is what {} was trained with; leave it out, or leave the run out", flag,
                                   run);
    }
  }
}

void run_probe(const ProbeOptions& options) {
  catch_interrupts();
  const ProbeReport report = make_report(options);
  fmt::print("{}", options.json ? probe_json(report) : probe_text(report));
  if (options.out.empty()) return;
  const fs::path folder = options.out;
  base::make_folder(folder);
  base::write_atomically(folder / "probe.json", std::string_view(probe_json(report)));
  for (const fs::path& path : draw_probe(report, folder, options.format))
    fmt::print(stderr, "wrote {}\n", path.string());
}

}  // namespace

void add_probe(App& app) {
  auto options = std::make_shared<ProbeOptions>();
  App* command = app.add_subcommand(
      "probe",
      "Measure bias and variance of the gradient of every strategy on a network, and check the formulas");
  command->footer(
      "Takes the gradient of every image of the training subset (batch-norm statistics frozen, no "
      "augmentation), and from\n"
      "the class means and variances the exact bias and variance of every strategy; real mini-batches check "
      "them.\n"
      "Examples:\n"
      "  longtail probe --rho 100                    the initial network of seed 42 on cifar100\n"
      "  longtail probe runs/uniform-42              after the last epoch of a run\n"
      "  longtail probe runs/uniform-42 --epoch 0,50,100,160 --out probe\n"
      "  longtail probe runs/uniform-42 --epoch all  every network kept by `longtail train --keep-epochs`\n"
      "  longtail probe runs/uniform-42 --batches 0 --training-batches 0    the formulas only");
  command->add_option("RUN", options->run,
                      "Folder of a run; without it the initial network of the flags below.");
  command->add_option("--epoch", options->epochs, "Epochs done: numbers, `last` or `all` (kept). [last]")
      ->delimiter(',');
  command
      ->add_option("--strategies", options->plan.strategies,
                   "The strategies, separated by spaces. [the paper's four]")
      ->check(strategy_check());
  command
      ->add_option("--batches", options->plan.batches, "Real mini-batches of each strategy; 0: none. [400]")
      ->check(Range(0, 1'000'000));
  command
      ->add_option("--training-batches", options->plan.training_batches,
                   "The same with batch norm in training mode; 0: none. [100]")
      ->check(Range(0, 1'000'000));
  command->add_flag("--json", options->json, "Prints everything as JSON.");
  command->add_option("--out", options->out, "Folder for probe.json and the figures (needs gnuplot).");
  command->add_option("--format", options->format, "Of the figures: pdf, svg or png. [pdf]")
      ->check(IsMember({"pdf", "svg", "png"}));
  add_param_flags(*command, train::run_params(), options->config, kEitherFlags);
  add_param_flags(*command, train::run_params(), options->config, kFreshFlags);
  command->callback([options, command] {
    if (!options->run.empty()) refuse_fresh_flags(*command, options->run);
    const train::RunConfig& config = options->config;
    data::refuse_idle_cut(data::decided(config.subset, config.dataset), config.dataset,
                          command->count("--rho") > 0);
    run_probe(*options);
  });
}

}  // namespace longtail::cli
