// The report for programs: the recommendation and the findings, nothing else.
#include <cmath>
#include <nlohmann/json.hpp>

#include "longtail/report/report.h"

namespace longtail::report {
namespace {

using nlohmann::ordered_json;

ordered_json number(double value) {
  return std::isfinite(value) ? ordered_json(value) : ordered_json(nullptr);
}

ordered_json change_json(const Change& change) {
  return {{"metric", change.metric},
          {"against", change.against},
          {"difference", number(change.difference)},
          {"low", number(change.low)},
          {"high", number(change.high)},
          {"verdict", judgement_words(change.judgement)}};
}

ordered_json answer_json(const Answer& answer) {
  const Recommendation& made = answer.recommendation;
  ordered_json object = {
      {"series", made.series ? ordered_json(*made.series) : ordered_json(nullptr)},
      {"goal", goal_name(made.goal)},
      {"sentence", made.sentence},
      {"condition", answer.condition.text()},
      {"leader", made.leader},
      {"accuracy", number(made.mean)},
      {"seeds", made.seeds},
      {"may_be_best", made.may_be_best},
      {"ruled_out", made.ruled_out},
      {"rivals", ordered_json::array()},
      {"changes", ordered_json::array()},
      {"more_seeds", made.more_seeds ? ordered_json(*made.more_seeds) : ordered_json(nullptr)}};
  for (const Change& rival : made.rivals) object["rivals"].push_back(change_json(rival));
  for (const Change& change : made.changes) object["changes"].push_back(change_json(change));
  return object;
}

}  // namespace

std::string to_json(const Report& report) {
  const Summary& summary = report.summary;
  ordered_json object = {{"recommendation", nullptr}, {"findings", ordered_json::array()}};
  for (const Answer& answer : summary.answers) {
    if (object["recommendation"].is_null()) {
      object["recommendation"] = answer_json(answer);
      object["recommendation"]["other_conditions"] = ordered_json::array();
    } else {
      object["recommendation"]["other_conditions"].push_back(answer_json(answer));
    }
  }
  for (const Comparison& c : summary.comparisons) {
    object["findings"].push_back({{"metric", metric_name(c.metric)},
                                  {"condition", c.condition.text()},
                                  {"series", c.series.text()},
                                  {"baseline", summary.baseline.text()},
                                  {"difference", number(c.difference)},
                                  {"low", number(c.low)},
                                  {"high", number(c.high)},
                                  {"verdict", judgement_words(c.judgement)}});
  }
  return object.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace longtail::report
