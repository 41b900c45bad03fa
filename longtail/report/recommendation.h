// The answer as a value: which strategy to train with, how sure that is, what it costs elsewhere, and how
// many more seeds would settle it. Computed from strategy x seed tables, so that `report` and `recommend`
// agree.
//
//   Question q{.goal = Goal::kBalanced, .table = balanced, .groups = {{"head", head}, {"tail", tail}},
//              .words = {"uniform", "class-balanced"}};
//   fmt::print("{}\n", recommend(q).sentence);
//
// A race looks at the same strategies after 3, 5, 8 and 12 seeds, drops those that are ruled out and stops
// when one is left. Each look is made at alpha / (number of looks), with critical values for as many
// strategies as began: over all looks together the true best is ruled out with probability alpha at most.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "longtail/report/family.h"

namespace longtail::report {

// What best means. kWorst: the lowest of the head, medium and tail accuracies.
enum class Goal { kBalanced, kOverall, kTail, kWorst };
std::string_view goal_name(Goal goal);  // "balanced"
// "Balanced accuracy", "Accuracy of the worst group".
std::string_view goal_title(Goal goal);
Goal parse_goal(std::string_view name);  // a UsageError names the four

struct LookPlan {
  std::vector<int> seeds = {3, 5, 8, 12};
  double alpha = 0.05;
  std::string
      baseline{};  // name in the table of the strategy to compare the others with; empty: the question's
  std::optional<Goal> goal{};  // that decided the race; none: the goal of the question
  double alpha_of_a_look() const { return alpha / static_cast<double>(seeds.size()); }
};

struct Race {
  std::size_t looks = 0;              // made
  std::vector<std::size_t> still_in;  // rows of the table
  std::vector<std::size_t> dropped;   // in the order in which they were ruled out
  std::vector<int> dropped_after;     // after how many seeds each of them was
  std::optional<int> next;            // seeds that the next look needs of each still in; none: it is over
  Family family;                      // of the last look, over the rows that were still in before it
  std::vector<std::size_t> rows;      // those rows

  bool decided() const { return still_in.size() == 1; }
};

// Replays the looks for which all runs are there. A pure function of the table, so it may be called after
// every run; seeds count in the order of the columns. (looks.cc)
Race run_looks(const SeedTable& table, std::size_t baseline, const LookPlan& plan);

struct Question {
  Goal goal = Goal::kBalanced;
  SeedTable table{};                                        // the goal's metric
  std::vector<std::pair<std::string, SeedTable>> groups{};  // "head", "medium", "tail": gains and costs
  std::vector<std::string> words{};  // what a sentence calls the strategies; empty: their names
  std::size_t baseline = 0;
  double alpha = 0.05;
  std::optional<LookPlan> looks{};  // the table was filled by a race
};

// The leader minus another strategy, recommended or not.
struct Change {
  std::string metric{};   // "tail"
  std::string against{};  // the name of the other strategy
  double difference = 0, low = 0, high = 0;
  Judgement judgement = Judgement::kCannotTell;
};

struct Recommendation {
  Goal goal = Goal::kBalanced;
  std::optional<std::string> series{};  // none: nothing can be recommended
  std::string leader{};  // the highest by least squares, recommended or not; empty without runs
  double mean = 0;       // of the leader over its own seeds, percent; of a race over those of its last look
  std::vector<std::string> may_be_best{};
  std::vector<std::string> ruled_out{};
  std::vector<Change> rivals{};   // the leader minus each of the others that may be best
  std::vector<Change> changes{};  // the leader by group, costs as well as gains
  // How many more seeds would settle it with 80% chance, counted from the fewest seeds of those that may be
  // the best; in a race, the number up to one of its next looks. None: settled, too close to say, or no look
  // of the race is left that would settle it.
  std::optional<int> more_seeds{};
  int seeds = 0;  // of the leader, over which its mean is taken
  std::string sentence{};
};

// Recommends the leader if it is not ruled out and another strategy is; otherwise nothing. If the question
// has another goal than the one that decided a race, replays the looks by the new goal as far as there are
// runs, and says so. That is honest: a race by that goal would have ruled out the same strategies, and might
// only have looked further. Analysing all runs at once would not be: their number was decided by looking at
// them.
Recommendation recommend(const Question& question);

}  // namespace longtail::report
