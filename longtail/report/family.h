// One family of comparisons: one metric of several strategies over the same seeds. Runs of a seed share
// images, initial weights and augmentation, so the table is a randomised block design, accuracy = strategy +
// seed + residual, fitted by least squares (missing runs allowed). The fit gives Dunnett's simultaneous
// intervals against the baseline and Hsu's multiple comparisons with the best.
//
// Chance moves strategies that share a training together. Their runs do not show how large chance is, so the
// residual is estimated from one strategy per training. If all share one training, the common part belongs to
// the seed, and all strategies count.
//
// Hsu's intervals protect one best strategy. Of several equally good ones they drop one too often (of two
// copies in 10% of studies, of seven next to a worse one in 19%). So they are only shown, and ruling out asks
// for more: some difference from the baseline is established (the gate), and the strategy is below the
// baseline, or the baseline below it, by Dunnett's interval, or it is below another by the step-down range
// test of Ryan, Einot, Gabriel and Welsch, which keeps its error over all pairs, whichever are equal (where
// runs are missing, and in a race, by Tukey's critical value for all pairs; from five strategies on, at alpha
// / 4). If all are equal, nothing is established and nothing ruled out with probability 1 - alpha; of several
// equally good strategies next to worse ones, one is ruled out in at most 6% of studies
// (bench/bench_families).
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace longtail::report {

// values[strategy][seed] in percent; NaN where there is no run.
struct SeedTable {
  std::vector<std::string> names{};
  std::vector<std::vector<double>> values{};
  // One number per strategy; those with the same number share a training (rebalanced from one network, or
  // with a common beginning), so that chance moves them together. Empty: each has its own.
  std::vector<int> trainings{};

  std::size_t strategies() const { return names.size(); }
  std::size_t seeds() const { return values.empty() ? 0 : values[0].size(); }
};

struct FamilyOptions {
  std::size_t baseline = 0;
  double alpha = 0.05;
  // How many strategies a race with several looks began with: critical values are for that many. 0: as many
  // as the table has.
  int entrants = 0;
};

enum class Method {
  kNone,      // nothing can be said; Family::limit says why
  kPooled,    // one residual for all strategies
  kSeparate,  // residuals differ grossly: paired t intervals with Bonferroni's correction
};

enum class Judgement {
  kEstablished,     // the interval does not contain 0
  kNotEstablished,  // it does
  kNoDifference,    // every seed gives exactly the same value
  kCannotTell,      // no interval: one seed, or the same difference in every seed
  // For the leader and a rival: the interval does not contain 0, but no difference from the baseline is
  // established (the gate), so nothing is ruled out.
  kHeldBack,
};
// "established", "not established", "no difference", "cannot be told", "held back".
std::string judgement_words(Judgement judgement);

struct Standing {
  int seeds = 0;
  double mean = 0;          // over its own seeds
  double effect = 0;        // least squares, relative to the first strategy that can be compared
  bool comparable = false;  // connected with the others by common seeds
  // This strategy minus the baseline; NaN for the baseline itself.
  double difference = 0, low = 0, high = 0;
  Judgement judgement = Judgement::kCannotTell;
  // This strategy minus the best of the others (constrained: never both above or both below 0). NaN where no
  // spread bounds it.
  double best_low = 0, best_high = 0;
  bool may_be_best = false;  // comparable and not ruled out
  // The leader minus this one, and the half-width of the interval by which it is ruled out: Dunnett's with
  // the baseline, otherwise Tukey's. Infinite where there is no spread to judge by.
  double rival_lead = 0, rival_margin = 0;
};

struct Family {
  Method method = Method::kNone;
  double alpha = 0.05;
  double residual = 0;  // standard deviation of a run after strategy and seed are taken out
  int dof = 0;
  int sharing = 0;      // strategies left out of the residual, since they share a training with another
  double critical = 0;  // Dunnett's, two-sided; 0 unless pooled
  std::vector<Standing> standings{};  // in the order of the table's strategies
  std::size_t baseline = 0;
  // The one with the highest least-squares mean among those that may be the best, or among all if each is
  // ruled out; the first of equals.
  std::size_t leader = 0;
  std::string limit{};   // a sentence, empty if all can be said
  double unequal_p = 1;  // Cochran's test that one strategy's residuals are the largest by chance

  bool any_established() const;
  std::vector<std::size_t> may_be_best() const;
  std::vector<std::size_t> ruled_out() const;
};

// A bound cut to what is possible: two accuracies in percent are at most 100 points apart, however wide an
// interval from few seeds is. NaN stays NaN.
double possible(double difference);

// Compares the baseline and the strategies that seeds link with it, directly or through others. If the
// baseline shares no seed with any strategy, the largest set that seeds link is compared within itself.
Family analyse(const SeedTable& table, const FamilyOptions& options = {});

// The part of the table with these strategies and the first `seeds` seeds only.
SeedTable part_of(const SeedTable& table, const std::vector<std::size_t>& strategies, std::size_t seeds);

// Error probability for the pairs without the baseline, among this many strategies. A race gives them all of
// alpha: it has enough to spare. (This and what follows: family_settle.cc)
double pair_alpha(const FamilyOptions& options, int strategies, bool with_baseline);

// How far the leader is ahead of another strategy that may still be the best.
struct Lead {
  double ahead = 0;
  bool with_baseline = false;  // one of the two is the baseline
};
std::vector<Lead> leads_of(const Family& family);

inline constexpr double kSettledChance = 0.8;

// The chance that after `seeds` seeds of each strategy only the leader may be the best, if its leads and the
// residual are what they seem and everything else is ruled out. The residual comes from `strategies`
// strategies with these seeds, less the `sharing` ones that share a training with another. At a look of a
// race, `entrants` strategies began (FamilyOptions); an earlier look may have settled it, so over all looks
// the chance is no smaller.
double chance_to_settle(const std::vector<Lead>& leads, double residual, int strategies, int seeds,
                        double alpha, int entrants = 0, int sharing = 0);
// The fewest and the most seeds of the strategies that may be the best; 0 if there are none.
struct SeedRange {
  int fewest = 0, most = 0;
};
SeedRange seeds_of_candidates(const Family& family);
// How many seeds of each strategy beyond `seeds` give that an 80% chance; 0 if it is settled, -1 if that
// takes more than `most` or cannot be told. Where runs are missing, `seeds` is the fewest. Not for a race,
// which has its own critical values and looks.
int seeds_to_settle(const Family& family, int seeds, double chance = kSettledChance, int most = 100);

}  // namespace longtail::report
