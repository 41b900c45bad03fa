// The time budget of `longtail recommend`: what is left over all commands on a folder, how long an epoch
// really takes, and when the runs of a look would be finished at that pace.
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

// Time reserved for reading, judging and reporting after training: a twentieth of the time, between 20
// seconds and a minute, but never more than a seventh.
double report_seconds(double seconds);
// The total time needed so that `seconds` are left apart from the report (inverse of report_seconds).
double with_report(double seconds);

// Wall time, including that of earlier commands. Time in which no command ran does not count.
class TimeBudget {
 public:
  // Starts counting now. `folder` need not exist yet.
  TimeBudget(const std::filesystem::path& folder, double seconds);

  double seconds() const { return seconds_; }
  // Seconds left for training, without what the report needs. Negative: the time is up.
  double left() const;
  double used() const;
  // Saves the time used, at most every two seconds; so a killed command is charged up to two seconds too
  // little.
  void keep();

 private:
  using Clock = std::chrono::steady_clock;

  std::filesystem::path file_;
  double seconds_ = 0;
  double before_ = 0;  // used by earlier commands
  Clock::time_point begin_ = Clock::now();
  Clock::time_point kept_ = begin_;
};

// Current seconds per epoch: the mean of the latest epochs.
class Pace {
 public:
  Pace(std::size_t window, double guess) : window_(window), seconds_(guess) {}
  // The run has started, or has finished its next epoch, at that moment (in seconds).
  void started(std::size_t run, double moment) { last_[run] = moment; }
  void finished(std::size_t run, double moment);
  // Sets the value used until enough has been measured.
  void guess(double seconds) { seconds_ = seconds; }
  double epoch_seconds() const { return seconds_; }
  bool measured() const { return latest_.size() >= window_ / 2; }

 private:
  std::size_t window_;
  double seconds_;
  std::map<std::size_t, double> last_{};
  std::deque<double> latest_{};
};

// The cost of so many epochs of a run's log, in epochs of training: an epoch of a rebalanced run costs less.
double charge(int epochs, const std::string& rebalance);

// When the last of these pieces of work is done, with `jobs` at a time, started in the given order.
double makespan(const std::vector<double>& works, int jobs);

// The cost of what each selected run still has to do; running ones first.
std::vector<double> epochs_left(const study::Board& board);

// Forwards everything to `shown` and measures the pace from it.
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
