#include "longtail/sampling/strategy.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <set>

#include "longtail/base/error.h"
#include "longtail/sampling/alias.h"
#include "longtail/sampling/chi_square.h"
#include "longtail/sampling/testing.h"

namespace longtail::sampling {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;

std::vector<double> at(std::string_view strategy, std::span<const std::int64_t> counts,
                       const Situation& situation = {}) {
  return make_strategy(strategy)->probabilities(counts, situation);
}

std::string message_of(std::string_view text) {
  try {
    make_strategy(text);
  } catch (const base::Error& error) {
    return error.what();
  }
  return "(nothing thrown)";
}

std::vector<double> uniform_of(std::span<const std::int64_t> counts) {
  const auto n = static_cast<double>(std::accumulate(counts.begin(), counts.end(), std::int64_t{0}));
  std::vector<double> p;
  for (const std::int64_t count : counts) p.push_back(static_cast<double>(count) / n);
  return p;
}

// Accuracies as a training might have them: some that rise, one class never measured.
std::vector<std::vector<double>> history(int epochs, std::size_t classes) {
  std::vector<std::vector<double>> all;
  for (int e = 0; e < epochs; ++e) {
    std::vector<double> row;
    for (std::size_t k = 0; k < classes; ++k)
      row.push_back(100.0 * (e % 20) / 20 / static_cast<double>(k + 1));
    row[classes / 2] = std::nan("");
    all.push_back(row);
  }
  return all;
}

TEST(Strategy, ProbabilitiesSumToOneAndSkipEmptyClasses) {
  const std::vector<std::int64_t> counts = {500, 0, 20, 3, 0, 1};
  for (const base::VariantInfo& info : strategies()) {
    for (const int epoch : {0, 7, 159, 160, 199}) {
      const Situation situation{epoch, 200, history(epoch, counts.size()), 16};
      const auto p = at(info.name, counts, situation);
      ASSERT_EQ(p.size(), counts.size()) << info.name;
      EXPECT_NEAR(std::accumulate(p.begin(), p.end(), 0.0), 1.0, 1e-15) << info.name;
      EXPECT_EQ(p[1], 0) << info.name;
      EXPECT_EQ(p[4], 0) << info.name;
      for (const std::size_t k : {0u, 2u, 3u, 5u}) EXPECT_GT(p[k], 0) << info.name;
    }
  }
}

TEST(Strategy, FixedOnesFollowTheirFormula) {
  const std::vector<std::int64_t> counts = {100, 16, 4};
  EXPECT_THAT(at("uniform", counts), ElementsAre(100 / 120.0, 16 / 120.0, 4 / 120.0));
  EXPECT_THAT(at("class_balanced", counts), ElementsAre(1 / 3.0, 1 / 3.0, 1 / 3.0));
  EXPECT_THAT(at("square_root", counts), ElementsAre(10 / 16.0, 4 / 16.0, 2 / 16.0));
  EXPECT_THAT(at("power:q=-1", counts),
              ElementsAre(DoubleNear(0.01 / 0.3225, 1e-15), DoubleNear(0.0625 / 0.3225, 1e-15),
                          DoubleNear(0.25 / 0.3225, 1e-15)));
}

TEST(Strategy, ProgressiveIsExactAtBothEnds) {
  for (const char* name : {"progressive", "progressive:gamma=2", "progressive:gamma=0.3"}) {
    for (const int epochs : {2, 3, 7, 200, 1000}) {
      EXPECT_EQ(at(name, kPaper, {0, epochs}), uniform_of(kPaper));
      EXPECT_EQ(at(name, kPaper, {epochs - 1, epochs}), std::vector<double>(100, 1.0 / 100));
    }
  }
}

// The listing of the paper: lam = min(epoch / (total_epochs - 1), 1.0); one epoch has lam = 1.
TEST(Strategy, ProgressiveFollowsThePapersCodeInBetween) {
  const auto uniform = uniform_of(kPaper);
  for (const int epoch : {1, 80, 160, 198, 250}) {
    const double lam = std::min(epoch / 199.0, 1.0);
    const auto p = at("progressive", kPaper, {epoch, 200});
    for (std::size_t k = 0; k < 100; ++k) EXPECT_EQ(p[k], (1.0 - lam) * uniform[k] + lam * (1.0 / 100));
  }
  EXPECT_EQ(at("progressive", kPaper, {0, 1}), std::vector<double>(100, 1.0 / 100));
}

TEST(Strategy, GammaAboveOneStaysUniformLonger) {
  EXPECT_GT(at("progressive:gamma=2", kPaper, {100, 200})[0], at("progressive", kPaper, {100, 200})[0]);
  EXPECT_LT(at("progressive:gamma=0.5", kPaper, {100, 200})[0], at("progressive", kPaper, {100, 200})[0]);
}

TEST(Strategy, PowerContainsItsRelatives) {
  EXPECT_EQ(at("power:q=1", kPaper), at("uniform", kPaper));
  EXPECT_EQ(at("power:q=0", kPaper), at("class_balanced", kPaper));
  const auto half = at("power:q=0.5", kPaper), root = at("square_root", kPaper);
  for (std::size_t k = 0; k < 100; ++k) EXPECT_NEAR(half[k], root[k], 1e-17);
}

TEST(Strategy, EffectiveNumberGoesFromUniformToBalanced) {
  EXPECT_EQ(at("effective_number:beta=0", kPaper), at("uniform", kPaper));
  const auto near_one = at("effective_number:beta=0.9999999999", kPaper);
  for (const double p : near_one) EXPECT_NEAR(p, 0.01, 1e-9);
  // Cui et al.: E(n) = 1 + beta + ... + beta^(n-1), here summed term by term.
  std::vector<double> weights;
  for (const std::int64_t n : kPaper) {
    double effective = 0;
    for (std::int64_t i = 0; i < n; ++i) effective += std::pow(0.99, static_cast<double>(i));
    weights.push_back(static_cast<double>(n) / effective);
  }
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  const auto p = at("effective_number:beta=0.99", kPaper);
  for (std::size_t k = 0; k < 100; ++k) EXPECT_NEAR(p[k], weights[k] / sum, 1e-15);
}

TEST(Strategy, RepeatFactorLiftsOnlyClassesBelowTheThreshold) {
  const std::vector<std::int64_t> counts = {900, 99, 1};  // shares 0.9, 0.099, 0.001
  EXPECT_EQ(at("repeat_factor:threshold=0.0001", counts), at("uniform", counts));
  const double lifted = std::sqrt(0.004 / 0.001);
  EXPECT_THAT(at("repeat_factor:threshold=0.004", counts),
              ElementsAre(DoubleNear(900 / (999 + lifted), 1e-15), DoubleNear(99 / (999 + lifted), 1e-15),
                          DoubleNear(lifted / (999 + lifted), 1e-15)));
}

TEST(Strategy, RepeatFactorWithAnotherExponentLiftsByThatPower) {
  const std::vector<std::int64_t> counts = {900, 99, 1};
  const double lifted = std::pow(4.0, 0.25);
  EXPECT_THAT(at("repeat_factor:threshold=0.004,exponent=0.25", counts)[2],
              DoubleNear(lifted / (999 + lifted), 1e-15));
  EXPECT_EQ(at("repeat_factor:threshold=0.004,exponent=0", counts), at("uniform", counts));
  EXPECT_EQ(canonical_strategy("repeat_factor:exponent=0.50"), "repeat_factor");
}

TEST(Strategy, FocusDrawsByTheErrorsOfTheLastEpochInWhichAClassWasSeen) {
  const std::vector<std::int64_t> counts = {80, 15, 5, 0};
  EXPECT_EQ(at("focus", counts, {0, 3}), uniform_of(counts));
  const double nan = std::nan("");
  const Situation two{2, 3, {{10, 50, 60, nan}, {90, 40, nan, nan}}};
  const std::vector<double> wrong = {0.1 + 0.05, 0.6 + 0.05, 0.4 + 0.05};
  for (const double power : {1.0, 2.0}) {
    double sum = 0;
    for (const double w : wrong) sum += std::pow(w, power);
    const auto p = at(power == 1 ? "focus" : "focus:power=2", counts, two);
    for (std::size_t k = 0; k < 3; ++k) EXPECT_NEAR(p[k], std::pow(wrong[k], power) / sum, 1e-15);
    EXPECT_EQ(p[3], 0);
  }
}

TEST(Strategy, AdaptiveTakesAStepWhenTheWorstThirdHasNoNewBestForPatienceEpochs) {
  const std::vector<std::int64_t> counts = {60, 30, 10};  // a class in each third
  const auto lambda = [&](const std::vector<double>& worst, const char* text) {
    Situation now{static_cast<int>(worst.size()), 100, {}};
    for (const double w : worst) now.class_accuracy.push_back({90, w, 80});
    const double p = at(text, counts, now)[0];  // (1 - l) 0.6 + l / 3
    return (0.6 - p) / (0.6 - 1.0 / 3);
  };
  const char* text = "adaptive:step=0.25,patience=2";
  EXPECT_NEAR(lambda({}, text), 0, 1e-12);
  EXPECT_NEAR(lambda({10, 20, 30, 40}, text), 0, 1e-12);
  EXPECT_NEAR(lambda({10, 20, 20}, text), 0, 1e-12);
  EXPECT_NEAR(lambda({10, 20, 20, 15}, text), 0.25, 1e-12);          // two epochs without a new best
  EXPECT_NEAR(lambda({10, 20, 20, 15, 16, 17}, text), 0.25, 1e-12);  // the wait began again at 15
  EXPECT_NEAR(lambda({10, 20, 20, 15, 16, 16, 16}, text), 0.5, 1e-12);
  EXPECT_NEAR(lambda(std::vector<double>(50, 5.0), text), 1, 1e-12);  // never beyond class-balanced
}

TEST(Strategy, AdaptivePassesOverEpochsInWhichNothingWasMeasured) {
  const std::vector<std::int64_t> counts = {60, 30, 10};
  const double nan = std::nan("");
  const std::vector<double> nothing = {nan, nan, nan};
  const auto after = [&](const std::vector<std::vector<double>>& accuracy) {
    return at("adaptive:patience=2", counts, {static_cast<int>(accuracy.size()), 20, accuracy});
  };
  const std::vector<double> low = {10, 10, 10}, high = {20, 20, 20};
  EXPECT_EQ(after({nothing, low, high}), uniform_of(counts));  // a new best after each
  EXPECT_EQ(after({low, nothing, nothing, high}), uniform_of(counts));
  EXPECT_EQ(after({low, nothing, low, low}), after({low, low, low}));
  EXPECT_NE(after({low, low, low}), uniform_of(counts));
}

TEST(Strategy, FocusHasProbabilitiesAtTheBoundsOfItsParametersToo) {
  const std::vector<std::int64_t> counts = {10, 5, 1};
  for (const char* text : {"focus:floor=1e-6,power=10", "focus:floor=1e6,power=10", "focus:power=0"}) {
    for (const double accuracy : {0.0, 100.0}) {
      const auto p = at(text, counts, {1, 20, {{accuracy, accuracy, accuracy}}});
      for (const double one : p) EXPECT_NEAR(one, 1.0 / 3, 1e-12) << text;
    }
  }
  EXPECT_THAT(message_of("focus:floor=1e-40"), HasSubstr("`floor` is `1e-40`; it must be from 1e-06 to"));
  EXPECT_THAT(message_of("focus:floor=1e40"), HasSubstr("it must be from 1e-06 to 1000000"));
}

TEST(Strategy, OneWithFeedbackSaysSoAndRefusesToWorkWithoutIt) {
  EXPECT_EQ(make_strategy("focus")->feedback(), Feedback::kTrainingDraws);
  EXPECT_EQ(make_strategy("deferred:then=adaptive")->feedback(), Feedback::kHeldOut);
  EXPECT_EQ(make_strategy("progressive")->feedback(), Feedback::kNone);
  EXPECT_THROW(at("focus", kPaper, {1, 200}), base::Error);
  EXPECT_THROW(at("adaptive", kPaper, {2, 200, {std::vector<double>(100)}}), base::Error);
  EXPECT_THROW(refuse_feedback(*make_strategy("focus")), base::Error);
  EXPECT_NO_THROW(refuse_feedback(*make_strategy("progressive")));
}

TEST(Strategy, DeferredChangesAtItsEpoch) {
  const auto strategy = make_strategy("deferred:first=uniform,then=progressive(gamma=2),at=100");
  EXPECT_TRUE(strategy->without_replacement({99, 200}));
  EXPECT_FALSE(strategy->without_replacement({100, 200}));
  EXPECT_EQ(strategy->probabilities(kPaper, {99, 200}), at("uniform", kPaper));
  EXPECT_EQ(strategy->probabilities(kPaper, {100, 200}), at("progressive:gamma=2", kPaper, {100, 200}));
}

TEST(Strategy, DeferredTakesAPartOfTheTraining) {
  const auto strategy = make_strategy("deferred:at=0.8");
  EXPECT_TRUE(strategy->without_replacement({159, 200}));
  EXPECT_FALSE(strategy->without_replacement({160, 200}));
  EXPECT_EQ(strategy->deferral(200)->epoch, 160);
  EXPECT_EQ(strategy->deferral(2)->epoch, 1);  // not never
  for (const int epochs : {2, 3, 10})          // and the first part is there
    EXPECT_EQ(make_strategy("deferred:at=0.2")->deferral(epochs)->epoch, epochs == 10 ? 2 : 1) << epochs;
  EXPECT_EQ(make_strategy("deferred:at=0.2")->deferral(1)->epoch, 0);
  EXPECT_EQ(make_strategy("deferred")->deferral(100)->epoch, 160);
}

TEST(Strategy, AChangeInsideAnotherStrategyIsKnown) {
  const auto stratified = make_strategy("stratified:of=deferred(at=50)")->deferral(100);
  ASSERT_TRUE(stratified.has_value());
  EXPECT_EQ(stratified->epoch, 50);
  EXPECT_EQ(stratified->first, "stratified");  // of uniform, which goes without saying
  EXPECT_THAT(make_strategy("deferred:then=deferred(at=500),at=10")->deferral(100)->changes,
              ElementsAre(10, 500));
  EXPECT_EQ(make_strategy("deferred:then=deferred(at=50),at=10")->deferral(100)->epoch, 10);
  EXPECT_THAT(make_strategy("deferred:first=deferred(at=0.2),then=stratified(of=deferred(at=50)),at=30")
                  ->deferral(100)
                  ->changes,
              ElementsAre(20, 30, 50));
}

TEST(Strategy, APartThatNeverComesIsRefused) {
  const auto refusal = [](std::string_view text, int epochs) -> std::string {
    try {
      refuse_late_change("strategy", text, make_strategy(text)->deferral(epochs), epochs);
    } catch (const base::UsageError& error) {
      return error.what();
    }
    return "(nothing thrown)";
  };
  EXPECT_THAT(refusal("deferred", 90),
              HasSubstr("which changes at epoch 160, but the last of 90 epochs is 89"));
  EXPECT_THAT(refusal("deferred:then=deferred(at=500),at=10", 200), HasSubstr("changes at epoch 500"));
  EXPECT_THAT(refusal("deferred:first=deferred(at=150),at=100", 200),
              HasSubstr("change at epoch 150 and next at epoch 100"));
  EXPECT_THAT(refusal("deferred:first=power,then=deferred(first=square_root,at=50),at=100", 200),
              HasSubstr("change at epoch 100 and next at epoch 50"));
  EXPECT_THAT(refusal("stratified:of=deferred(first=deferred(then=deferred(at=110),at=50),at=100)", 200),
              HasSubstr("change at epoch 110 and next at epoch 100"));
  for (const char* text : {"uniform", "deferred", "deferred:at=0", "deferred:at=0.999",
                           "deferred:first=deferred(at=99),then=deferred(at=199),at=100"})
    EXPECT_EQ(refusal(text, 200), "(nothing thrown)") << text;
}

TEST(Strategy, DeferredRefusesTwoKindsOfFeedback) {
  EXPECT_THROW(make_strategy("deferred:first=focus,then=adaptive"), base::Error);
  EXPECT_THROW(make_strategy("deferred:first=adaptive,then=focus"), base::Error);
  EXPECT_NO_THROW(make_strategy("deferred:first=focus,then=focus(floor=0.5)"));
}

TEST(Strategy, OnlyUniformDrawsWithoutReplacement) {
  for (const base::VariantInfo& info : strategies()) {
    const bool expected = info.name == "uniform" || info.name == "deferred";
    EXPECT_EQ(make_strategy(info.name)->without_replacement({0, 200}), expected) << info.name;
  }
}

TEST(Strategy, HasOneNameHoweverItIsWritten) {
  EXPECT_EQ(canonical_strategy(" progressive "), "progressive");
  EXPECT_EQ(canonical_strategy("progressive:gamma=1.0"), "progressive");
  EXPECT_EQ(canonical_strategy("progressive(gamma=2)"), "progressive:gamma=2");
  EXPECT_EQ(canonical_strategy("power: q = 0.250"), "power:q=0.25");
  EXPECT_EQ(canonical_strategy("power:q=-0"), canonical_strategy("power:q=0"));
  EXPECT_EQ(canonical_strategy("deferred:at=160,then=class_balanced"), "deferred");
  const std::string nested =
      "deferred:first=power(q=0.25),then=deferred(first=uniform,then=progressive(gamma=3),at=50),at=10";
  EXPECT_EQ(canonical_strategy(nested),
            "deferred:first=power(q=0.25),then=deferred(then=progressive(gamma=3),at=50),at=10");
  EXPECT_EQ(canonical_strategy("deferred:then=progressive(gamma=1)"), "deferred:then=progressive");
  for (const base::VariantInfo& info : strategies()) EXPECT_EQ(canonical_strategy(info.name), info.name);
}

TEST(Strategy, CanonicalNamesAreReadBackUnchanged) {
  for (const char* text :
       {"deferred:first=power(q=0.25),then=deferred(then=progressive(gamma=3),at=50),at=10",
        "effective_number:beta=0.9", "repeat_factor:threshold=1e-07"}) {
    EXPECT_EQ(canonical_strategy(text), text);
  }
}

TEST(Strategy, SaysWhatIsWrong) {
  EXPECT_THAT(message_of("progresive"),
              HasSubstr("unknown strategy `progresive`; there are uniform, class_balanced"));
  EXPECT_THAT(message_of("progresive"), HasSubstr("; did you mean `progressive`?"));
  EXPECT_THAT(message_of(""), HasSubstr("unknown strategy ``"));
  EXPECT_THAT(message_of("progressive:gama=2"),
              testing::StrEq("strategy `progressive`: unknown key `gama`; did you mean `gamma`?"));
  EXPECT_THAT(message_of("progressive:gamma=0"), HasSubstr("`gamma` is `0`; it must be above 0"));
  EXPECT_THAT(message_of("progressive:gamma=nan"), HasSubstr("must be a number"));
  EXPECT_THAT(message_of("power:q=+-0.5"), HasSubstr("must be a number"));
  EXPECT_THAT(message_of("progressive:2"), HasSubstr("`2` is not `key=value`"));
  EXPECT_THAT(message_of("progressive:"), HasSubstr("not `key=value`"));
  EXPECT_THAT(message_of("progressive:gamma=1,gamma=2"), HasSubstr("`gamma` is given twice"));
  EXPECT_THAT(message_of("uniform:q=1"), HasSubstr("no parameters, but got `q`"));
  EXPECT_THAT(message_of("effective_number:beta=1"), HasSubstr("from 0 to below 1"));
  EXPECT_THAT(message_of("deferred:then=progressive(gamma=2"), HasSubstr("brackets do not match"));
  EXPECT_THAT(message_of("progressive(gamma=2"), HasSubstr("brackets do not match"));
  EXPECT_THAT(message_of("deferred:then=progressive(gamma=2)),at=3"), HasSubstr("brackets do not match"));
  EXPECT_THAT(message_of("deferred:then=uniforn"), HasSubstr("did you mean `uniform`?"));
  EXPECT_THAT(message_of("deferred:at=-1"), HasSubstr("at least 0"));
}

// Each level is made once: twice at each would take for ever at this depth.
TEST(Strategy, MayBeNestedButNotWithoutEnd) {
  const auto nested = [](int levels) {
    std::string text = "power(q=0.25)";
    for (int i = 0; i < levels; ++i) text = fmt::format("deferred(first={},then=uniform,at=3)", text);
    return text;
  };
  EXPECT_TRUE(make_strategy(nested(16)));
  EXPECT_THAT(message_of(nested(20)), HasSubstr("more than 16"));
  EXPECT_THAT(message_of(nested(2000)), HasSubstr("more than 16"));
}

TEST(Strategy, EveryKindDescribesItself) {
  std::set<std::string> names;
  for (const base::VariantInfo& info : strategies()) {
    EXPECT_TRUE(names.insert(info.name).second);
    EXPECT_FALSE(info.help.empty());
  }
  EXPECT_EQ(names.size(), 11u);
  EXPECT_EQ(strategies()[3].parameter_words(), "gamma: above 0 (default 1)");
}

TEST(AliasTable, RefusesWhatIsNoDistribution) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<std::vector<double>> none = {{0.5, nan}, {0.0, 0.0}, {1.0, HUGE_VAL}};
  for (const std::vector<double>& probabilities : none) EXPECT_THROW(AliasTable{probabilities}, base::Error);
}

// The probability that the table gives to each class, added up slot by slot, is the one it was made from.
TEST(AliasTable, HoldsExactlyTheProbabilitiesItWasMadeFrom) {
  for (const char* name : {"uniform", "class_balanced", "square_root", "power:q=-4", "power:q=4"}) {
    for (const int classes : {1, 2, 3, 10, 100, 1000}) {
      auto counts = long_tail(classes, 5000, 200);
      if (classes > 2) counts[1] = 0;
      const auto p = at(name, counts);
      const AliasTable table(p);
      std::vector<unsigned __int128> mass(p.size());  // in units of 2^-64 / classes
      for (std::size_t slot = 0; slot < p.size(); ++slot) {
        const auto alias = static_cast<std::size_t>(table.aliases()[slot]);
        const std::uint64_t own = table.thresholds()[slot];
        mass[slot] += own;
        mass[alias] += (static_cast<unsigned __int128>(1) << 64) - own;
      }
      for (std::size_t k = 0; k < p.size(); ++k) {
        const double drawn = static_cast<double>(mass[k]) * 0x1.0p-64 / classes;
        EXPECT_NEAR(drawn, p[k], 1e-19 + 1e-14 * p[k]) << name << " " << classes;
      }
    }
  }
}

TEST(AliasTable, NeverDrawsAClassOfProbabilityZero) {
  const std::vector<double> p = {0.5, 0, 0.25, 0, 0.25, 0};
  const AliasTable table(p);
  for (int i = 0; i < 6; ++i) {
    const auto edge = static_cast<std::uint64_t>((static_cast<unsigned __int128>(i) << 64) / 6);
    for (std::uint64_t bits = edge - 3; bits != edge + 4; ++bits)
      EXPECT_GT(p[static_cast<std::size_t>(table.draw(bits))], 0);
  }
}

// Quantiles from published tables.
TEST(ChiSquare, TailEqualsPublishedQuantiles) {
  EXPECT_NEAR(chi_square_tail(3.841459, 1), 0.05, 1e-7);
  EXPECT_NEAR(chi_square_tail(18.307038, 10), 0.05, 1e-8);
  EXPECT_NEAR(chi_square_tail(135.806723, 100), 0.01, 1e-8);
  EXPECT_NEAR(chi_square_tail(2.558212, 10), 0.99, 1e-7);
  EXPECT_NEAR(chi_square_tail(1.0, 2), std::exp(-0.5), 1e-15);
  EXPECT_NEAR(chi_square_tail(60.0, 2), std::exp(-30.0), 1e-25);
  EXPECT_EQ(chi_square_tail(0, 5), 1);
}

TEST(ChiSquare, SeesAWrongProbability) {
  const std::vector<std::int64_t> observed = {5000, 3000, 2000};
  EXPECT_NEAR(chi_square(observed, std::vector<double>{0.5, 0.3, 0.2}).p, 1, 1e-12);
  EXPECT_LT(chi_square(observed, std::vector<double>{0.53, 0.28, 0.19}).p, 1e-6);
  EXPECT_EQ(chi_square(observed, std::vector<double>{0.7, 0.3, 0}).p, 0);
  EXPECT_EQ(chi_square(observed, std::vector<double>{0.5, 0.3, 0.2}).freedom, 2);
}

}  // namespace
}  // namespace longtail::sampling
