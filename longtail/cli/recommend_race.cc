#include "longtail/cli/recommend_race.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <tuple>

#include "longtail/base/error.h"
#include "longtail/base/text.h"
#include "longtail/cli/recommend_words.h"
#include "longtail/cli/study.h"
#include "longtail/report/summary.h"
#include "longtail/study/runner.h"
#include "longtail/study/view.h"
#include "longtail/train/alike.h"
#include "longtail/train/run.h"

namespace longtail::cli {
namespace {

namespace fs = std::filesystem;

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

constexpr int kMostCuts = 3;       // of the epochs
constexpr int kEpochsToTrust = 3;  // per job, before the pace counts as measured
// A look is started if it needs at most the first share of the time left, and given up above the second.
constexpr double kBeginBelow = 0.95, kGiveUpAbove = 1.2;
constexpr double kCutTo = 0.85;  // share of the time left that runs with fewer epochs should take

// The results of the finished runs, by strategy and seed.
struct Results {
  report::SeedTable goal{};
  std::vector<std::pair<std::string, report::SeedTable>> groups{};
  double of_a_run = 0;  // mean seconds per finished training
  int finished = 0;     // number of finished runs
};

class RaceRunner {
 public:
  RaceRunner(RecommendPlan& plan, fs::path out, TimeBudget& budget)
      : plan_(plan),
        rows_(in_report_order(plan.candidates)),
        goal_(plan.goal.value_or(report::Goal::kBalanced)),
        out_(std::move(out)),
        budget_(budget),
        pace_(static_cast<std::size_t>(2 * kEpochsToTrust * plan.jobs),
              plan.run_seconds / plan.config.epochs),
        race_data_(plan.data_hash) {
    words_ = words_of(rows_);
    const auto baseline = std::find_if(rows_.begin(), rows_.end(),
                                       [&](const Candidate& one) { return one.series == plan_.baseline; });
    if (baseline == rows_.end())
      base::fail("{} names no candidate as the baseline; remove it to plan again", plan_path(out_).string());
    baseline_ = static_cast<std::size_t>(baseline - rows_.begin());
    std::vector<train::RunConfig> configs;
    for (const Candidate& one : rows_) configs.push_back(train::resolved(one.applied_to(plan_.config)));
    trainings_ = train::shared_trainings(configs);
  }

  RaceOutcome run() {
    RaceOutcome outcome;
    std::size_t told = 0;
    std::optional<std::tuple<int, std::size_t, int>> before;  // the state at the start of the last round
    for (;;) {
      Results results = read(looks_.seeds.back());
      const report::Race race = report::run_looks(results.goal, baseline_, looks_);
      if (race.looks > told) {
        told = race.looks;
        fmt::print("{}\n", look_words(race, words_, looks_.seeds[told - 1]));
        std::fflush(stdout);
      }
      if (race.decided() || !race.next || !outcome.stopped.empty()) {
        conclude(results, race, outcome);
        return outcome;
      }
      const std::tuple now(results.finished, race.looks, plan_.cuts);
      if (before == now) {
        base::fail(
            "the race in {0} cannot continue: the runs for the look after {1} seeds are not all done, and "
            "none could be trained; `longtail study status {0}` shows them",
            out_.string(), *race.next);
      }
      before = now;
      outcome.stopped = train_until(race, *race.next, results);
    }
  }

 private:
  // Does the runs that the next look needs. Returns why not, as a sentence, if there is no time for them.
  std::string train_until(const report::Race& race, int seeds, const Results& results) {
    const study::Plan grid = study::open_study(study_of(plan_, seeds), out_, LONGTAIL_VERSION);
    study::require_engine(grid);
    // Candidates still in the race, and those from which they are rebalanced.
    std::set<std::size_t> rows(race.still_in.begin(), race.still_in.end());
    for (const std::size_t row : race.still_in) {
      if (const auto parent = parent_of(rows_, row)) rows.insert(*parent);
    }
    std::vector<std::size_t> selection;
    for (std::size_t i = 0; i < grid.runs.size(); ++i) {
      if (rows.contains(row_of(grid.runs[i]))) selection.push_back(i);
    }
    study::Board board = study::make_board(grid, out_, selection);
    if (!pace_.measured() && results.of_a_run > 0) pace_.guess(results.of_a_run / plan_.config.epochs);
    // The first look is started if there is any time at all: without it there is no result.
    const double needed = time_for(board);
    if (budget_.left() <= 0 || (race.looks > 0 && needed > kBeginBelow * budget_.left()))
      return no_time(seeds, needed);
    require_same_data();
    return train(board, seeds, race.looks == 0);
  }

  // An Error unless the images are those of the race. Reads them once per command.
  void require_same_data() {
    if (data_seen_) return;
    const std::string hash = train::read_run_dataset(plan_.config).hash;
    if (race_data_.empty()) {  // a plan of an earlier version without finished runs
      plan_.data_hash = race_data_ = hash;
      write_plan(out_, plan_);
    }
    if (hash != race_data_) {
      base::fail<base::UsageError>(
          "the data set {} holds other images now than those that the race in {} is about; bring them back, "
          "or give another --out",
          plan_.config.dataset, out_.string());
    }
    data_seen_ = true;
  }
  void require_same_data(const train::RunLog& log, const std::string& run) {
    if (race_data_.empty()) race_data_ = log.fingerprint.data;
    if (log.fingerprint.data == race_data_) return;
    base::fail<base::UsageError>(
        "run {} was trained on other images than those that the race in {} is about, so they cannot be "
        "judged as one; give another --out, or remove {} to train all runs again",
        run, out_.string(), (out_ / "runs").string());
  }

  // The index of the candidate to which a run belongs.
  std::size_t row_of(const study::PlannedRun& run) const {
    return static_cast<std::size_t>(
        std::find_if(rows_.begin(), rows_.end(),
                     [&](const Candidate& one) { return one.is_of(run.config); }) -
        rows_.begin());
  }

  double time_for(const study::Board& board) const {
    return pace_.epoch_seconds() * makespan(epochs_left(board), plan_.jobs);
  }

  std::string no_time(int seeds, double needed) const {
    const double left = budget_.left();
    const std::string more = "The same command with more --time resumes.";
    if (left <= 0) return "The time is up. " + more;
    return fmt::format(
        "Stopped: the look after {} seeds would take about {} more, and {} is left for training. {}", seeds,
        base::duration(needed), base::duration(left), more);
  }

  // Returns an empty text if the runs of the look are done, or if the epochs were cut and it must start
  // again.
  std::string train(study::Board& board, int seeds, bool first) {
    study::RunnerOptions options;
    options.program = own_program();
    options.data = plan_.config.data;
    options.jobs = plan_.jobs;
    options.threads = plan_.threads;
    options.seconds = budget_.left();
    bool cut = false;
    options.enough = [&](const study::Board& now) {
      if (!pace_.measured()) return false;
      const double needed = time_for(now), left = budget_.left();
      cut = first && needed > left && shorter_epochs() > 0;
      return cut || needed > kGiveUpAbove * left;
    };
    const study::Ending ending = watched(board, options);
    if (ending == study::Ending::kSignal)
      base::fail<base::Interrupted>("interrupted; the same command resumes");
    if (cut) {
      cut_epochs();
      return "";
    }
    if (ending == study::Ending::kTimeUp) return no_time(seeds, time_for(board));
    for (const study::Seat& seat : board.seats) {
      if (seat.selected && seat.state.status == study::Status::kFailed) {
        base::fail(
            "a run failed: {0}; `longtail study status {1}` shows all, `longtail study run --out {1} "
            "--retry-failed` tries again, and then the same command resumes",
            seat.state.note, out_.string());
      }
    }
    return "";
  }

  study::Ending watched(study::Board& board, const study::RunnerOptions& options) {
    const char* terminal = std::getenv("TERM");
    const bool live = ::isatty(STDOUT_FILENO) && terminal && std::string_view(terminal) != "dumb";
    std::unique_ptr<study::Watcher> shown;
    if (live) {
      shown = std::make_unique<study::LiveWatcher>(STDOUT_FILENO);
    } else {
      shown = std::make_unique<study::LineWatcher>(stdout);
    }
    PaceWatcher watcher(*shown, pace_, budget_);
    const study::Ending ending = study::run_study(board, options, watcher);
    watcher.tick(board);
    return ending;
  }

  // The number of epochs with which the first look would be reached if all runs started again now. 0 if no
  // number is both smaller than now and enough for every candidate (one may change its loss at an epoch).
  int shorter_epochs() const {
    if (plan_.epochs_given || plan_.cuts >= kMostCuts) return 0;
    const int epochs = epochs_that_fit(kCutTo * budget_.left(), pace_.epoch_seconds(),
                                       rebalances_of(plan_.candidates), plan_.jobs, looks_.seeds.front());
    const bool shorter = epochs >= kFewestEpochs && epochs < plan_.config.epochs;
    return shorter && can_have_epochs(plan_, epochs) ? epochs : 0;
  }

  void cut_epochs() {
    const int before = plan_.config.epochs, now = shorter_epochs();
    ++plan_.cuts;
    if (now == 0) return;
    const double planned = plan_.run_seconds / before;
    set_epochs(plan_.config, now);
    plan_.run_seconds = now * pace_.epoch_seconds();
    write_plan(out_, plan_);
    fmt::print(
        "An epoch takes {} here, not {} as planned. So that three seeds fit, every run gets {} epochs "
        "instead of {}; nothing had been looked at.\n",
        base::duration(pace_.epoch_seconds()), base::duration(planned), now, before);
    std::fflush(stdout);
  }

  // Reads all finished runs of the first `seeds` seeds.
  Results read(int seeds) {
    Results results;
    const auto empty = [&] {
      return report::SeedTable{
          texts_of(rows_),
          std::vector<std::vector<double>>(rows_.size(),
                                           std::vector<double>(static_cast<std::size_t>(seeds), kUnknown)),
          trainings_};
    };
    results.goal = empty();
    for (const char* name : {"tail", "head", "medium"}) results.groups.emplace_back(name, empty());
    double total = 0;
    int trained = 0;
    const study::StudyFile study = study_of(plan_, seeds);
    for (const study::PlannedRun& run : study::resolve(study, study::engine_of(study, out_))) {
      const study::RunState state = study::inspect(out_, run);
      if (state.status != study::Status::kDone) continue;
      ++results.finished;
      const std::size_t row = row_of(run);
      if (rows_[row].trained()) {
        total += state.seconds;
        ++trained;
      }
      const auto column = static_cast<std::size_t>(run.config.seed - 1);
      const train::RunLog log = train::read_log(study::run_folder(out_, run.name) / "log.json");
      require_same_data(log, run.name);
      const double value = goal_value(goal_, log);
      if (std::isnan(value))  // otherwise no look would ever take place
        base::fail<base::UsageError>(
            "run {} has no value of the goal `{}`; give another --goal and another --out", run.name,
            report::goal_name(goal_));
      results.goal.values[row][column] = value;
      const std::array<double, 3> groups = {log.last.accuracy.tail, log.last.accuracy.head,
                                            log.last.accuracy.medium};
      for (std::size_t g = 0; g < groups.size(); ++g)
        results.groups[g].second.values[row][column] = groups[g];
    }
    results.of_a_run = trained > 0 ? total / trained : 0;
    return results;
  }

  void conclude(Results& results, const report::Race& race, RaceOutcome& outcome) const {
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
    // Without a recommendation, use the baseline unless it is ruled out.
    const std::vector<std::size_t>& in = race.still_in;
    const bool baseline_in = in.empty() || std::find(in.begin(), in.end(), baseline_) != in.end();
    std::size_t row = baseline_in ? baseline_ : in.front();
    if (const auto& chosen = outcome.recommendation.series) {
      const std::vector<std::string> texts = texts_of(rows_);
      row = static_cast<std::size_t>(std::find(texts.begin(), texts.end(), *chosen) - texts.begin());
    }
    outcome.network_words = words_[row];
    link_network(row, outcome);
  }

  // `network` in the folder links to the run of the first seed, a choice made before anything was measured.
  void link_network(std::size_t row, RaceOutcome& outcome) const {
    const study::StudyFile study = study_of(plan_, looks_.seeds.front());
    for (const study::PlannedRun& run : study::resolve(study, study::engine_of(study, out_))) {
      if (row_of(run) != row || study::inspect(out_, run).status != study::Status::kDone) continue;
      const fs::path link = out_ / "network", fresh = out_ / ".network.tmp";
      std::error_code error;
      fs::remove(fresh, error);
      fs::create_directory_symlink(fs::path("runs") / run.name, fresh, error);
      if (!error) fs::rename(fresh, link, error);
      outcome.network = error ? study::run_folder(out_, run.name) : link;
      return;
    }
  }

  RecommendPlan& plan_;
  const std::vector<Candidate> rows_;  // the rows of all tables
  report::Goal goal_;
  fs::path out_;
  TimeBudget& budget_;
  Pace pace_;
  std::string race_data_;   // the hash of the images that the race is about; empty: not known yet
  bool data_seen_ = false;  // the images were checked in this command
  report::LookPlan looks_{};
  std::vector<std::string> words_;
  std::vector<int> trainings_;  // as in report::SeedTable
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

RaceOutcome run_race(RecommendPlan& plan, const fs::path& out, TimeBudget& budget) {
  return RaceRunner(plan, out, budget).run();
}

}  // namespace longtail::cli
