// A study shown to people: a live view of the whole on a terminal, a line an event on a pipe.
#pragma once

#include <cstdio>
#include <deque>
#include <string>
#include <vector>

#include "longtail/study/runner.h"

namespace longtail::study {

// The name of a run without its hash.
std::string short_name(const PlannedRun& run);

// The live view as lines of at most `width` columns, at most `height` of them. `messages` are shown last,
// newest below.
std::vector<std::string> render(const Board& board, const std::deque<std::string>& messages, int width,
                                int height);

// The same lines in colours: heading, bars, what is done and what failed.
std::vector<std::string> coloured(std::vector<std::string> lines);

// One line an event: "19:40:02  done     3/12  uniform-rho100-seed42  38.3 (67.1/36.2/7.0), 29 s".
class LineWatcher : public Watcher {
 public:
  explicit LineWatcher(std::FILE* out) : out_(out) {}
  void happened(const Board& board, std::size_t run, const Event& event) override;
  void tick(const Board&) override {}

 private:
  std::FILE* out_;
  std::vector<std::chrono::steady_clock::time_point>
      last_epoch_;  // when a line on a run's epochs was last written
};

// Redraws in place, in one write a frame. What it leaves behind is the last frame.
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

// An event as a line, without the time; empty for those that are not worth one.
std::string describe(const Board& board, std::size_t run, const Event& event);

// "19:40:02", local time.
std::string clock_time();

}  // namespace longtail::study
