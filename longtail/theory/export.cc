#include "longtail/theory/export.h"

#include <cmath>
#include <nlohmann/json.hpp>

namespace longtail::theory {
namespace {

using nlohmann::json;

json number(double value) { return std::isfinite(value) ? json(value) : json(nullptr); }

json numbers(const std::vector<double>& values) {
  json list = json::array();
  for (const double value : values) list.push_back(number(value));
  return list;
}

// One list per quantity, class by class: compact, and what a plot needs.
template <class Row, class Member>
json column(const std::vector<Row>& rows, Member member) {
  json list = json::array();
  for (const Row& row : rows) list.push_back(row.*member);
  return list;
}

json to_json(const Estimate& estimate) {
  return {{"value", number(estimate.value)}, {"error", number(estimate.error)}};
}

json frozen_json(const StrategyProbe& one) {
  const MonteCarlo& sample = *one.frozen;
  return {{"batches", sample.batches},
          {"variance", to_json(sample.variance)},
          {"standard_errors_from_exact", number(sample.variance.distance(one.total.variance()))},
          {"standard_errors_from_proposition", number(sample.variance.distance(one.total.proposition))},
          {"along_expected", to_json(sample.along)},
          {"mean_miss", number(sample.mean_miss)}};
}

json training_json(const TrainingMode& training) {
  json result = {{"batches", training.sample.batches},
                 {"variance", to_json(training.sample.variance)},
                 {"cosine_with_frozen_mean", number(training.cosine)}};
  if (training.bias2) result["bias2"] = number(*training.bias2);
  return result;
}

json to_json(const StrategyProbe& one) {
  json result = {{"strategy", one.strategy},
                 {"without_replacement", one.draw.without_replacement},
                 {"weights", one.draw.weights},
                 {"total", theory::to_json(one.total)}};
  for (std::size_t g = 0; g < one.groups.size(); ++g) {
    result["groups"][std::string(data::kGroupNames[g])] = theory::to_json(one.groups[g]);
  }
  json variance = json::array();
  for (const Decomposition& part : one.classes) variance.push_back(part.variance());
  result["class_variance"] = variance;
  result["class_proposition"] = column(one.classes, &Decomposition::proposition);
  if (one.frozen) result["mini_batches"] = frozen_json(one);
  if (one.training) result["training_mode"] = training_json(*one.training);
  return result;
}

}  // namespace

json to_json(const Decomposition& d) {
  return {{"mean2", d.mean2},
          {"bias2", d.bias2},
          {"within", d.within},
          {"between", d.between},
          {"variance", d.variance()},
          {"mse", d.mse()},
          {"proposition", d.proposition},
          {"proposition_mse", d.proposition_mse()}};
}

json to_json(const Forecast& f) {
  return {{"strategy", f.strategy},
          {"epoch", f.situation.epoch},
          {"epochs", f.situation.epochs},
          {"without_replacement", f.without_replacement},
          {"lambda", f.lambda},
          {"deviation",
           {{"one_norm", f.deviation.one},
            {"two_norm", f.deviation.two},
            {"total_variation", f.deviation.total_variation}}},
          {"total", to_json(f.total)},
          {"classes",
           {{"count", column(f.classes, &ClassForecast::count)},
            {"weight", column(f.classes, &ClassForecast::weight)},
            {"expected_in_batch", column(f.classes, &ClassForecast::expected)},
            {"chance_of_absence", column(f.classes, &ClassForecast::absence)},
            {"proposition", column(f.classes, &ClassForecast::proposition)},
            {"proposition_ratio", column(f.classes, &ClassForecast::proposition_ratio)},
            {"exact", column(f.classes, &ClassForecast::exact)},
            {"exact_ratio", column(f.classes, &ClassForecast::exact_ratio)}}}};
}

json to_json(const SummaryRow& row) {
  return {{"strategy", row.strategy},
          {"bias", row.bias},
          {"head_variance", row.head_variance},
          {"tail_variance", row.tail_variance}};
}

json to_json(const Exposure& e) {
  return {{"strategy", e.strategy},
          {"epochs", e.epochs},
          {"draws", e.draws},
          {"never_drawn", e.never},
          {"effective_images", e.effective},
          {"distinct_an_epoch", e.distinct_an_epoch},
          {"classes",
           {{"count", column(e.classes, &ClassExposure::count)},
            {"expected", column(e.classes, &ClassExposure::expected)},
            {"mean", column(e.classes, &ClassExposure::mean)},
            {"fewest", column(e.classes, &ClassExposure::fewest)},
            {"most", column(e.classes, &ClassExposure::most)}}}};
}

json to_json(const ProbeResult& result) {
  const Moments& moments = result.moments;
  std::vector<double> norms;
  for (int k = 0; k < moments.classes(); ++k) norms.push_back(std::sqrt(moments.product(k, k)));
  json strategies = json::array();
  for (const StrategyProbe& one : result.strategies) strategies.push_back(to_json(one));
  return {{"epoch", result.epoch},
          {"moment", {{"epoch", result.situation.epoch}, {"epochs", result.situation.epochs}}},
          {"classes",
           {{"count", moments.counts},
            {"gradient_norm", numbers(norms)},
            {"within_variance", numbers(moments.within)},
            {"cosine_with_full", numbers(result.cosines)}}},
          {"gram", numbers(moments.gram)},
          {"strategies", strategies}};
}

}  // namespace longtail::theory
