// Works on a study until every selected run is done or has failed: one child process per run, at most `jobs`
// at a time, alongside any number of other processes doing the same. Never repeats a finished run; takes over
// runs that a dead process left.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "longtail/study/board.h"

namespace longtail::study {

struct RunnerOptions {
  // The executable whose `study work` does one run. If it is this program, all runs use the version that is
  // running now, even if its file is replaced.
  std::string program;
  std::string data;  // folder of the data set, passed to the children; empty: as each run says
  int jobs = 1;
  int threads = 0;     // per run; 0: as the run says, or else an equal share of the CPUs
  double seconds = 0;  // stop after that time; 0: no limit
  bool retry_failed = false;
  // Called at least twice per second; true: stop as if the time were up.
  std::function<bool(const Board&)> enough{};
};

// Is notified of what happens, on the thread that calls run_study().
class Watcher {
 public:
  virtual ~Watcher() = default;
  // Kinds: those of Event, "start", and "elsewhere" (another process finished the run).
  virtual void happened(const Board& board, std::size_t run, const Event& event) = 0;
  // At least twice per second.
  virtual void tick(const Board& board) = 0;
};

enum class Ending { kFinished, kTimeUp, kSignal };

// Returns when nothing is left to do for the selection, the time is up or a signal asks to stop; the board
// then holds the state of every run. Throws base::StorageError if nothing can be written any more or the data
// cannot be read.
Ending run_study(Board& board, const RunnerOptions& options, Watcher& watcher);

}  // namespace longtail::study
