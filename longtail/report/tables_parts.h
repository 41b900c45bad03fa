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

// Which epoch the accuracies belong to; a CSV does not say.
inline std::string protocol_phrase(const Results& results, const SummaryOptions& options) {
  if (!results.has_logs()) return "as the CSV has them";
  return options.at == At::kBest ? "best epoch" : "last epoch";
}

// Apart from accuracies, a log has values only for its own best epoch and the last one, not for an epoch that
// the report selects. These give the epoch of such a table, and the addition to a caption that does not name
// it.
inline std::string logged_epoch_phrase(const Results& results, At at) {
  if (at == At::kLast) return "last epoch";
  return results.select == Select::kAsLogged ? "best epoch" : "the log's best epoch";
}
inline std::string at_logged_epoch(const Results& results, At at, const std::string& what) {
  if (at == At::kLast || results.select == Select::kAsLogged) return "";
  return fmt::format(" {} at the log's best epoch.", what);
}

inline void add_note(Table& table, std::string note) {
  if (!note.empty()) table.notes.push_back(std::move(note));
}

}  // namespace longtail::report
