#include "longtail/report/recommendation.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>

#include "longtail/base/error.h"
#include "longtail/base/text.h"
#include "longtail/report/block_design.h"
#include "longtail/report/table.h"

namespace longtail::report {
namespace {

struct GoalNames {
  Goal goal;
  std::string_view name, title;
};
constexpr std::array<GoalNames, 4> kGoals = {{{Goal::kBalanced, "balanced", "Balanced accuracy"},
                                              {Goal::kOverall, "overall", "Overall accuracy"},
                                              {Goal::kTail, "tail", "Tail accuracy"},
                                              {Goal::kWorst, "worst", "Accuracy of the worst group"}}};

std::string count_word(int count) {
  constexpr std::array<std::string_view, 13> kWords = {"no",   "one",    "two",   "three", "four",
                                                       "five", "six",    "seven", "eight", "nine",
                                                       "ten",  "eleven", "twelve"};
  return count < 13 ? std::string(kWords[static_cast<std::size_t>(count)]) : fmt::format("{}", count);
}

std::string capital(std::string words) {
  if (!words.empty() && words[0] >= 'a' && words[0] <= 'z') words[0] = static_cast<char>(words[0] - 32);
  return words;
}

// "a, b and two others": nobody reads a sentence of twenty names.
std::string listed_shortly(std::vector<std::string> words) {
  constexpr std::size_t kMost = 6, kNamed = 4;
  if (words.size() > kMost) {
    const auto others = static_cast<int>(words.size() - kNamed);
    words.resize(kNamed);
    words.push_back(count_word(others) + " others");
  }
  return base::listed(std::move(words));
}

// What the sentence is made of: the family that decides, with rows of the whole table.
struct Verdicts {
  Family family;
  std::vector<std::size_t> rows;       // of the table, for each of the family's strategies
  std::vector<std::size_t> ruled_out;  // rows of the table
  std::vector<std::size_t> candidates;
  std::size_t leader = 0;
};

const std::string& word_of_row(const Question& q, std::size_t row) {
  return q.words.empty() ? q.table.names[row] : q.words[row];
}

// Whether the runs are those of a race that another goal decided.
bool of_another_goal(const Question& q) { return q.looks && q.looks->goal && *q.looks->goal != q.goal; }

// The same question with the baseline of its race; none if it already has that one, or if there is no such
// strategy.
std::optional<Question> with_baseline_of_race(const Question& q) {
  if (!q.looks || q.looks->baseline.empty()) return std::nullopt;
  const auto at = std::find(q.table.names.begin(), q.table.names.end(), q.looks->baseline);
  const auto row = static_cast<std::size_t>(at - q.table.names.begin());
  if (at == q.table.names.end() || row == q.baseline) return std::nullopt;
  Question own = q;
  own.baseline = row;
  return own;
}

std::string no_look_words(const Question& q, const Family& family) {
  std::vector<std::string> there;
  for (std::size_t i = 0; i < family.standings.size(); ++i)
    there.push_back(fmt::format("{} of {}", count_word(family.standings[i].seeds), word_of_row(q, i)));
  return fmt::format("The first look needs {} seeds of every strategy, and there are {}.",
                     count_word(q.looks->seeds.front()), base::listed(std::move(there)));
}

Verdicts judge(const Question& q) {
  Verdicts v;
  if (q.looks) {
    Race race = run_looks(q.table, q.baseline, *q.looks);
    if (race.looks > 0) {
      v.family = std::move(race.family);
      v.rows = std::move(race.rows);
      v.ruled_out = std::move(race.dropped);
    }
  }
  if (v.rows.empty()) {
    v.rows.resize(q.table.strategies());
    std::iota(v.rows.begin(), v.rows.end(), std::size_t{0});
    v.family = analyse(q.table, {.baseline = q.baseline, .alpha = q.alpha});
    if (q.looks) {
      v.family.method = Method::kNone;  // a race is judged only at its looks
      v.family.limit = no_look_words(q, v.family);
      for (Standing& one : v.family.standings) one.may_be_best = one.comparable;
    }
    for (const std::size_t i : v.family.ruled_out()) v.ruled_out.push_back(i);
  }
  for (const std::size_t i : v.family.may_be_best()) v.candidates.push_back(v.rows[i]);
  v.leader = v.rows.empty() ? 0 : v.rows[v.family.leader];
  return v;
}

class Writer {
 public:
  Writer(const Question& question, const Verdicts& verdicts, const Recommendation& made)
      : q_(question), v_(verdicts), made_(made) {}

  std::string sentence() const {
    const std::string apart = not_compared_words();
    return answer() + (apart.empty() ? "" : " " + apart);
  }

 private:
  std::string answer() const {
    std::vector<std::string> parts;
    if (!made_.series && v_.family.method == Method::kNone) return refusal();
    if (!made_.series && v_.candidates.empty()) return contradiction();
    parts.push_back(made_.series ? fmt::format("Use {}.", word(v_.leader)) : nothing_ruled_out());
    if (made_.series) parts.push_back(ranking());
    if (const std::string changes = changes_words(); !changes.empty()) parts.push_back(changes);
    if (const std::string gate = gate_words(); !gate.empty()) parts.push_back(gate);
    if (const std::string more = more_seeds(); !more.empty()) parts.push_back(more);
    return base::join(parts, " ");
  }

  const std::string& word(std::size_t row) const { return word_of_row(q_, row); }
  std::string word_of(const std::string& name) const {
    const auto at = std::find(q_.table.names.begin(), q_.table.names.end(), name);
    return word(static_cast<std::size_t>(at - q_.table.names.begin()));
  }
  std::string words_of(const std::vector<std::size_t>& rows) const {
    std::vector<std::string> words;
    words.reserve(rows.size());
    for (const std::size_t row : rows) words.push_back(word(row));
    return listed_shortly(std::move(words));
  }
  // The other strategies that may be the best; if there are many, those nearest to the leader are named.
  std::string rivals_words() const {
    std::vector<Change> nearest = made_.rivals;
    std::stable_sort(nearest.begin(), nearest.end(),
                     [](const Change& a, const Change& b) { return a.difference < b.difference; });
    std::vector<std::string> words;
    words.reserve(nearest.size());
    for (const Change& rival : nearest)
      words.push_back(fmt::format("{} ({})", word_of(rival.against), rival_words(rival)));
    return listed_shortly(std::move(words));
  }
  std::string title() const { return std::string(goal_title(q_.goal)); }
  std::string goal_in_a_sentence() const {
    std::string words = title();
    words[0] = static_cast<char>(words[0] + 32);
    return words;
  }

  // Whether the mean of another is above the leader's, or below it although the two are level: the leader is
  // chosen on the seeds they share, but each mean is over a strategy's own seeds.
  bool means_disagree() const {
    const Standing& leader = v_.family.standings[v_.family.leader];
    return std::any_of(v_.family.standings.begin(), v_.family.standings.end(), [&](const Standing& one) {
      return one.comparable &&
             (one.mean > leader.mean + kNoSpread || (level(one) && one.mean < leader.mean - kNoSpread));
    });
  }
  bool level(const Standing& one) const {
    return std::abs(v_.family.standings[v_.family.leader].effect - one.effect) < kNoSpread;
  }
  // Whether a race has runs beyond its last look: the tables count them, the look does not.
  bool beyond_the_look() const {
    for (std::size_t i = 0; q_.looks && i < v_.rows.size(); ++i) {
      const auto& row = q_.table.values[v_.rows[i]];
      const auto runs = std::count_if(row.begin(), row.end(), [](double v) { return std::isfinite(v); });
      if (runs > v_.family.standings[i].seeds) return true;
    }
    return false;
  }
  std::string at_the_look() const {
    return beyond_the_look() ? fmt::format(" after the first {} seeds", count_word(made_.seeds)) : "";
  }
  // " (43.0)": the mean of the leader, which has the highest.
  std::string highest_words() const {
    return means_disagree()
               ? fmt::format(" on the seeds they share ({} over all its own)", fixed(made_.mean, 1))
               : fmt::format(" ({}{})", fixed(made_.mean, 1), at_the_look());
  }

  std::string refusal() const {
    const auto& all = v_.family.standings;
    if (std::all_of(all.begin(), all.end(), [](const Standing& one) { return one.seeds == 0; }))
      return fmt::format("Nothing can be recommended: no run has a value of {}.", goal_in_a_sentence());
    std::string out = "Nothing can be recommended. " + v_.family.limit;
    std::vector<std::size_t> leaders;
    std::size_t compared = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (!all[i].comparable) continue;
      ++compared;
      if (level(all[i])) leaders.push_back(v_.rows[i]);
    }
    if (leaders.size() < compared)
      out +=
          fmt::format(" So far {} {} the highest {}{}.", words_of(leaders),
                      leaders.size() == 1 ? "has" : "share", goal_in_a_sentence(),
                      leaders.size() > 1 && means_disagree() ? " on the seeds they share" : highest_words());
    return out;
  }

  // The strategies with runs that no seed links with the compared ones. If none are compared, that has been
  // said.
  std::string not_compared_words() const {
    const auto& all = v_.family.standings;
    std::vector<std::size_t> apart;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (all[i].seeds > 0 && !all[i].comparable) apart.push_back(v_.rows[i]);
    }
    const bool any = std::any_of(all.begin(), all.end(), [](const Standing& one) { return one.comparable; });
    return apart.empty() || !any
               ? ""
               : fmt::format("Not compared, for want of common seeds: {}.", words_of(apart));
  }

  std::string contradiction() const {
    return fmt::format(
        "Nothing can be recommended: each of {} is below another one on the seeds that both have. That "
        "happens only where runs are missing; run the missing seeds.",
        words_of(v_.ruled_out));
  }

  std::string nothing_ruled_out() const {
    std::string out =
        fmt::format("Nothing can be recommended: none of {} is ruled out. {} has the highest {}{}",
                    words_of(v_.candidates), capital(word(v_.leader)), goal_in_a_sentence(), highest_words());
    return out + "; not ruled out: " + rivals_words() + ".";
  }

  // Why even strategies whose interval does not contain 0 are not ruled out.
  std::string gate_words() const {
    std::vector<std::string> held;
    for (const Change& rival : made_.rivals) {
      if (rival.judgement == Judgement::kHeldBack) held.push_back(word_of(rival.against));
    }
    if (held.empty() || q_.baseline >= q_.table.strategies()) return "";
    const bool one = held.size() == 1;
    return fmt::format(
        "As long as no difference from {} is established{}, nothing {}is ruled out: not even {}, whose "
        "interval{} not contain 0.",
        word(q_.baseline), q_.looks ? " at a look" : "", v_.ruled_out.empty() ? "" : "more ",
        listed_shortly(std::move(held)), one ? " does" : "s do");
  }

  std::string rival_words(const Change& rival) const {
    if (std::isfinite(rival.low) && std::isfinite(rival.high)) {
      return fmt::format("difference {}, between {} and {}", fixed(rival.difference, 1),
                         fixed_bound(rival.low, 1, true), fixed_bound(rival.high, 1, true));
    }
    if (rival.judgement == Judgement::kNoDifference) return "the same in every seed";
    // If it is judged by itself, it is the same in every seed or known from one seed only.
    return fmt::format("difference {}{}", fixed(rival.difference, 1),
                       v_.family.method == Method::kNone
                           ? " in every seed, so there is no spread to judge it by"
                           : ", which has no spread to judge it by");
  }

  std::string ranking() const {
    std::string out = fmt::format(
        "{} {}{}; ", title(), fixed(made_.mean, 1),
        means_disagree() ? " over all its seeds, the highest on those they share" : at_the_look());
    out += fmt::format("{} {} ruled out", words_of(v_.ruled_out), v_.ruled_out.size() == 1 ? "is" : "are");
    if (made_.rivals.empty()) return out + ".";
    if (made_.rivals.size() == 1) {
      const Change& rival = made_.rivals[0];
      return out + fmt::format("; {} is not ({}).", word_of(rival.against), rival_words(rival));
    }
    return out + fmt::format("; {} are not.", rivals_words());
  }

  std::string change_words(const Change& change, bool name_the_other) const {
    const std::string other = word_of(change.against);
    const std::string where =
        change.metric == "medium" ? "on the medium classes" : fmt::format("on the {}", change.metric);
    const auto range = [](double a, double b) {
      return fmt::format("({} to {})", fixed_bound(a, 1), fixed_bound(b, 1));
    };
    if (change.judgement == Judgement::kCannotTell && std::abs(change.difference) < kNoSpread)
      return fmt::format("{} it is level with {}, which cannot be judged", where, other);
    if (change.judgement == Judgement::kCannotTell)
      return fmt::format("{} it is {} {} {}, which cannot be judged", where,
                         fixed_bound(std::abs(change.difference), 1),
                         change.difference < 0 ? "below" : "above", other);
    const std::string over = name_the_other ? " over " + other : "";
    const std::string to = name_the_other ? " to " + other : "";
    if (change.judgement == Judgement::kEstablished && change.difference > 0)
      return fmt::format("{} it gains {}{} {}", where, fixed_bound(change.difference, 1), over,
                         range(change.low, change.high));
    if (change.judgement == Judgement::kEstablished)
      return fmt::format("{} it loses {}{} {}", where, fixed_bound(-change.difference, 1), to,
                         range(-change.high, -change.low));
    if (change.judgement == Judgement::kNoDifference)
      return fmt::format("{} it does not differ from {}", where, other);
    return fmt::format("{} it may lose up to {}{}", where, fixed_bound(-change.low, 1), to);
  }

  std::string changes_words() const {
    std::vector<std::string> parts;
    std::string last;
    for (const Change& change : made_.changes) {
      parts.push_back(change_words(change, change.against != last));
      last = change.against;
    }
    return parts.empty() ? "" : capital(base::join(parts, "; ")) + ".";
  }

  std::string close_race() const {
    if (of_another_goal(q_)) return "";
    const int last = q_.looks->seeds.back();
    if (made_.seeds >= last)
      return fmt::format("The race is over: its last look is the one after {} seeds.", count_word(last));
    return fmt::format(
        "They are too close: not even the last look, after {} seeds, would settle it with 80% chance.",
        count_word(last));
  }

  // They are counted from the fewest seeds of those that may be the best, in a race from those of its last
  // look. So where some have more, the sentence gives the total needed.
  std::string more_seeds() const {
    if (made_.rivals.empty()) return "";
    const SeedRange seeds = seeds_of_candidates(v_.family);
    const bool alike = seeds.fewest == seeds.most && !beyond_the_look();
    if (!made_.more_seeds) {
      if (v_.family.method != Method::kPooled) return "";
      if (q_.looks) return close_race();
      return alike ? "They are too close: a hundred more seeds would not settle it with 80% chance."
                   : fmt::format(
                         "They are too close: not even {} seeds of each strategy would settle it with 80% "
                         "chance.",
                         seeds.fewest + 100);
    }
    if (!alike)
      return fmt::format(
          "With {} seeds of each strategy it would be settled with 80% chance, if the differences are what "
          "they seem.",
          count_word(seeds.fewest + *made_.more_seeds));
    return fmt::format(
        "{} more seed{} would settle it with 80% chance, if the differences are what they seem.",
        capital(count_word(*made_.more_seeds)), *made_.more_seeds == 1 ? "" : "s");
  }

  const Question& q_;
  const Verdicts& v_;
  const Recommendation& made_;
};

// The leader minus a rival: Dunnett's interval if one of them is the baseline, otherwise Tukey's.
Change rival_of(const Question& q, const Verdicts& v, std::size_t row) {
  const auto index = [&](std::size_t one) {
    return static_cast<std::size_t>(std::find(v.rows.begin(), v.rows.end(), one) - v.rows.begin());
  };
  const Standing& leader = v.family.standings[v.family.leader];
  const Standing& other = v.family.standings[index(row)];
  Change change{.metric = std::string(goal_name(q.goal)), .against = q.table.names[row]};
  const bool judged = v.family.method != Method::kNone;  // or the last look of a race found no spread
  change.difference = judged ? other.rival_lead : leader.effect - other.effect;
  change.low = possible(change.difference - other.rival_margin);
  change.high = possible(change.difference + other.rival_margin);
  // Without the gate it would be ruled out.
  change.judgement = change.low > 0 || change.high < 0 ? Judgement::kHeldBack : Judgement::kNotEstablished;
  if (!judged || !std::isfinite(other.rival_margin)) {
    change.low = change.high = std::numeric_limits<double>::quiet_NaN();
    change.judgement = change.difference == 0 ? Judgement::kNoDifference : Judgement::kCannotTell;
  }
  return change;
}

// How many more seeds it takes to the first look that would leave the leader alone with 80% chance, by the
// critical values of run_looks; 0: it is settled, no look that would is left, or it cannot be told.
int seeds_to_settling_look(const Question& q, const Verdicts& v) {
  const Family& family = v.family;
  if (of_another_goal(q) || family.method != Method::kPooled || v.candidates.size() < 2) return 0;
  // Of the strategies that share a training, one counts for the residual, unless all share one (family.h).
  std::set<int> trainings;
  for (const std::size_t row : v.candidates)
    trainings.insert(q.table.trainings.empty() ? static_cast<int>(row) : q.table.trainings[row]);
  const std::size_t apart = trainings.size() > 1 ? trainings.size() : v.candidates.size();
  const int seeds = family.standings[family.leader].seeds;
  for (const int look : q.looks->seeds) {
    if (look > seeds && chance_to_settle(leads_of(family), family.residual, static_cast<int>(apart), look,
                                         q.looks->alpha_of_a_look(),
                                         static_cast<int>(q.table.strategies())) >= kSettledChance)
      return look - seeds;
  }
  return 0;
}

// The runs of a group that the verdicts are about: in a race, those up to its last look.
SeedTable judged_part(const Question& q, const Verdicts& v, const SeedTable& group) {
  std::vector<std::size_t> all(group.strategies());
  std::iota(all.begin(), all.end(), std::size_t{0});
  const auto seeds = static_cast<std::size_t>(v.family.standings[v.family.leader].seeds);
  return q.looks ? part_of(group, all, seeds) : group;
}

// The leader by group: against the baseline or, if it is the baseline, against the strategy that may gain
// most on it.
std::optional<Change> change_of(const Question& q, const Verdicts& v, const std::string& metric,
                                const SeedTable& group) {
  const double alpha = q.looks ? q.looks->alpha_of_a_look() : q.alpha;
  const SeedTable table = judged_part(q, v, group);
  const Family family = analyse(table, {.baseline = q.baseline, .alpha = alpha});
  Change change{.metric = metric};
  if (v.leader != q.baseline) {
    const Standing& own = family.standings[v.leader];
    if (!std::isfinite(own.difference)) return std::nullopt;
    change.against = q.table.names[q.baseline];
    change.difference = own.difference;
    change.low = own.low;
    change.high = own.high;
    change.judgement = own.judgement;
    return change;
  }
  const Standing* most = nullptr;
  for (std::size_t i = 0; i < table.strategies(); ++i) {
    const Standing& one = family.standings[i];
    if (!std::isfinite(one.difference)) continue;
    const auto reach = [](const Standing& s) { return std::isfinite(s.high) ? s.high : s.difference; };
    if (most && reach(*most) >= reach(one)) continue;
    most = &one;
    change.against = q.table.names[i];
  }
  if (!most) return std::nullopt;
  change.difference = -most->difference;
  change.low = -most->high;
  change.high = -most->low;
  change.judgement = most->judgement;
  return change;
}

}  // namespace

std::string_view goal_name(Goal goal) { return kGoals[static_cast<std::size_t>(goal)].name; }
std::string_view goal_title(Goal goal) { return kGoals[static_cast<std::size_t>(goal)].title; }

Goal parse_goal(std::string_view name) {
  for (const GoalNames& one : kGoals) {
    if (one.name == name) return one.goal;
  }
  base::fail<base::UsageError>("there is no goal `{}`; there are balanced, overall, tail and worst", name);
}

Recommendation recommend(const Question& question) {
  if (const auto own = with_baseline_of_race(question)) return recommend(*own);
  Recommendation made{.goal = question.goal};
  if (question.table.strategies() == 0) {
    made.sentence = "Nothing can be recommended. There is no run.";
    return made;
  }
  const Verdicts v = judge(question);
  const Standing& leader = v.family.standings[v.family.leader];
  made.mean = leader.mean;
  made.seeds = leader.seeds;
  if (leader.seeds > 0) made.leader = question.table.names[v.leader];
  // Also if the strategies still in a race do not differ at all: the others are ruled out.
  if (v.family.method != Method::kNone || !v.ruled_out.empty()) {
    if (!v.ruled_out.empty() && leader.may_be_best) made.series = made.leader;
    for (const std::size_t row : v.candidates) made.may_be_best.push_back(question.table.names[row]);
    for (const std::size_t row : v.ruled_out) made.ruled_out.push_back(question.table.names[row]);
    for (const std::size_t row : v.candidates) {
      if (row != v.leader) made.rivals.push_back(rival_of(question, v, row));
    }
    for (const auto& [metric, table] : question.groups) {
      if (metric == goal_name(question.goal)) continue;
      if (auto change = change_of(question, v, metric, table)) made.changes.push_back(std::move(*change));
    }
    const int more = question.looks ? seeds_to_settling_look(question, v)
                                    : seeds_to_settle(v.family, seeds_of_candidates(v.family).fewest);
    if (more > 0) made.more_seeds = more;
  }
  made.sentence = Writer(question, v, made).sentence();
  if (of_another_goal(question)) {
    std::string title(goal_title(*question.looks->goal));
    title[0] = static_cast<char>(title[0] + 32);
    made.sentence += fmt::format(
        " This is not what the race was decided by: who was dropped, and when it stopped, went by {}.",
        title);
  }
  return made;
}

}  // namespace longtail::report
