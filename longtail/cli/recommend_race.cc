#include "longtail/cli/recommend_race.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <memory>

#include "longtail/base/error.h"
#include "longtail/base/text.h"
#include "longtail/cli/recommend_words.h"
#include "longtail/cli/study.h"
#include "longtail/report/summary.h"
#include "longtail/study/runner.h"
#include "longtail/study/view.h"

namespace longtail::cli {
namespace {

namespace fs = std::filesystem;

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

// What the finished runs say, strategy by seed.
struct Results {
  report::SeedTable goal{};
  std::vector<std::pair<std::string, report::SeedTable>> groups{};
  double spent = 0;     // seconds of training, jobs side by side counted once
  double of_a_run = 0;  // mean seconds of a finished run
  int finished = 0;     // runs
};

class RaceRunner {
 public:
  RaceRunner(const RecommendPlan& plan, report::Goal goal, fs::path out, double seconds)
      : plan_(plan), goal_(goal), out_(std::move(out)), seconds_(seconds) {
    for (const std::string& strategy : plan_.strategies) words_.push_back(report::series_words(strategy));
    const auto uniform = std::find(plan_.strategies.begin(), plan_.strategies.end(), "uniform");
    baseline_ =
        uniform == plan_.strategies.end() ? 0 : static_cast<std::size_t>(uniform - plan_.strategies.begin());
  }

  RaceOutcome run() {
    RaceOutcome outcome;
    std::size_t told = 0;
    Results results = read(looks_.seeds.back());
    report::Race race = report::run_looks(results.goal, baseline_, looks_);
    for (;; results = read(looks_.seeds.back()), race = report::run_looks(results.goal, baseline_, looks_)) {
      if (race.looks > told) {
        told = race.looks;
        fmt::print("{}\n", look_words(race, words_, looks_.seeds[told - 1]));
        std::fflush(stdout);
      }
      if (race.decided() || !race.next) break;
      outcome.time_up = !train_until(race, *race.next, results);
      if (outcome.time_up) {
        results = read(looks_.seeds.back());
        race = report::run_looks(results.goal, baseline_, looks_);
        break;
      }
    }
    conclude(results, outcome);
    return outcome;
  }

 private:
  // The runs that the next look needs. False: the time is up, or would be.
  bool train_until(const report::Race& race, int seeds, const Results& results) {
    const study::Plan grid = study::open_study(study_of(plan_, seeds), out_, LONGTAIL_VERSION);
    study::require_engine(grid);
    std::vector<std::size_t> selection;
    for (std::size_t i = 0; i < grid.runs.size(); ++i) {
      if (std::any_of(race.still_in.begin(), race.still_in.end(),
                      [&](std::size_t row) { return grid.runs[i].config.strategy == plan_.strategies[row]; }))
        selection.push_back(i);
    }
    study::Board board = study::make_board(grid, out_, selection);
    double waiting = 0;
    for (const std::size_t i : selection) waiting += board.seats[i].state.status != study::Status::kDone;
    const double each = results.of_a_run > 0 ? results.of_a_run : plan_.run_seconds;
    const double left = seconds_ - results.spent;
    // The first look is begun in any case: without it nothing can be said.
    if (left <= 0 || (race.looks > 0 && std::ceil(waiting / plan_.jobs) * each > left)) return false;
    return train(board, left);
  }

  bool train(study::Board& board, double seconds) {
    study::RunnerOptions options;
    options.program = own_program();
    options.data = plan_.config.data;
    options.jobs = plan_.jobs;
    options.threads = plan_.threads;
    options.seconds = seconds;
    const char* terminal = std::getenv("TERM");
    const bool live = ::isatty(STDOUT_FILENO) && terminal && std::string_view(terminal) != "dumb";
    study::Ending ending{};
    {
      std::unique_ptr<study::Watcher> watcher;
      if (live) {
        watcher = std::make_unique<study::LiveWatcher>(STDOUT_FILENO);
      } else {
        watcher = std::make_unique<study::LineWatcher>(stdout);
      }
      ending = study::run_study(board, options, *watcher);
      watcher->tick(board);
    }
    if (ending == study::Ending::kSignal)
      base::fail<base::Interrupted>("interrupted; the same command resumes");
    if (ending == study::Ending::kTimeUp) return false;
    for (const study::Seat& seat : board.seats) {
      if (seat.selected && seat.state.status == study::Status::kFailed) {
        base::fail(
            "a run failed: {}; `longtail study status {}` shows all, `longtail study run --out {} "
            "--retry-failed` tries again",
            seat.state.note, out_.string(), out_.string());
      }
    }
    return true;
  }

  // All finished runs up to so many seeds, and what has been spent on them and on those begun.
  Results read(int seeds) const {
    Results results;
    const auto empty = [&] {
      return report::SeedTable{
          plan_.strategies,
          std::vector<std::vector<double>>(plan_.strategies.size(),
                                           std::vector<double>(static_cast<std::size_t>(seeds), kUnknown))};
    };
    results.goal = empty();
    for (const char* name : {"head", "medium", "tail"}) results.groups.emplace_back(name, empty());
    double total = 0, finished_total = 0;
    const study::StudyFile study = study_of(plan_, seeds);
    for (const study::Run& run : study::resolve(study, study::engine_of(study, out_))) {
      const study::RunState state = study::inspect(out_, run);
      total += state.seconds;
      if (state.status != study::Status::kDone) continue;
      finished_total += state.seconds;
      ++results.finished;
      const auto row = static_cast<std::size_t>(
          std::find(plan_.strategies.begin(), plan_.strategies.end(), run.config.strategy) -
          plan_.strategies.begin());
      const auto column = static_cast<std::size_t>(run.config.seed - 1);
      const train::RunLog log = train::read_log(study::run_folder(out_, run.name) / "log.json");
      results.goal.values[row][column] = goal_value(goal_, log);
      const std::array<double, 3> groups = {log.last.accuracy.head, log.last.accuracy.medium,
                                            log.last.accuracy.tail};
      for (std::size_t g = 0; g < groups.size(); ++g)
        results.groups[g].second.values[row][column] = groups[g];
    }
    results.spent = total / plan_.jobs;
    results.of_a_run = results.finished > 0 ? finished_total / results.finished : 0;
    return results;
  }

  void conclude(Results& results, RaceOutcome& outcome) const {
    report::Question question;
    outcome.finished = results.finished;
    question.goal = goal_;
    question.table = results.goal;
    // A group without classes has no accuracy.
    std::erase_if(results.groups, [](const auto& group) {
      for (const auto& row : group.second.values) {
        if (std::any_of(row.begin(), row.end(), [](double value) { return !std::isnan(value); }))
          return false;
      }
      return true;
    });
    question.groups = results.groups;
    question.words = words_;
    question.baseline = baseline_;
    question.looks = looks_;
    outcome.recommendation = report::recommend(question);
    // Without a recommendation the baseline, unless it is ruled out itself.
    const std::vector<std::size_t> in = report::run_looks(results.goal, baseline_, looks_).still_in;
    const bool baseline_in = in.empty() || std::find(in.begin(), in.end(), baseline_) != in.end();
    outcome.network_strategy =
        outcome.recommendation.series.value_or(plan_.strategies[baseline_in ? baseline_ : in.front()]);
    link_network(outcome);
  }

  // `network` in the folder is the run of the first seed: chosen before anything was measured.
  void link_network(RaceOutcome& outcome) const {
    const study::StudyFile study = study_of(plan_, looks_.seeds.front());
    for (const study::Run& run : study::resolve(study, study::engine_of(study, out_))) {
      if (run.config.strategy != outcome.network_strategy ||
          study::inspect(out_, run).status != study::Status::kDone)
        continue;
      const fs::path link = out_ / "network", fresh = out_ / ".network.tmp";
      std::error_code error;
      fs::remove(fresh, error);
      fs::create_directory_symlink(fs::path("runs") / run.name, fresh, error);
      if (!error) fs::rename(fresh, link, error);
      outcome.network = error ? study::run_folder(out_, run.name) : link;
      return;
    }
  }

  const RecommendPlan& plan_;
  report::Goal goal_;
  fs::path out_;
  double seconds_;
  report::LookPlan looks_{};
  std::vector<std::string> words_;
  std::size_t baseline_ = 0;
};

}  // namespace

double goal_value(report::Goal goal, const train::RunLog& log) {
  const train::EpochResult& last = log.last.accuracy;
  switch (goal) {
    case report::Goal::kBalanced:
      return log.last.balanced;
    case report::Goal::kOverall:
      return last.overall;
    case report::Goal::kTail:
      return last.tail;
    case report::Goal::kWorst:
      break;
  }
  double lowest = kUnknown;
  for (const double value : {last.head, last.medium, last.tail}) {
    if (!std::isnan(value) && !(value >= lowest)) lowest = value;
  }
  return lowest;
}

RaceOutcome run_race(const RecommendPlan& plan, report::Goal goal, const fs::path& out, double seconds,
                     double share) {
  // A little less than all: reading, looking and reporting take time too.
  const double training = seconds * (1 + share) / 2;
  return RaceRunner(plan, goal, out, training).run();
}

}  // namespace longtail::cli
