#include "longtail/report/choices.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "longtail/base/error.h"
#include "longtail/base/text.h"

namespace longtail::report {
namespace {

// The place of a word among the accepted ones.
template <std::size_t n>
std::size_t place(std::string_view what, const std::string& word,
                  const std::array<std::string_view, n>& words) {
  const auto at = std::find(words.begin(), words.end(), word);
  if (at == words.end()) {
    const std::vector<std::string> known(words.begin(), words.end());
    base::fail<base::UsageError>("`{}` is `{}`; it is one of {}{}", what, word, base::join(known, ", "),
                                 base::did_you_mean(word, known));
  }
  return static_cast<std::size_t>(at - words.begin());
}

std::optional<int> epochs_of(const std::string& words) {
  if (words.empty()) return std::nullopt;
  if (words == "all") return 0;
  const auto epochs = base::parse_integer(words);
  if (!epochs || *epochs < 1 || *epochs > std::numeric_limits<int>::max())
    base::fail<base::UsageError>("`epochs` is a number or `all`, not `{}`", words);
  return static_cast<int>(*epochs);
}

}  // namespace

ReportOptions options_of(const std::vector<std::filesystem::path>& inputs, const Choices& choices) {
  constexpr std::array kSelects = {Select::kAsLogged, Select::kOverall, Select::kBalanced, Select::kTail,
                                   Select::kAsLogged};
  ReportOptions options;
  options.inputs = inputs;
  options.read.select = kSelects[place("select", choices.select, kSelectWords)];
  options.read.epochs = epochs_of(choices.epochs);
  options.summary.baseline = choices.baseline;
  const std::optional<Goal> goal =
      choices.goal.empty() ? std::nullopt : std::optional(parse_goal(choices.goal));
  options.summary.goal = goal.value_or(Goal::kBalanced);
  options.summary.deviation = static_cast<Deviation>(place("std", choices.deviation, kDeviationWords));
  options.summary.at = static_cast<At>(place("at", choices.at, kAtWords));
  if (choices.select == "last") options.summary.at = At::kLast;
  report_as_raced(options, goal);
  if (!choices.against.empty()) place("against", choices.against, std::array<std::string_view, 1>{"paper"});
  options.against_paper = !choices.against.empty();
  return options;
}

}  // namespace longtail::report
