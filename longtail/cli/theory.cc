// longtail theory: what can be predicted for each strategy from the class sizes alone.
#include <fmt/format.h>

#include <memory>
#include <numeric>
#include <set>

#include "longtail/base/error.h"
#include "longtail/base/file.h"
#include "longtail/cli/class_counts.h"
#include "longtail/cli/commands.h"
#include "longtail/cli/param_flags.h"
#include "longtail/cli/strategy_check.h"
#include "longtail/cli/theory_words.h"
#include "longtail/data/subset.h"
#include "longtail/report/results.h"
#include "longtail/sampling/shown.h"

namespace longtail::cli {
namespace {

namespace fs = std::filesystem;

struct TheoryOptions {
  LabelSource source;
  data::SubsetConfig subset;
  std::string counts_file;
  std::vector<std::string> strategies = sampling::paper_strategies();
  int epochs = 200;
  std::vector<int> shown_epochs;
  std::int64_t seed = 42;
  theory::Assumptions assumptions;
  std::vector<std::string> logs;
  bool json = false;
  std::string out;
  std::string format = "pdf";
};

// The epochs that a table shows: one for a strategy that does not change; otherwise the first, that of the
// paper's first learning-rate decay (80%) and the last, some of which may coincide.
std::set<int> epochs_to_show(const sampling::Strategy& strategy, std::span<const std::int64_t> counts,
                             const TheoryOptions& options) {
  if (!options.shown_epochs.empty()) return {options.shown_epochs.begin(), options.shown_epochs.end()};
  const int last = options.epochs - 1;
  const auto first = strategy.probabilities(counts, {0, options.epochs});
  if (first == strategy.probabilities(counts, {last, options.epochs})) return {0};
  return {0, options.epochs * 8 / 10, last};
}

// Reads logs as `longtail report` does: runs of a study, a folder of logs, or single logs.
report::Results read_logs(const std::vector<std::string>& paths) {
  const std::vector<fs::path> places(paths.begin(), paths.end());
  report::Results results = report::read_results(places);
  for (const std::string& warning : results.warnings) fmt::print(stderr, "warning: {}\n", warning);
  return results;
}

void check_theory(const TheoryOptions& options) {
  if (options.assumptions.sigma2 == 0 && options.assumptions.norm2 == 0) {
    base::fail<base::UsageError>(
        "with --sigma2 0 and --norm2 0 every gradient is 0 and there is nothing to compare; give one of them "
        "a value above 0");
  }
  for (const int epoch : options.shown_epochs) {
    if (epoch < 0 || epoch >= options.epochs) {
      base::fail<base::UsageError>("epoch {} is not in a training of {} epochs, which are 0 ... {}", epoch,
                                   options.epochs, options.epochs - 1);
    }
  }
}

TheoryReport make_report(const TheoryOptions& options) {
  check_theory(options);
  TheoryReport report;
  if (options.counts_file.empty()) {
    if (options.subset.profile == "counts")
      base::fail<base::UsageError>("the profile `counts` needs the images of each class; give --counts FILE");
    report.counts =
        data::profile_counts(options.subset, available_classes(options.source).counts, options.seed);
    report.title = fmt::format("{}, profile {}", options.source.name(), options.subset.profile);
    if (data::takes_ratio(options.subset)) report.title += fmt::format(", rho {:g}", options.subset.rho);
  } else {
    report.counts = read_counts(options.counts_file);
    report.title = options.counts_file;
  }
  if (const auto images = std::accumulate(report.counts.begin(), report.counts.end(), std::int64_t{0});
      options.assumptions.batch > images) {
    base::fail<base::UsageError>(
        "a batch of {} is larger than an epoch of {} draws; give a smaller --batch-size",
        options.assumptions.batch, images);
  }
  report.groups = data::Groups::parse(options.subset.groups).decided(report.counts);
  report.epochs = options.epochs;
  report.assumptions = options.assumptions;
  for (const std::string& text : options.strategies) {
    const auto strategy = sampling::make_strategy(text);
    sampling::refuse_feedback(*strategy);
    sampling::refuse_late_change("strategy", strategy->name(), strategy->deferral(options.epochs),
                                 options.epochs);
    for (const int epoch : epochs_to_show(*strategy, report.counts, options)) {
      report.shown.push_back(
          forecast(*strategy, report.counts, {epoch, options.epochs}, options.assumptions));
    }
    std::vector<theory::Forecast> course;
    course.reserve(static_cast<std::size_t>(options.epochs));
    for (int epoch = 0; epoch < options.epochs; ++epoch) {
      course.push_back(forecast(*strategy, report.counts, {epoch, options.epochs}, options.assumptions));
    }
    report.courses.push_back(std::move(course));
    report.exposures.push_back(theory::exposure(*strategy, report.counts, options.epochs,
                                                options.assumptions.batch,
                                                static_cast<std::uint64_t>(options.seed)));
  }
  report.summary = theory::summarise(options.strategies, report.counts, options.epochs, report.groups);
  if (!options.logs.empty()) report.predictions = report::judge_predictions(read_logs(options.logs));
  return report;
}

void run_theory(const TheoryOptions& options) {
  const TheoryReport report = make_report(options);
  if (options.json) {
    fmt::print("{}", theory_json(report));
  } else {
    fmt::print("{}", theory_text(report));
  }
  if (options.out.empty()) return;
  const fs::path folder = options.out;
  base::make_folder(folder);
  base::write_atomically(folder / "theory.json", std::string_view(theory_json(report)));
  for (const fs::path& path : draw_theory(report, folder, options.format))
    fmt::print(stderr, "wrote {}\n", path.string());
}

}  // namespace

void add_theory(App& app) {
  static const auto table = data::subset_params();
  auto options = std::make_shared<TheoryOptions>();
  App* command = app.add_subcommand("theory",
                                    "Say what the class sizes alone tell: class weights, bias and variance "
                                    "of the gradient by both formulas");
  command->footer(
      "Examples:\n"
      "  longtail theory --dataset cifar100 --rho 100\n"
      "  longtail theory --counts sizes.txt --strategies uniform power:q=0.25 --epochs 90 --batch-size 256\n"
      "  longtail theory --rho 100 --json | jq '.summary'\n"
      "  longtail theory --rho 100 --out figures --format svg\n"
      "  longtail theory --logs runs/        also puts the paper's three predictions to runs\n"
      "`longtail probe` measures on a trained network what this forecasts.");
  options->source.add_flags(*command);
  command
      ->add_option("--counts", options->counts_file,
                   "Instead of a data set: images of each class, one number per line.")
      ->excludes("--labels");
  add_param_flags(*command, table, options->subset, {"profile", "rho", "n_max", "groups"});
  command
      ->add_option("--strategies", options->strategies,
                   "The strategies, separated by spaces. [the paper's four]")
      ->check(strategy_check());
  command->add_option("--epochs", options->epochs, "Epochs of the training. [200]")->check(Range(1, 100000));
  command->add_option("--epoch", options->shown_epochs, "Epochs that the tables show. [the telling ones]")
      ->delimiter(',');
  command->add_option("--batch-size", options->assumptions.batch, "Images in a mini-batch. [128]")
      ->check(Range(1, 1 << 20));
  command->add_option("--seed", options->seed, "Seed of the index streams that draws are counted in. [42]");
  command->add_option("--sigma2", options->assumptions.sigma2, "Variance of gradients within a class. [1]")
      ->check(NonNegativeNumber);
  command->add_option("--norm2", options->assumptions.norm2, "Squared length of a class's mean gradient. [1]")
      ->check(NonNegativeNumber);
  command->add_option("--logs", options->logs,
                      "Run logs, folders of them or of studies: puts the paper's predictions to them.");
  command->add_flag("--json", options->json, "Prints everything as JSON, all classes and epochs.");
  command->add_option("--out", options->out, "Folder for theory.json and the figures (needs gnuplot).");
  command->add_option("--format", options->format, "Of the figures: pdf, svg or png. [pdf]")
      ->check(IsMember({"pdf", "svg", "png"}));
  command->callback([options, command] {
    if (options->counts_file.empty()) {
      decide_subset(*command, options->source, options->subset);
    } else {
      refuse_beside_counts(*command,
                           {"--dataset", "--data", "--skip-unreadable", "--profile", "--rho", "--n-max"});
      options->subset = data::decided(options->subset, "");  // as for the user's own data
    }
    run_theory(*options);
  });
}

}  // namespace longtail::cli
