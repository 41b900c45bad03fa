#include "longtail/report/race.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <system_error>

#include "longtail/base/error.h"
#include "longtail/base/file.h"
#include "longtail/study/folder.h"

namespace longtail::report {
namespace {

// Whether every strategy has the seeds of the first look. Before that not every series has a run, and the names of
// those that have one may lack what does not differ yet.
bool first_look_is_there(const std::filesystem::path& folder, int seeds) {
  try {
    const study::Plan plan = study::read_plan(folder);
    return !plan.runs.empty() &&
           std::all_of(plan.runs.begin(), plan.runs.end(), [&](const study::PlannedRun& run) {
             return run.config.seed > seeds || study::inspect(folder, run).status == study::Status::kDone;
           });
  } catch (const base::Error&) {
    return false;  // not the folder of a study: whoever reads the logs says so
  }
}

}  // namespace

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
  } catch (const base::UsageError&) {  // there is no such goal
  }
  base::fail(
      "{} is damaged, so it is not known what the race was decided by; move it away to have the runs "
      "reported "
      "as those of any study",
      file.string());
}

void report_as_raced(ReportOptions& options, std::optional<Goal> goal) {
  if (options.inputs.size() != 1) return;  // a race and other runs are no race
  const auto rules = read_race(options.inputs[0]);
  if (!rules) return;
  SummaryOptions& summary = options.summary;
  summary.at = At::kLast;
  summary.goal = goal.value_or(rules->goal.value_or(summary.goal));
  summary.looks = LookPlan{.baseline = rules->baseline, .goal = rules->goal};
  // With epochs asked for, series may be others or have other names.
  if (summary.baseline.empty() && !options.read.epochs &&
      first_look_is_there(options.inputs[0], summary.looks->seeds.front()))
    summary.baseline = rules->baseline;
}

}  // namespace longtail::report
