// A snapshot of a whole study: the state of every run, the last event of each of our children, and how long
// the rest will take. The runner keeps it up to date, the views show it.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "longtail/study/folder.h"
#include "longtail/study/worker.h"

namespace longtail::study {

struct Seat {
  RunState state;
  bool selected = true;  // false: the run belongs to another shard
  bool ours = false;     // a child of this process works on it
  Event last;            // the child's last event
  std::chrono::steady_clock::time_point start;
};

struct Board {
  Plan plan;
  std::string folder;
  std::vector<Seat> seats;  // one per run, in the order of the plan
  std::vector<std::optional<std::size_t>>
      parents{};  // for each run, the index of the run it is rebalanced from
  int jobs = 1;
  bool stopping = false;
  std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();

  int count(Status status) const;
  std::vector<RunState> states() const;
};

Board make_board(const Plan& plan, const std::filesystem::path& folder,
                 const std::vector<std::size_t>& selection);

// Reads the folder again for every run that may have changed.
void refresh(Board& board);

// Seconds until the selected runs are done, estimated from the runs so far; NaN if nothing is known yet.
double seconds_left(const Board& board);

}  // namespace longtail::study
