// What the tables of accuracies and of differences share.
#pragma once

#include <fmt/format.h>

#include <string>
#include <utility>

#include "longtail/report/results.h"
#include "longtail/report/summary.h"
#include "longtail/report/table.h"

namespace longtail::report {

inline constexpr std::size_t kSeedColumns =
    10;  // more seeds than this and a table shows their number instead

inline void add_seed_columns(Table& table, const Results& results) {
  if (results.seeds.size() > kSeedColumns) {
    table.columns.push_back({"Seeds"});
    return;
  }
  for (std::int64_t seed : results.seeds) table.columns.push_back({fmt::format("Seed {}", seed)});
}

inline std::string protocol_phrase(const SummaryOptions& options) {
  return options.at == At::kBest ? "best epoch" : "last epoch";
}

inline void add_note(Table& table, std::string note) {
  if (!note.empty()) table.notes.push_back(std::move(note));
}

}  // namespace longtail::report
