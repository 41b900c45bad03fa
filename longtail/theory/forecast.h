// What can be said about a strategy from the class sizes alone, before any network exists: class weights,
// samples of a class in a batch, chance of absence, deviation from the prior, and both variance formulas
// under the paper's assumptions.
//
//   Forecast f =
//       forecast(*make_strategy("progressive"), counts, {.epoch = 160, .epochs = 200}, {.batch = 128});
//   f.lambda;                          // 0.804
//   f.classes[99].proposition_ratio;   // Proposition 1's contribution over that of uniform sampling
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "longtail/data/groups.h"
#include "longtail/sampling/strategy.h"
#include "longtail/theory/exact.h"

namespace longtail::theory {

// The paper's assumptions in numbers: the same within-class variance, orthogonal class gradients of equal
// length.
struct Assumptions {
  int batch = 128;
  double sigma2 = 1;
  double norm2 = 1;
};

// Distance of class weights from the prior.
struct Deviation {
  double one = 0;              // sum |w_k - pi_k|
  double two = 0;              // sqrt(sum (w_k - pi_k)^2)
  double total_variation = 0;  // half of the 1-norm: the probability mass that moves
};
Deviation deviation(std::span<const double> weights, std::span<const double> prior);

struct ClassForecast {
  std::int64_t count = 0;
  double weight = 0;             // w_k
  double expected = 0;           // samples of the class in a batch
  double absence = 0;            // chance that a batch has none
  double proposition = 0;        // w_k^2 sigma^2 / (b n_k)
  double proposition_ratio = 0;  // over that of uniform sampling: (w_k / pi_k)^2
  double exact = 0;              // variance of the class's part of the gradient
  double exact_ratio = 0;        // over that of uniform draws with replacement: about w_k / pi_k
};

struct Forecast {
  std::string strategy;
  sampling::Situation situation;
  bool without_replacement = false;
  double lambda =
      0;  // share of the way from uniform to class-balanced weights (by projection); lambda(t) of progressive
  Deviation deviation;
  std::vector<ClassForecast> classes;
  Decomposition total;  // under the assumptions
};

Forecast forecast(const sampling::Strategy& strategy, std::span<const std::int64_t> counts,
                  const sampling::Situation& situation, const Assumptions& assumptions);

// How a strategy draws a batch in a situation.
Draw draw_of(const sampling::Strategy& strategy, std::span<const std::int64_t> counts,
             const sampling::Situation& situation, int batch);

// The chance that a batch has no image of a class: (1 - w)^b, or by the hypergeometric distribution without
// replacement.
double chance_of_absence(double weight, int batch);
double chance_of_absence(std::int64_t count, std::int64_t images, int batch);

// The paper's summary table, derived from the numbers. Bias: None at zero, else thirds of the largest
// deviation (2-norm) among the strategies. Variance: the proposition's contribution of a group over that of
// uniform sampling, in thirds of the logarithmic range from 1 to the largest. A label that changes from the
// first epoch to the last reads "None -> High"; a group without classes reads "-".
struct SummaryRow {
  std::string strategy;
  std::string bias;
  std::string head_variance;
  std::string tail_variance;
};
std::vector<SummaryRow> summarise(std::span<const std::string> strategies,
                                  std::span<const std::int64_t> counts, int epochs,
                                  const data::Groups& groups);

}  // namespace longtail::theory
