#include "longtail/report/race.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <system_error>

#include "longtail/base/error.h"
#include "longtail/base/file.h"

namespace longtail::report {

std::optional<RaceRules> read_race(const std::filesystem::path& folder) {
  const std::filesystem::path file = folder / kRaceFile;
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored)) return std::nullopt;
  const std::string text = base::read_text(file, 1 << 20);
  try {
    const nlohmann::json object = nlohmann::json::parse(text);
    RaceRules rules{.baseline = object.value("baseline", std::string())};
    if (object.contains("goal")) rules.goal = parse_goal(object.at("goal").get<std::string>());
    return rules;
  } catch (const nlohmann::json::exception&) {
  } catch (const base::UsageError&) {  // unknown goal
  }
  base::fail(
      "{} is damaged, so it is not known what the race was decided by; move it away to have the runs "
      "reported as those of any study",
      file.string());
}

void report_as_raced(ReportOptions& options, std::optional<Goal> goal) {
  if (options.inputs.size() != 1) return;  // a race together with other runs is not a race
  const auto rules = read_race(options.inputs[0]);
  if (!rules) return;
  SummaryOptions& summary = options.summary;
  summary.at = At::kLast;
  summary.goal = goal.value_or(rules->goal.value_or(summary.goal));
  summary.looks = LookPlan{.baseline = rules->baseline, .goal = rules->goal};
}

std::vector<std::string> races_not_applied(std::span<const std::filesystem::path> inputs) {
  std::vector<std::string> warnings;
  for (const std::filesystem::path& input : inputs) {
    std::error_code ignored;
    if (inputs.size() > 1 && std::filesystem::exists(input / kRaceFile, ignored))
      warnings.push_back(
          fmt::format("{} is a race of `longtail recommend`, which is judged at its looks; beside other "
                      "inputs it is not. Give it alone to be told what the race says.",
                      input.string()));
  }
  return warnings;
}

}  // namespace longtail::report
