// longtail recommend: from a folder of pictures to a recommended strategy, with its evidence and a network.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <memory>
#include <numeric>
#include <optional>

#include "longtail/base/error.h"
#include "longtail/base/file.h"
#include "longtail/base/quote.h"
#include "longtail/base/terminal.h"
#include "longtail/base/text.h"
#include "longtail/base/threads.h"
#include "longtail/cli/commands.h"
#include "longtail/cli/param_flags.h"
#include "longtail/cli/recommend_candidates.h"
#include "longtail/cli/recommend_lock.h"
#include "longtail/cli/recommend_pictures.h"
#include "longtail/cli/recommend_race.h"
#include "longtail/cli/recommend_words.h"
#include "longtail/data/arrays.h"
#include "longtail/data/groups.h"
#include "longtail/data/install.h"
#include "longtail/data/registry.h"
#include "longtail/report/race.h"
#include "longtail/report/report.h"
#include "longtail/study/estimate.h"
#include "longtail/study/folder.h"
#include "longtail/study/selection.h"
#include "longtail/train/run.h"

namespace longtail::cli {
namespace {

namespace fs = std::filesystem;

constexpr int kPictureWidth = 90;
constexpr double kSlower = 0.8;  // larger images may take up to 1 / 0.8 of the estimated time

// The run parameters that can be given as flags; the others are planned or as in the paper.
const std::vector<std::string>& plan_params() {
  static const std::vector<std::string> names = {
      "data",   "fit",   "skip_unreadable", "image_size", "profile", "counts_file", "rho",
      "groups", "model", "epochs",          "batch_size", "augment", "engine"};
  return names;
}

struct RecommendArguments {
  std::string pictures;
  std::string time = "2h";
  std::string goal;  // empty: the goal of the folder, or else balanced
  std::string out;
  std::vector<std::string> strategies = default_candidates();
  train::RunConfig config;
  bool model_given = false, epochs_given = false, batch_given = false, size_given = false;
  bool strategies_given = false, time_given = false;
  std::vector<std::string> given;  // names of the parameters that were given
};

// The data as it was found.
struct Found {
  data::Dataset data;
  std::vector<std::int64_t> counts;  // training images per class
  std::vector<std::int64_t> tested;  // test images per class
};

// Loads the data and prints an overview.
Found look_at_data(const RecommendArguments& arguments, const train::RunConfig& config) {
  // Images that are not pictures keep their own size: the race may use more than 32x32 for them too.
  data::PictureOptions options = train::picture_options(config);
  options.keep_side = true;
  Found found{data::load_dataset(source_name(arguments.pictures), config.data, options), {}, {}};
  data::Dataset& data = found.data;
  if (data.picture_side == 0 && data.side > config.image_size) data.picture_side = data.side;
  const data::SubsetConfig subset = data::decided(config.subset, config.dataset);
  found.counts = data::profile_counts(subset, data::count_labels(data.train.labels, data.classes()), 1);
  found.tested = data::count_labels(data.test.labels, data.classes());
  fmt::print(
      "{}\n\n{}\n", class_words(found.counts),
      class_picture(found.counts, data.class_names,
                    std::min(kPictureWidth, base::terminal_width(STDOUT_FILENO, kPictureWidth + 1) - 1)));
  for (const std::string& remark : data.remarks) fmt::print("{}\n", base::quote::terminal(remark));
  std::fflush(stdout);
  if (found.counts.size() < 2)
    base::fail("{} has one class only; there is nothing to choose", arguments.pictures);
  return found;
}

// Stores the images as the runs will see them. Pictures are stored as arrays in the folder, so that no run
// has to read the files again and all runs see the same images, whatever happens to the files.
void keep_pictures(const RecommendArguments& arguments, const fs::path& out, data::Dataset data,
                   RecommendPlan& plan) {
  train::RunConfig& config = plan.config;
  if (data.side != config.image_size)
    data = data::load_dataset(source_name(arguments.pictures), config.data, train::picture_options(config));
  plan.data_hash = data.hash;
  if (!plan.copied) return;
  config.data = copy_folder(out);
  base::make_folder(config.data);
  data::import_own(config.dataset, data, config.data, {});
}

// Measured seconds per epoch of a network, with as many runs at a time as planned.
double measured_epoch(const RecommendPlan& plan, const Found& found, const std::string& model, int side) {
  train::RunConfig trial = plan.config;
  trial.model = model;
  trial.image_size = side;
  trial.epochs = 1;
  trial.milestones.clear();
  const std::int64_t images = std::accumulate(found.counts.begin(), found.counts.end(), std::int64_t{0});
  train::check_batch(trial, images);
  const study::RunSize size{images, images / trial.batch_size, found.data.test.size(), found.data.channels,
                            static_cast<int>(found.counts.size())};
  return study::estimate({study::make_run(trial)}, {size}, plan.threads, plan.jobs).seconds[0];
}

report::Goal wanted_goal(const RecommendArguments& arguments) {
  return arguments.goal.empty() ? report::Goal::kBalanced : report::parse_goal(arguments.goal);
}

// A goal that cannot be measured is refused before anything is trained.
void check_goal(report::Goal goal, const train::RunConfig& config, const Found& found) {
  if (goal != report::Goal::kTail && goal != report::Goal::kWorst) return;
  const auto groups = data::Groups::parse(data::decided(config.subset, config.dataset).groups);
  const std::array<int, 3> trained = groups.trained_sizes(found.counts);
  const std::array<int, 3> measured = groups.trained_sizes(found.counts, found.tested);
  if (goal == report::Goal::kTail && trained[2] == 0)
    base::fail<base::UsageError>(
        "the goal is the tail, but no class is in it; choose another --goal or --groups");
  for (std::size_t g = 0; g < measured.size(); ++g) {
    if (measured[g] > 0 || trained[g] == 0 || (goal == report::Goal::kTail && g != 2)) continue;
    base::fail<base::UsageError>(
        "the goal `{}` cannot be measured: no class of the {} has test pictures; add some, or choose another "
        "--goal or --groups",
        report::goal_name(goal), data::kGroupNames[g]);
  }
}

// Image size, network and epochs from measurements of this machine.
Effort measured_effort(const RecommendArguments& arguments, const RecommendPlan& plan, const Found& found,
                       const TimeBudget& budget) {
  const train::RunConfig& config = plan.config;
  PlanFacts facts{.candidates = rebalances_of(plan.candidates), .cpus = base::available_cpus()};
  facts.used = budget.used();
  facts.seconds = budget.left();
  facts.side = config.image_size;
  if (!arguments.size_given) facts.picture_side = found.data.picture_side;
  if (arguments.epochs_given) facts.epochs = config.epochs;
  if (arguments.model_given) facts.model = config.model;
  const std::string large = facts.model.value_or("resnet32");
  facts.large_epoch = measured_epoch(plan, found, large, facts.side);
  facts.small_epoch =
      large == "resnet20" ? facts.large_epoch : measured_epoch(plan, found, "resnet20", facts.side);
  Effort effort = planned_effort(facts);
  if (effort.side == facts.side) return effort;
  // The time at this size was only estimated from the area, so measure it.
  PlanFacts larger = facts;
  larger.side = effort.side;
  larger.picture_side = 0;
  larger.model = effort.model;
  larger.small_epoch = larger.large_epoch = measured_epoch(plan, found, effort.model, effort.side);
  const bool fits = larger.large_epoch * kSlower <= effort.run_seconds / effort.epochs;
  if (fits) return planned_effort(larger);
  facts.picture_side = 0;
  return planned_effort(facts);
}

// Decides image size, network, epochs and batch size.
RecommendPlan make_plan(const RecommendArguments& arguments, const fs::path& out, const TimeBudget& budget) {
  RecommendPlan plan;
  plan.pictures = lasting_name(arguments.pictures);
  plan.copied = is_copied(arguments.pictures);
  plan.seconds = budget.seconds();
  plan.candidates = candidates_of(arguments.strategies, arguments.config);
  plan.baseline = plan.candidates[plain_uniform(plan.candidates)].series;
  plan.goal = wanted_goal(arguments);
  plan.epochs_given = arguments.epochs_given;
  plan.config = arguments.config;
  train::RunConfig& config = plan.config;
  config.dataset = plan.copied ? kCopy : arguments.pictures;
  Found found = look_at_data(arguments, config);
  check_goal(*plan.goal, config, found);
  plan.picture_side = found.data.picture_side;
  plan.jobs = planned_jobs(trainings(plan.candidates), base::available_cpus());
  plan.threads = std::max(1, base::available_cpus() / plan.jobs);
  const std::int64_t images = std::accumulate(found.counts.begin(), found.counts.end(), std::int64_t{0});
  if (!arguments.batch_given) config.batch_size = planned_batch(images);
  config.lr = 0.1 * config.batch_size / 128;
  config.select = "last";  // no choice of epoch: no optimistic bias, no images held out
  const Effort effort = measured_effort(arguments, plan, found, budget);
  config.model = effort.model;
  config.image_size = effort.side;
  set_epochs(config, effort.epochs);
  plan.run_seconds = effort.run_seconds;
  check_candidates(plan);  // an impossible plan must not be saved: it would be resumed for ever
  keep_pictures(arguments, out, std::move(found.data), plan);
  return plan;
}

void print_plan(const RecommendPlan& plan, double seconds) {
  fmt::print(
      "\nPlan: {} on images of {}x{} pixels for {} epoch{} in batches of {}, under {}. A run takes about {} "
      "here (measured), {} at a time. Looks after 3, 5, 8 and 12 seeds; what is ruled out is dropped. At "
      "most {}.\n",
      plan.config.model, plan.config.image_size, plan.config.image_size, plan.config.epochs,
      plan.config.epochs == 1 ? "" : "s", plan.config.batch_size, base::join(words_of(plan.candidates), ", "),
      base::duration(plan.run_seconds), plan.jobs, base::duration(seconds));
  if (const std::string words = size_words(plan); !words.empty()) fmt::print("{}\n", words);
  fmt::print("\n");
  std::fflush(stdout);
}

bool is_given(const RecommendArguments& arguments, const std::string& name) {
  return std::find(arguments.given.begin(), arguments.given.end(), name) != arguments.given.end();
}

// A plan does not change once made: a flag that asks for something else is refused, not ignored.
void refuse_changes(const RecommendArguments& arguments, const RecommendPlan& held, const fs::path& out) {
  if (!arguments.goal.empty() && held.goal && *held.goal != wanted_goal(arguments)) {
    base::fail<base::UsageError>(
        "{0} holds a race that is decided by --goal {1}, which {2} cannot change now; leave the flag out to "
        "resume, or give another --out. What its runs say of the other goal: longtail report {0} --goal {2} "
        "--out DIR",
        out.string(), report::goal_name(*held.goal), arguments.goal);
  }
  // Compares resolved values: `--groups auto` is no change if it resolves to the same groups.
  train::RunConfig as_held = held.config;
  as_held.engine = study::engine_of(study_of(held, 1), out);
  train::RunConfig as_asked = as_held;
  for (const auto& entry : train::run_params().entries()) {
    if (entry.info.identity && is_given(arguments, entry.info.name))
      entry.set(as_asked, entry.get(arguments.config));
  }
  as_held = train::resolved(as_held);
  as_asked = train::resolved(as_asked);
  for (const auto& entry : train::run_params().entries()) {
    if (!entry.info.identity || !is_given(arguments, entry.info.name)) continue;
    const std::string has = entry.get(as_held), asked = entry.get(as_asked);
    if (has == asked) continue;
    base::fail<base::UsageError>(
        "{} holds a plan with {} {}, which {} cannot change now; leave the flag out to resume, or give "
        "another --out",
        out.string(), entry.info.flag(), has, asked);
  }
}

// The plan of the folder, checked against the flags, to be resumed.
RecommendPlan resumed_plan(RecommendPlan held, const RecommendArguments& arguments, const fs::path& out,
                           const TimeBudget& budget) {
  const std::vector<std::string> texts = texts_of(held.candidates);
  if (!same_pictures(held.pictures, arguments.pictures) ||
      (arguments.strategies_given && texts != texts_of(candidates_of(arguments.strategies, held.config)))) {
    base::fail<base::UsageError>("{} holds an answer about {} and {}; give another --out", out.string(),
                                 held.pictures, base::join(texts, ", "));
  }
  refuse_changes(arguments, held, out);
  if (held.copied) {
    held.config.data = copy_folder(out);
  } else if (!arguments.config.data.empty()) {
    held.config.data = arguments.config.data;
  }
  if (!held.goal || held.seconds != budget.seconds()) {  // no goal: from now on the plan records it
    if (!held.goal) held.goal = wanted_goal(arguments);
    held.seconds = budget.seconds();
    write_plan(out, held);
  }
  fmt::print("Resuming the plan in {}.\n", out.string());
  print_plan(held, budget.seconds());
  return held;
}

RecommendPlan new_plan(const RecommendArguments& arguments, const fs::path& out, const TimeBudget& budget) {
  const std::string& pictures = arguments.pictures;
  if (!is_picture_folder(pictures) && pictures.find('/') != std::string::npos &&
      pictures.find(':') == std::string::npos) {
    if (data::has_arrays(pictures))
      base::fail<base::UsageError>("{0} holds arrays and no pictures; give arrays:{0}", pictures);
    base::fail<base::UsageError>("there is no folder {}", pictures);
  }
  RecommendPlan plan = make_plan(arguments, out, budget);
  print_plan(plan, budget.seconds());
  write_plan(out, plan);
  return plan;
}

void write_report(const fs::path& out, const RecommendPlan& plan) {
  report::ReportOptions options;
  options.inputs = {out};
  options.out = out / "report";
  report::report_as_raced(options);
  report::Report made = report::make_report(options);
  if (const std::string words = size_words(plan); !words.empty()) made.summary.remarks.push_back(words);
  for (const std::string& remark : report::write_report(made, options))
    fmt::print("{}\n", base::quote::terminal(remark));
  fmt::print("The report: {}\n", (options.out / "index.html").string());
}

// Refuses, before anything is created or measured, what would fail later: an answer among the pictures, and
// paths that the files of a study cannot hold.
void check_places(const RecommendArguments& arguments, const fs::path& out) {
  if (!base::present(plan_path(out))) {
    refuse_among_pictures(arguments.pictures, out);
    // A folder of `recommend` that has lost its plan still has its recommend.seconds.
    if (base::present(out / "study.json") && !base::present(out / "recommend.seconds"))
      base::fail("{} holds a study that `recommend` did not make; give another --out", out.string());
  }
  base::require_plain("the path of the answer (--out)", fs::absolute(out).string());
  base::require_plain("the path of the pictures", lasting_name(arguments.pictures));
  base::require_plain("the path of the data (--data)", arguments.config.data);
  base::require_plain("the path of the counts (--counts-file)", arguments.config.subset.counts_file);
}

void run(const RecommendArguments& arguments) {
  const fs::path out = arguments.out.empty() ? answer_folder(arguments.pictures) : fs::path(arguments.out);
  check_places(arguments, out);
  const RecommendLock lock(out);
  const std::optional<RecommendPlan> held = read_recommend_plan(out);
  const bool time_held = !arguments.time_given && held && held->seconds > 0;
  TimeBudget budget(out, time_held ? held->seconds : study::parse_duration(arguments.time));
  RecommendPlan plan = held ? resumed_plan(*held, arguments, out, budget) : new_plan(arguments, out, budget);
  const RaceOutcome outcome = run_race(plan, out, budget);
  if (outcome.finished == 0) {
    base::fail<base::Interrupted>("no run was finished, so nothing can be said. {}", outcome.stopped);
  }
  fmt::print("\n{}\n\n", outcome.recommendation.sentence);
  if (const std::string words = size_words(plan); !words.empty()) fmt::print("{}\n", words);
  if (!outcome.stopped.empty()) fmt::print("{}\n", outcome.stopped);
  write_report(out, plan);
  if (!outcome.network.empty()) {
    fmt::print("The network{}: {}\n  longtail predict {} PICTURE...\n",
               outcome.recommendation.series
                   ? ""
                   : fmt::format(" ({}, since nothing can be recommended)", outcome.network_words),
               outcome.network.string(), base::quote::argument(outcome.network.string()));
  }
  budget.keep();
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
  command->add_option("--time", arguments->time,
                      "Time for all of it: 30m, 2h, 1d [2h, or what the folder was last given]");
  command
      ->add_option(
          "--goal", arguments->goal,
          "What best means: the mean of the classes' accuracies (balanced), of all pictures (overall), of "
          "the tail, or of the worst of head, medium and tail [balanced, or what the folder was begun with]")
      ->check(IsMember({"balanced", "overall", "tail", "worst"}));
  command->add_option("--out", arguments->out, "Folder for runs, report and network [recommend-NAME]")
      ->type_name("DIR");
  command->add_option("--strategies", arguments->strategies,
                      "What to choose from, separated by spaces: strategies, and strategies with remedies "
                      "after a plus (uniform+logit_adjust, uniform+mixup:alpha=1+crt); PICTURES comes before "
                      "them, or after -- [the paper's four and uniform+logit_adjust]");
  add_param_flags(*command, train::run_params(), arguments->config, plan_params());
  command->footer(
      "Example:\n"
      "  longtail recommend birds/ --time 2h --out answer\n"
      "  longtail predict answer/network photo.jpg\n"
      "Shows the class sizes, sets pictures aside for testing if there is no test part, plans what fits into "
      "the\n"
      "time, trains every strategy from several seeds, and drops those that are ruled out. It ends with a "
      "sentence,\n"
      "a report and a network. Image size, model, epochs and batch size are planned unless given. Killed or "
      "stopped,\n"
      "the same command resumes. docs/recommend.md tells more.");
  command->callback([arguments, command] {
    arguments->model_given = command->count("--model") > 0;
    arguments->epochs_given = command->count("--epochs") > 0;
    arguments->batch_given = command->count("--batch-size") > 0;
    arguments->size_given = command->count("--image-size") > 0;
    arguments->strategies_given = command->count("--strategies") > 0;
    arguments->time_given = command->count("--time") > 0;
    // The runs read these too, and the command may be repeated from another folder.
    for (std::string* path : {&arguments->config.subset.counts_file, &arguments->config.data}) {
      if (!path->empty()) *path = fs::absolute(*path).lexically_normal().string();
    }
    for (const auto& entry : train::run_params().entries()) {
      const auto& names = plan_params();
      const bool has_flag = std::find(names.begin(), names.end(), entry.info.name) != names.end();
      if (has_flag && command->count(entry.info.flag()) > 0) arguments->given.push_back(entry.info.name);
    }
    const std::string name = is_copied(arguments->pictures) ? kCopy : arguments->pictures;
    data::refuse_idle_cut(data::decided(arguments->config.subset, name), name, command->count("--rho") > 0);
    data::refuse_idle_dir(source_name(arguments->pictures), arguments->config.data);
    run(*arguments);
  });
}

}  // namespace longtail::cli
