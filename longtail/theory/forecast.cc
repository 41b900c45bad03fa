#include "longtail/theory/forecast.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "longtail/base/error.h"

namespace longtail::theory {
namespace {

std::vector<double> balanced_weights(std::span<const std::int64_t> counts) {
  const auto present =
      static_cast<double>(std::count_if(counts.begin(), counts.end(), [](auto n) { return n > 0; }));
  std::vector<double> weights;
  for (const std::int64_t count : counts) weights.push_back(count > 0 ? 1.0 / present : 0.0);
  return weights;
}

// The coefficient of `weights` - prior along balanced - prior.
double share_of_the_way(std::span<const double> weights, std::span<const double> prior,
                        std::span<const double> balanced) {
  double inner = 0, square = 0;
  for (std::size_t k = 0; k < prior.size(); ++k) {
    inner += (weights[k] - prior[k]) * (balanced[k] - prior[k]);
    square += (balanced[k] - prior[k]) * (balanced[k] - prior[k]);
  }
  return square > 0 ? inner / square : 0.0;
}

// Sum of w_k^2 / n_k over a group, divided by the same sum of uniform sampling. 0 for an empty group.
double group_ratio(std::span<const double> weights, std::span<const std::int64_t> counts, data::Group group,
                   const data::Groups& groups) {
  const auto n = static_cast<double>(std::accumulate(counts.begin(), counts.end(), std::int64_t{0}));
  double own = 0, uniform = 0;
  for (std::size_t k = 0; k < counts.size(); ++k) {
    if (counts[k] == 0 || groups.of(counts[k]) != group) continue;
    const auto count = static_cast<double>(counts[k]);
    own += weights[k] * weights[k] / count;
    uniform += count / (n * n);
  }
  return uniform > 0 ? own / uniform : 0.0;
}

std::string bias_label(double deviation, double largest) {
  if (deviation < 1e-12) return "None";
  const double share = deviation / largest;
  return share < 1.0 / 3 ? "Low" : share < 2.0 / 3 ? "Medium" : "High";
}

std::string variance_label(double ratio, double largest) {
  if (ratio == 0) return "-";
  if (ratio <= 1 || largest <= 1) return "Low";
  const double share = std::log(ratio) / std::log(largest);
  return share < 1.0 / 3 ? "Low" : share < 2.0 / 3 ? "Medium" : "High";
}

std::string change(const std::string& first, const std::string& last) {
  return first == last ? first : first + " -> " + last;
}

}  // namespace

Deviation deviation(std::span<const double> weights, std::span<const double> prior) {
  Deviation result;
  for (std::size_t k = 0; k < prior.size(); ++k) {
    const double d = weights[k] - prior[k];
    result.one += std::abs(d);
    result.two += d * d;
  }
  result.two = std::sqrt(result.two);
  result.total_variation = result.one / 2;
  return result;
}

double chance_of_absence(double weight, int batch) { return std::pow(1.0 - weight, batch); }

double chance_of_absence(std::int64_t count, std::int64_t images, int batch) {
  // C(n - n_k, b) / C(n, b) = prod_{i < n_k} (n - b - i) / (n - i).
  double chance = 1;
  for (std::int64_t i = 0; i < count; ++i) {
    chance *= std::max(static_cast<double>(images - batch - i), 0.0) / static_cast<double>(images - i);
  }
  return chance;
}

Draw draw_of(const sampling::Strategy& strategy, std::span<const std::int64_t> counts,
             const sampling::Situation& situation, int batch) {
  sampling::refuse_feedback(strategy);
  return {strategy.probabilities(counts, situation), batch, strategy.without_replacement(situation),
          strategy.stratified(situation)};
}

Forecast forecast(const sampling::Strategy& strategy, std::span<const std::int64_t> counts,
                  const sampling::Situation& situation, const Assumptions& assumptions) {
  const Moments moments = model_moments(counts, assumptions.sigma2, assumptions.norm2);
  const std::vector<double> prior = moments.prior();
  const Draw draw = draw_of(strategy, counts, situation, assumptions.batch);
  const Draw uniform{prior, assumptions.batch, false};

  Forecast result;
  result.strategy = strategy.name();
  result.situation = situation;
  result.without_replacement = draw.without_replacement;
  result.lambda = share_of_the_way(draw.weights, prior, balanced_weights(counts));
  result.deviation = deviation(draw.weights, prior);
  result.total = decompose(moments, draw);
  for (int k = 0; k < moments.classes(); ++k) {
    ClassForecast one;
    one.count = counts[k];
    one.weight = draw.weights[k];
    one.expected = assumptions.batch * one.weight;
    one.absence = draw.stratified ? std::max(0.0, 1 - one.expected)
                  : draw.without_replacement
                      ? chance_of_absence(counts[k], moments.images(), assumptions.batch)
                      : chance_of_absence(one.weight, assumptions.batch);
    const std::array<int, 1> only = {k};
    const Decomposition part = decompose_part(moments, draw, only);
    const Decomposition baseline = decompose_part(moments, uniform, only);
    one.proposition = part.proposition;
    one.exact = part.variance();
    if (counts[k] > 0) {
      one.proposition_ratio = part.proposition / baseline.proposition;
      one.exact_ratio = part.variance() / baseline.variance();
    }
    result.classes.push_back(one);
  }
  return result;
}

std::vector<SummaryRow> summarise(std::span<const std::string> strategies,
                                  std::span<const std::int64_t> counts, int epochs,
                                  const data::Groups& groups) {
  struct Numbers {
    double bias, head, tail;
  };
  const std::vector<double> prior = model_moments(counts).prior();
  std::vector<std::array<Numbers, 2>> all;  // at the first and at the last epoch
  double largest_bias = 0, largest_ratio = 1;
  for (const std::string& text : strategies) {
    const auto strategy = sampling::make_strategy(text);
    sampling::refuse_feedback(*strategy);
    std::array<Numbers, 2> ends{};
    for (int end = 0; end < 2; ++end) {
      const auto weights = strategy->probabilities(counts, {end == 0 ? 0 : epochs - 1, epochs});
      ends[end] = {deviation(weights, prior).two, group_ratio(weights, counts, data::Group::kHead, groups),
                   group_ratio(weights, counts, data::Group::kTail, groups)};
      largest_bias = std::max(largest_bias, ends[end].bias);
      largest_ratio = std::max({largest_ratio, ends[end].head, ends[end].tail});
    }
    all.push_back(ends);
  }
  std::vector<SummaryRow> rows;
  for (std::size_t i = 0; i < strategies.size(); ++i) {
    const auto& [first, last] = all[i];
    rows.push_back(
        {sampling::canonical_strategy(strategies[i]),
         change(bias_label(first.bias, largest_bias), bias_label(last.bias, largest_bias)),
         change(variance_label(first.head, largest_ratio), variance_label(last.head, largest_ratio)),
         change(variance_label(first.tail, largest_ratio), variance_label(last.tail, largest_ratio))});
  }
  return rows;
}

}  // namespace longtail::theory
