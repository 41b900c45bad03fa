// The choices of a user for a report, in words: the flags of `longtail report`, the arguments of
// `longtail.report` in Python.
#pragma once

#include <array>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "longtail/report/race.h"
#include "longtail/report/report.h"

namespace longtail::report {

// The accepted words; the first is the default.
inline constexpr std::array<std::string_view, 2> kDeviationWords = {"population", "sample"};
inline constexpr std::array<std::string_view, 2> kAtWords = {"best", "last"};
inline constexpr std::array<std::string_view, 5> kSelectWords = {"log", "overall", "balanced", "tail",
                                                                 "last"};

struct Choices {
  std::string baseline{};  // a series; empty: uniform, or the first
  std::string goal{};      // (parse_goal); empty: in the folder of a race the race's, otherwise balanced
  std::string deviation{kDeviationWords[0]};
  std::string at{kAtWords[0]};
  std::string select{kSelectWords[0]};
  std::string epochs{};   // a number or "all"; empty: the most common number
  std::string against{};  // "paper"; empty: nothing
};

// The options for these inputs; `out`, `tables_only` and names are left to the caller. An unknown word is a
// UsageError that names the accepted ones. The folder of a race (`longtail recommend`) is reported as its
// looks decided (race.h).
ReportOptions options_of(const std::vector<std::filesystem::path>& inputs, const Choices& choices);

}  // namespace longtail::report
