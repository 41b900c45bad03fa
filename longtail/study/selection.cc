#include "longtail/study/selection.h"

#include <algorithm>

#include "longtail/base/error.h"
#include "longtail/base/text.h"

namespace longtail::study {
namespace {

using base::fail;
using base::UsageError;

struct Shard {
  std::int64_t index = 1;
  std::int64_t count = 1;
};

Shard parse_shard(std::string_view text) {
  if (text.empty()) return {};
  const auto parts = base::split(text, '/');
  const auto index = base::parse_integer(parts[0]);
  const auto count = parts.size() == 2 ? base::parse_integer(parts[1]) : std::nullopt;
  if (!index || !count || *index < 1 || *index > *count) {
    fail<UsageError>("--shard `{}`: write it as i/n with i from 1 to n, as in 2/4", text);
  }
  return {*index, *count};
}

// Whether a name begins with `start`. Numbers are matched whole: `rho10` does not match a run at rho 100.
bool begins(std::string_view name, std::string_view start) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  if (!name.starts_with(start)) return false;
  if (name.size() == start.size() || start.empty() || !is_digit(start.back())) return true;
  const char next = name[start.size()];
  return !is_digit(next) && next != '.';
}

}  // namespace

std::vector<std::size_t> select(const Plan& plan, std::string_view shard,
                                const std::vector<std::string>& only) {
  const auto [index, count] = parse_shard(shard);
  for (const std::string& name : only) {
    const bool known = std::any_of(plan.runs.begin(), plan.runs.end(),
                                   [&](const PlannedRun& run) { return begins(run.name, name); });
    if (known) continue;
    std::vector<std::string> names;
    for (const PlannedRun& run : plan.runs) names.push_back(run.name);
    fail<UsageError>("--only `{}`: the study has no such run{}", name, base::did_you_mean(name, names));
  }
  std::vector<std::size_t> meant;
  for (std::size_t i = 0; i < plan.runs.size(); ++i) {
    const auto begins_it = [&](const std::string& name) { return begins(plan.runs[i].name, name); };
    if (only.empty() || std::any_of(only.begin(), only.end(), begins_it)) meant.push_back(i);
  }
  std::vector<std::size_t> selection;
  for (auto i = static_cast<std::size_t>(index - 1); i < meant.size(); i += static_cast<std::size_t>(count))
    selection.push_back(meant[i]);
  return selection;
}

double parse_duration(std::string_view text) {
  double seconds = 0;
  std::string_view rest = base::trim(text);
  bool good = !rest.empty();
  while (good && !rest.empty()) {
    const auto end = rest.find_first_not_of("0123456789.");
    const auto number = end == std::string_view::npos ? std::nullopt : base::parse_real(rest.substr(0, end));
    const char unit = number ? rest[end] : '?';
    const double factor = unit == 's' ? 1 : unit == 'm' ? 60 : unit == 'h' ? 3600 : unit == 'd' ? 86400 : 0;
    good = factor > 0;
    if (!good) break;
    seconds += *number * factor;
    rest.remove_prefix(end + 1);
  }
  if (!good || seconds <= 0)
    fail<UsageError>("`{}` is no length of time; write it as 90m, 2h, 1h30m or 45s", text);
  return seconds;
}

}  // namespace longtail::study
