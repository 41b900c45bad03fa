// longtail recommend: from a folder of pictures to a recommended strategy, with its evidence and a network.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <numeric>

#include "longtail/base/error.h"
#include "longtail/base/file.h"
#include "longtail/base/text.h"
#include "longtail/base/threads.h"
#include "longtail/cli/commands.h"
#include "longtail/cli/param_flags.h"
#include "longtail/cli/recommend_race.h"
#include "longtail/cli/recommend_words.h"
#include "longtail/data/groups.h"
#include "longtail/data/install.h"
#include "longtail/data/registry.h"
#include "longtail/report/report.h"
#include "longtail/sampling/strategy.h"
#include "longtail/study/estimate.h"
#include "longtail/study/selection.h"
#include "longtail/train/run.h"

namespace longtail::cli {
namespace {

namespace fs = std::filesystem;

constexpr int kPictureWidth = 90;

struct RecommendArguments {
  std::string pictures;
  std::string time = "2h";
  std::string goal = "balanced";
  std::string out;
  std::vector<std::string> strategies = {"uniform", "square_root", "class_balanced", "progressive"};
  train::RunConfig config;
  bool model_given = false, epochs_given = false, batch_given = false;
};

std::vector<std::string> canonical(const std::vector<std::string>& strategies) {
  std::vector<std::string> names;
  for (const std::string& text : strategies) {
    names.push_back(sampling::canonical_strategy(text));
    if (std::count(names.begin(), names.end(), names.back()) > 1)
      base::fail<base::UsageError>("--strategies has `{}` twice", names.back());
  }
  if (names.size() < 2)
    base::fail<base::UsageError>("one strategy is no choice; give --strategies two or more");
  return names;
}

// A folder is given as it is; anything else is the name of a data set.
bool is_folder(const std::string& pictures) {
  std::error_code ignored;
  return fs::is_directory(pictures, ignored);
}

fs::path default_out(const std::string& pictures) {
  if (!is_folder(pictures)) return "recommend-" + pictures.substr(pictures.rfind('/') + 1);
  const fs::path folder = fs::absolute(pictures).lexically_normal();
  return "recommend-" + (folder.has_filename() ? folder : folder.parent_path()).filename().string();
}

// Looks at the data and shows it. Pictures are kept as arrays in the folder, so that no run has to read them
// again.
std::vector<std::int64_t> look_at_data(const RecommendArguments& arguments, const fs::path& out,
                                       train::RunConfig& config) {
  const bool folder = is_folder(arguments.pictures);
  const std::string name = folder ? "folder:" + arguments.pictures : arguments.pictures;
  config.dataset = folder ? "pictures" : arguments.pictures;
  const data::Dataset data = data::load_dataset(name, config.data, train::picture_options(config));
  const data::SubsetConfig subset = data::decided(config.subset, config.dataset);
  const auto counts = data::profile_counts(subset, data::count_labels(data.train.labels, data.classes()), 1);
  fmt::print("{}\n\n{}\n", class_words(counts), class_picture(counts, data.class_names, kPictureWidth));
  for (const std::string& remark : data.remarks) fmt::print("{}\n", remark);
  if (data.picture_side > data.side) {
    fmt::print(
        "Pictures are averaged down to {0}x{0} pixels (half of them are larger than {1} at the shorter "
        "side); "
        "the answer is about pictures of that size.\n",
        data.side, data.picture_side);
  }
  if (counts.size() < 2) base::fail("{} has one class only; there is nothing to choose", arguments.pictures);
  if (folder) {
    config.data = (out / "data").string();
    base::make_folder(config.data);
    data::import_own(config.dataset, data, config.data, {});
  }
  return counts;
}

study::Run trial_run(const train::RunConfig& config, const std::string& model) {
  train::RunConfig trial = config;
  trial.model = model;
  trial.epochs = 1;
  trial.milestones.clear();
  return study::make_run(trial);
}

void check_goal(report::Goal goal, const train::RunConfig& config, const std::vector<std::int64_t>& counts) {
  if (goal != report::Goal::kTail) return;
  const auto groups = data::Groups::parse(data::decided(config.subset, config.dataset).groups);
  if (groups.trained_sizes(counts)[2] == 0)
    base::fail<base::UsageError>(
        "the goal is the tail, but no class is in it; choose another --goal or --groups");
}

// Decides model, epochs and batch size from a measurement of this machine.
RecommendPlan make_plan(const RecommendArguments& arguments, const fs::path& out, double seconds) {
  RecommendPlan plan;
  plan.pictures = arguments.pictures;
  plan.strategies = canonical(arguments.strategies);
  plan.config = arguments.config;
  train::RunConfig& config = plan.config;
  const std::vector<std::int64_t> counts = look_at_data(arguments, out, config);
  check_goal(report::parse_goal(arguments.goal), config, counts);
  PlanFacts facts;
  facts.images = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
  facts.strategies = static_cast<int>(plan.strategies.size());
  facts.cpus = base::available_cpus();
  facts.seconds = seconds;
  if (arguments.epochs_given) facts.epochs = config.epochs;
  if (arguments.model_given) facts.model = config.model;
  plan.jobs = planned_jobs(facts.strategies, facts.cpus);
  plan.threads = std::max(1, facts.cpus / plan.jobs);
  if (!arguments.batch_given) config.batch_size = planned_batch(facts.images);
  config.lr = 0.1 * config.batch_size / 128;
  config.select = "last";  // nothing chooses an epoch, so nothing flatters and no image is held out for it
  const std::vector<study::Run> trials = {trial_run(config, "resnet20"),
                                          trial_run(config, facts.model.value_or("resnet32"))};
  const auto sizes = study::run_sizes(trials, config.data);
  const study::Estimate speed = study::estimate(trials, sizes, plan.threads);
  facts.small_epoch = speed.seconds[0];
  facts.large_epoch = speed.seconds[1];
  const Effort effort = planned_effort(facts);
  config.model = effort.model;
  config.epochs = effort.epochs;
  config.warmup_epochs = std::clamp(effort.epochs / 10, 1, 5);
  config.milestones.clear();
  plan.run_seconds = effort.run_seconds;
  return plan;
}

void print_plan(const RecommendPlan& plan, double seconds) {
  fmt::print(
      "\nPlan: {} for {} epochs in batches of {}, under {}. A run takes about {} here (measured), {} at a "
      "time. Looks "
      "after 3, 5, 8 and 12 seeds; what is ruled out is dropped. At most {}.\n\n",
      plan.config.model, plan.config.epochs, plan.config.batch_size, base::join(plan.strategies, ", "),
      base::duration(plan.run_seconds), plan.jobs, base::duration(seconds));
  std::fflush(stdout);
}

// The plan that the folder has, or a new one.
RecommendPlan open_plan(const RecommendArguments& arguments, const fs::path& out, double seconds) {
  if (auto held = read_recommend_plan(out)) {
    if (held->pictures != arguments.pictures || held->strategies != canonical(arguments.strategies)) {
      base::fail<base::UsageError>("{} holds an answer about {} and {}; give another --out", out.string(),
                                   held->pictures, base::join(held->strategies, ", "));
    }
    if (is_folder(arguments.pictures)) {
      held->config.data = (out / "data").string();
    } else if (!arguments.config.data.empty()) {
      held->config.data = arguments.config.data;
    }
    fmt::print("Resuming the plan in {}.\n", out.string());
    print_plan(*held, seconds);
    return *held;
  }
  RecommendPlan plan = make_plan(arguments, out, seconds);
  print_plan(plan, seconds);
  write_plan(out, plan);
  return plan;
}

void write_report(const fs::path& out, report::Goal goal) {
  report::ReportOptions options;
  options.inputs = {out};
  options.out = out / "report";
  options.summary.goal = goal;
  options.summary.at = report::At::kLast;
  options.summary.looks = report::LookPlan{};  // the runs are those of a race, and the report says the same
  const report::Report made = report::make_report(options);
  for (const std::string& remark : report::write_report(made, options)) fmt::print("{}\n", remark);
  fmt::print("The report: {}\n", (options.out / "index.html").string());
}

void run(const RecommendArguments& arguments) {
  const double seconds = study::parse_duration(arguments.time);
  const report::Goal goal = report::parse_goal(arguments.goal);
  const fs::path out = arguments.out.empty() ? default_out(arguments.pictures) : fs::path(arguments.out);
  const RecommendPlan plan = open_plan(arguments, out, seconds);
  const RaceOutcome outcome = run_race(plan, goal, out, seconds, kTrainingShare);
  if (outcome.finished == 0) {
    base::fail<base::Interrupted>(
        "the time is up before any run was finished, so nothing can be said; the same command with more "
        "--time "
        "resumes");
  }
  fmt::print("\n{}\n\n", outcome.recommendation.sentence);
  if (outcome.time_up) fmt::print("The time is up. The same command with more --time resumes.\n");
  write_report(out, goal);
  if (!outcome.network.empty()) {
    fmt::print("The network{}: {}\n  longtail predict {} PICTURE...\n",
               outcome.recommendation.series ? ""
                                             : fmt::format(" ({}, since nothing can be recommended)",
                                                           report::series_words(outcome.network_strategy)),
               outcome.network.string(), outcome.network.string());
  }
}

}  // namespace

void add_recommend(App& app) {
  App* command =
      app.add_subcommand("recommend", "Find out which strategy to train with, on your own pictures");
  const auto arguments = std::make_shared<RecommendArguments>();
  command
      ->add_option("PICTURES", arguments->pictures,
                   "A folder with a folder of pictures for each class, or the name of a data set")
      ->required();
  command->add_option("--time", arguments->time, "Time for all of it: 30m, 2h, 1d")->capture_default_str();
  command
      ->add_option(
          "--goal", arguments->goal,
          "What best means: the mean of the classes' accuracies (balanced), of all pictures (overall), of "
          "the tail, or of the worst of head, medium and tail")
      ->check(IsMember({"balanced", "overall", "tail", "worst"}))
      ->capture_default_str();
  command->add_option("--out", arguments->out, "Folder for runs, report and network [recommend-NAME]")
      ->type_name("DIR");
  command->add_option("--strategies", arguments->strategies,
                      "The strategies to choose from, separated by spaces [the paper's four]");
  add_param_flags(*command, train::run_params(), arguments->config,
                  {"data", "fit", "skip_unreadable", "image_size", "profile", "rho", "groups", "model",
                   "epochs", "batch_size", "augment", "engine"});
  command->footer(
      "Example:\n"
      "  longtail recommend birds/ --time 2h --out answer\n"
      "  longtail predict answer/network photo.jpg\n"
      "Shows the class sizes, sets pictures aside for testing if there is no test part, plans what fits into "
      "the\n"
      "time, trains every strategy from several seeds, and drops those that are ruled out. It ends with a "
      "sentence,\n"
      "a report and a network. model, epochs and batch size are planned unless they are given. Killed or "
      "stopped,\n"
      "the same command resumes. docs/recommend.md tells more.");
  command->callback([arguments, command] {
    arguments->model_given = command->count("--model") > 0;
    arguments->epochs_given = command->count("--epochs") > 0;
    arguments->batch_given = command->count("--batch-size") > 0;
    if (command->count("--rho") > 0) {
      const std::string name = is_folder(arguments->pictures) ? "pictures" : arguments->pictures;
      data::refuse_idle_ratio(data::decided(arguments->config.subset, name), name);
    }
    run(*arguments);
  });
}

}  // namespace longtail::cli
