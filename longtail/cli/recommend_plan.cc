#include "longtail/cli/recommend_plan.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "longtail/base/error.h"
#include "longtail/base/file.h"
#include "longtail/base/text.h"
#include "longtail/cli/recommend_pace.h"
#include "longtail/cli/recommend_pictures.h"
#include "longtail/data/augmenter.h"
#include "longtail/nn/loss.h"
#include "longtail/report/race.h"
#include "longtail/train/rebalance_method.h"

namespace longtail::cli {
namespace {

using nlohmann::json;

constexpr int kMostEpochs = 200;
constexpr int kEnoughEpochs = 20;  // with fewer, plan for three seeds instead of five
constexpr int kLargeEpochs = 100;  // that the larger network needs
constexpr int kSideEpochs = 60;    // that larger images need
constexpr double kMargin = 1.25;   // runs may take that much longer than measured
constexpr double kAgain = 1.05;    // the next measurement may be that much slower

int trained(const std::vector<std::string>& candidates) {
  return static_cast<int>(std::count(candidates.begin(), candidates.end(), train::kNoRebalance));
}

int jobs_of(const PlanFacts& facts) { return planned_jobs(trained(facts.candidates), facts.cpus); }

// The cost of `seeds` seeds of all candidates as the race counts it, in epochs of training.
double work_of(const std::vector<std::string>& candidates, int epochs, int jobs, int seeds) {
  std::vector<double> works;
  for (int seed = 0; seed < seeds; ++seed) {
    for (const std::string& rebalance : candidates) {
      train::RunConfig config;
      config.epochs = epochs;
      config.rebalance = rebalance;
      works.push_back(charge(train::logged_epochs(config), rebalance));
    }
  }
  return makespan(works, jobs);
}

int affordable_epochs(const PlanFacts& facts, double epoch_seconds, int seeds) {
  return epochs_that_fit(facts.seconds, kMargin * epoch_seconds, facts.candidates, jobs_of(facts), seeds);
}

// The work of a network is proportional to the area of its images.
double area(int side, const PlanFacts& facts) {
  const double ratio = static_cast<double>(side) / facts.side;
  return ratio * ratio;
}

int planned_side(const PlanFacts& facts) {
  const double epoch_seconds = facts.model ? facts.large_epoch : facts.small_epoch;
  for (const int side : {64, 48}) {
    if (side > facts.side && side <= facts.picture_side &&
        affordable_epochs(facts, epoch_seconds * area(side, facts), 5) >= facts.epochs.value_or(kSideEpochs))
      return side;
  }
  return facts.side;
}

struct Network {
  int side = 32;
  std::string model{};
  double epoch_seconds = 0;
};

Network planned_network(const PlanFacts& facts) {
  Network network{.side = planned_side(facts)};
  const double scale = area(network.side, facts);
  const int large = affordable_epochs(facts, facts.large_epoch * scale, 5);
  network.model = facts.model ? *facts.model : large >= kLargeEpochs ? "resnet32" : "resnet20";
  network.epoch_seconds = scale * (network.model == "resnet20" ? facts.small_epoch : facts.large_epoch);
  return network;
}

// Seconds for three seeds of all candidates with the fewest epochs.
double least_training(const PlanFacts& facts) {
  return kMargin * planned_network(facts).epoch_seconds *
         work_of(facts.candidates, facts.epochs.value_or(kFewestEpochs), jobs_of(facts), 3);
}

// The time in the form of --time, rounded up.
std::string time_flag(double seconds) {
  const double step = seconds <= 600 ? 10 : seconds <= 7200 ? 60 : 600;
  const auto whole = static_cast<std::int64_t>(std::ceil(seconds / step) * step);
  std::string text;
  if (whole >= 3600) text += fmt::format("{}h", whole / 3600);
  if (whole % 3600 >= 60) text += fmt::format("{}m", whole % 3600 / 60);
  if (whole % 60 > 0) text += fmt::format("{}s", whole % 60);
  return text;
}

// The smallest sufficient --time, including the report and the work before training. Iterates, because more
// time allows a larger network, which needs more time again.
std::string enough_time(PlanFacts facts) {
  for (double least = least_training(facts); least > facts.seconds; least = least_training(facts))
    facts.seconds = least;
  return time_flag(with_report(kAgain * facts.seconds + facts.used));
}

std::string quoted(const std::string& text) { return json(text).dump(); }

bool axis_of_strategies(const RecommendPlan& plan) {
  return std::all_of(plan.candidates.begin(), plan.candidates.end(),
                     [](const Candidate& one) { return one.text == one.strategy; });
}

// The rest of the study file: an axis of strategies, or one case per candidate if any has remedies.
std::string candidates_text(const RecommendPlan& plan) {
  std::vector<std::string> names;
  std::string cases;
  for (const Candidate& one : plan.candidates) {
    names.push_back(quoted(one.strategy));
    cases += fmt::format("[[case]]\nstrategy = {}\n", names.back());
    if (one.augment != data::Augmenter::parse(plan.config.augment).name())
      cases += fmt::format("augment = {}\n", quoted(one.augment));
    if (one.loss != nn::canonical_loss(plan.config.loss))
      cases += fmt::format("loss = {}\n", quoted(one.loss));
    if (!one.trained()) cases += fmt::format("rebalance = {}\n", quoted(one.rebalance));
  }
  return axis_of_strategies(plan) ? fmt::format("strategy = [{}]\n", base::join(names, ", ")) : cases;
}

}  // namespace

int planned_jobs(int strategies, int cpus) { return std::max(1, std::min(strategies, cpus)); }

int planned_batch(std::int64_t images) {
  int batch = 128;
  while (batch > 8 && images / batch < 16) batch /= 2;
  return batch;
}

int epochs_that_fit(double seconds, double epoch_seconds, const std::vector<std::string>& candidates,
                    int jobs, int seeds) {
  int most = 0, too_many = kMostEpochs + 1;
  while (too_many - most > 1) {
    const int epochs = (most + too_many) / 2;
    const bool fits = work_of(candidates, epochs, jobs, seeds) * epoch_seconds <= seconds;
    (fits ? most : too_many) = epochs;
  }
  return most;
}

std::vector<std::string> rebalances_of(const std::vector<Candidate>& candidates) {
  std::vector<std::string> rebalances;
  rebalances.reserve(candidates.size());
  for (const Candidate& one : candidates) rebalances.push_back(one.rebalance);
  return rebalances;
}

void check_candidates(const RecommendPlan& plan) {
  for (const Candidate& one : plan.candidates) train::check(one.applied_to(plan.config));
}

bool can_have_epochs(const RecommendPlan& plan, int epochs) {
  RecommendPlan shorter = plan;
  set_epochs(shorter.config, epochs);
  try {
    check_candidates(shorter);
    return true;
  } catch (const base::UsageError&) {
    return false;
  }
}

void set_epochs(train::RunConfig& config, int epochs) {
  config.epochs = epochs;
  config.warmup_epochs = std::clamp(epochs / 10, 1, 5);
  config.milestones.clear();
}

Effort planned_effort(const PlanFacts& facts) {
  const auto [side, model, epoch_seconds] = planned_network(facts);
  Effort effort{.side = side, .model = model};
  effort.epochs = affordable_epochs(facts, epoch_seconds, 5);
  if (effort.epochs < kEnoughEpochs)
    effort.epochs = std::min(kEnoughEpochs, affordable_epochs(facts, epoch_seconds, 3));
  if (facts.epochs) effort.epochs = *facts.epochs;
  effort.run_seconds = effort.epochs * epoch_seconds;
  if (const double least = least_training(facts); least > facts.seconds) {
    const std::size_t others = facts.candidates.size() - static_cast<std::size_t>(trained(facts.candidates));
    const std::string rebalanced = others > 0 ? fmt::format(", and {} rebalanced from them,", others) : "";
    base::fail<base::UsageError>(
        "{} for training is not enough: {} strategies{} with three seeds each and {} epochs of {} take about "
        "{} here; give --time {} or more, or fewer --strategies",
        base::duration(std::max(0.0, facts.seconds)), trained(facts.candidates), rebalanced,
        facts.epochs.value_or(kFewestEpochs), effort.model, base::duration(least), enough_time(facts));
  }
  return effort;
}

study::StudyFile study_of(const RecommendPlan& plan, int seeds) {
  const auto& table = train::run_params();
  std::string text =
      "name = \"recommend\"\nabout = " + quoted("Which strategy for " + short_name(plan.pictures) + "?") +
      "\n";
  const train::RunConfig initial;
  std::string section;
  for (const auto& entry : table.entries()) {
    const base::ParamInfo& info = entry.info;
    const std::string value = entry.get(plan.config);
    const bool said = info.identity ? info.name != "strategy" && info.name != "seed" : info.name == "data";
    if (!said || value == entry.get(initial)) continue;
    if (info.section != section) text += fmt::format("[{}]\n", section = info.section);
    const bool plain = info.type == "integer" || info.type == "real" || info.type == "switch";
    text += fmt::format("{} = {}\n", info.name,
                        plain                     ? value
                        : info.type == "integers" ? "[" + value + "]"
                                                  : quoted(value));
  }
  std::vector<std::string> numbers;
  for (int seed = 1; seed <= seeds; ++seed) numbers.push_back(std::to_string(seed));
  text += fmt::format("[grid]\nseed = [{}]\n", base::join(numbers, ", "));
  return study::parse_study(text + candidates_text(plan), "recommend");
}

std::filesystem::path plan_path(const std::filesystem::path& folder) { return folder / report::kRaceFile; }

void write_plan(const std::filesystem::path& folder, const RecommendPlan& plan) {
  json object = {{"pictures", plan.pictures},
                 {"config", train::config_map(plan.config)},
                 {"data", plan.config.data},
                 {"data_hash", plan.data_hash},
                 {"copied", plan.copied},
                 {"strategies", texts_of(plan.candidates)},
                 {"jobs", plan.jobs},
                 {"threads", plan.threads},
                 {"run_seconds", plan.run_seconds},
                 {"picture_side", plan.picture_side},
                 {"baseline", plan.baseline},
                 {"time", plan.seconds},
                 {"cuts", plan.cuts},
                 {"epochs_given", plan.epochs_given}};
  if (plan.goal) object["goal"] = report::goal_name(*plan.goal);
  base::make_folder(folder);
  base::write_atomically(plan_path(folder), object.dump(1) + "\n");
}

std::optional<RecommendPlan> read_recommend_plan(const std::filesystem::path& folder) {
  std::error_code ignored;
  if (!std::filesystem::exists(plan_path(folder), ignored)) return std::nullopt;
  try {
    const json object = json::parse(base::read_text(plan_path(folder), 1 << 20));
    RecommendPlan plan;
    plan.pictures = object.at("pictures").get<std::string>();
    plan.config = train::config_from_map(object.at("config").get<std::map<std::string, std::string>>());
    plan.config.data = object.at("data").get<std::string>();
    plan.candidates = candidates_of(object.at("strategies").get<std::vector<std::string>>(), plan.config);
    plan.baseline = object.value("baseline", std::string());
    if (plan.baseline.empty()) plan.baseline = plan.candidates[plain_uniform(plan.candidates)].series;
    if (object.contains("goal")) plan.goal = report::parse_goal(object.at("goal").get<std::string>());
    plan.jobs = object.at("jobs").get<int>();
    plan.threads = object.at("threads").get<int>();
    plan.run_seconds = object.at("run_seconds").get<double>();
    plan.picture_side = object.value("picture_side", 0);
    plan.epochs_given = object.value("epochs_given", false);
    plan.data_hash = object.value("data_hash", std::string());
    // Earlier versions copied only folders, and always gave the copy this name.
    plan.copied = object.value("copied", plan.config.dataset == kCopy && plan.pictures != kCopy);
    plan.seconds = object.value("time", 0.0);
    plan.cuts = object.value("cuts", 0);
    return plan;
  } catch (const json::exception&) {
    base::fail("{} is damaged; remove it to plan again", plan_path(folder).string());
  }
}

}  // namespace longtail::cli
