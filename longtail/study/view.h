// Shows a study to people: a live view of the whole study on a terminal, one line per event on a pipe.
#pragma once

#include <cstdio>
#include <deque>
#include <string>
#include <vector>

#include "longtail/study/runner.h"

namespace longtail::study {

// The name of a run without its hash.
std::string short_name(const PlannedRun& run);

// The live view as at most `height` lines of at most `width` columns. `messages` come last, the newest at the
// bottom.
std::vector<std::string> render(const Board& board, const std::deque<std::string>& messages, int width,
                                int height);

// Colours the lines: heading, bars, finished and failed runs.
std::vector<std::string> coloured(std::vector<std::string> lines);

// One line per event: "19:40:02  done     3/12  uniform-rho100-seed42  38.3 (67.1/36.2/7.0), 29 s".
class LineWatcher : public Watcher {
 public:
  explicit LineWatcher(std::FILE* out) : out_(out) {}
  void happened(const Board& board, std::size_t run, const Event& event) override;
  void tick(const Board&) override {}

 private:
  std::FILE* out_;
  std::vector<std::chrono::steady_clock::time_point>
      last_epoch_;  // per run: when an epoch line was last written
};

// Redraws in place, with one write per frame. The last frame stays on the screen.
class LiveWatcher : public Watcher {
 public:
  explicit LiveWatcher(int terminal);
  ~LiveWatcher() override;
  void happened(const Board& board, std::size_t run, const Event& event) override;
  void tick(const Board& board) override;

 private:
  void draw(const Board& board);
  int terminal_;
  bool colours_;
  int drawn_ = 0;  // lines of the last frame
  std::deque<std::string> messages_;
  std::chrono::steady_clock::time_point last_draw_{};
};

// An event as a line, without the time; empty for events that need no line.
std::string describe(const Board& board, std::size_t run, const Event& event);

// "19:40:02", local time.
std::string clock_time();

}  // namespace longtail::study
