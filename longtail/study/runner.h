// Works on a study until every selected run is done or has failed: one child process a run, at most `jobs` at
// a time, alongside any number of other processes doing the same. Never repeats a finished run; takes over
// what a dead process left.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "longtail/study/board.h"

namespace longtail::study {

struct RunnerOptions {
  // The executable whose `study work` does one run. If it is this one, it stays so when its file is replaced.
  std::string program;
  std::string data;  // folder of the data set, handed on; empty: what each run says
  int jobs = 1;
  int threads = 0;     // of each run; 0: what it says, or else the CPUs shared out
  double seconds = 0;  // stop after that long; 0: when done
  bool retry_failed = false;
  // Asked twice a second; true: stop as if the time were up.
  std::function<bool(const Board&)> enough{};
};

// Is told what happens, on the thread that calls run().
class Watcher {
 public:
  virtual ~Watcher() = default;
  // kinds: those of Event, and "start"; "elsewhere": another process finished the run.
  virtual void happened(const Board& board, std::size_t run, const Event& event) = 0;
  // At least twice per second.
  virtual void tick(const Board& board) = 0;
};

enum class Ending { kFinished, kTimeUp, kSignal };

// Returns when nothing is left to do for the selection, the time is up or a signal asks to stop; the board
// then says what is what. Throws base::StorageError if nothing can be written any more, or the data cannot be read.
Ending run_study(Board& board, const RunnerOptions& options, Watcher& watcher);

}  // namespace longtail::study
