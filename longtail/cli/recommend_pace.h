// The time of `longtail recommend`: what is left of it over all commands on a folder, how fast epochs really
// go, and when the runs of a look would be finished at that pace.
#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "longtail/study/runner.h"

namespace longtail::cli {

// Kept for reading, judging and reporting once training has stopped: a twentieth of the time, between 20
// seconds and a minute, but never more than a seventh.
double report_seconds(double seconds);
// The time of which so many seconds are left for everything else.
double with_report(double seconds);

// Wall time, that of earlier commands included; time in which no command ran does not count.
class TimeBudget {
 public:
  // Begins now. `folder` need not exist yet.
  TimeBudget(const std::filesystem::path& folder, double seconds);

  double seconds() const { return seconds_; }
  // For training: without what the report needs. Below 0: over.
  double left() const;
  double used() const;
  // Writes down what has been used, at most every two seconds; a killed command is charged with that much
  // less.
  void keep();

 private:
  using Clock = std::chrono::steady_clock;

  std::filesystem::path file_;
  double seconds_ = 0;
  double before_ = 0;  // used by earlier commands
  Clock::time_point begin_ = Clock::now();
  Clock::time_point kept_ = begin_;
};

// Seconds of an epoch as they are at present: the mean of the latest.
class Pace {
 public:
  Pace(std::size_t window, double guess) : window_(window), seconds_(guess) {}
  // The run has begun, or has finished its next epoch, at that moment.
  void started(std::size_t run, double moment) { last_[run] = moment; }
  void finished(std::size_t run, double moment);
  // What to go by until enough has been measured.
  void guess(double seconds) { seconds_ = seconds; }
  double epoch_seconds() const { return seconds_; }
  bool measured() const { return latest_.size() >= window_ / 2; }

 private:
  std::size_t window_;
  double seconds_;
  std::map<std::size_t, double> last_{};
  std::deque<double> latest_{};
};

// What the charge is for so many epochs of a run's log, in epochs of a training: an epoch of a rebalanced run takes less.
double charge(int epochs, const std::string& rebalance);

// When the last of these pieces of work is done, `jobs` at a time, each begun in the given order.
double makespan(const std::vector<double>& works, int jobs);

// The charge for what each selected run still has to do; those under way first.
std::vector<double> epochs_left(const study::Board& board);

// Tells `shown` everything and measures the pace from it.
class PaceWatcher : public study::Watcher {
 public:
  PaceWatcher(study::Watcher& shown, Pace& pace, TimeBudget& budget)
      : shown_(shown), pace_(pace), budget_(budget) {}
  void happened(const study::Board& board, std::size_t run, const study::Event& event) override;
  void tick(const study::Board& board) override;

 private:
  study::Watcher& shown_;
  Pace& pace_;
  TimeBudget& budget_;
};

}  // namespace longtail::cli
