#include "longtail/study/runner.h"

#include <poll.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <filesystem>
#include <list>
#include <optional>

#include "longtail/base/error.h"
#include "longtail/base/file.h"
#include "longtail/base/stop_signals.h"
#include "longtail/base/threads.h"
#include "longtail/study/child.h"
#include "longtail/study/lock.h"
#include "longtail/train/beginning.h"

namespace longtail::study {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr seconds kLookAgain(2);  // interval of checks on other processes
constexpr milliseconds kTick(400);
constexpr int kBusy = 75;
// The kernel keeps the running program, whatever happens to its file: after a rebuild the rest of the study
// is still done by the build that was started.
constexpr const char* kThisProgram = "/proc/self/exe";
constexpr int kMostAttempts = 3;  // per run and process; more means that the machine or folder has a problem

std::atomic<int> signals_seen = 0;

// Counts SIGINT, SIGTERM and SIGHUP while it exists, except those that were ignored before.
class SignalWatch {
 public:
  SignalWatch() {
    signals_seen = 0;
    struct sigaction action {};
    action.sa_handler = [](int) { ++signals_seen; };
    for (std::size_t i = 0; i < old_.size(); ++i)
      base::catch_stop_signal(base::kStopSignals[i], action, &old_[i]);
  }
  ~SignalWatch() {
    for (std::size_t i = 0; i < old_.size(); ++i) ::sigaction(base::kStopSignals[i], &old_[i], nullptr);
  }
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;

 private:
  std::array<struct sigaction, base::kStopSignals.size()> old_{};
};

class Runner {
 public:
  Runner(Board& board, const RunnerOptions& options, Watcher& watcher)
      : board_(board),
        options_(options),
        watcher_(watcher),
        program_(options.program),
        attempts_(board.seats.size()) {
    board_.jobs = options.jobs;
    for (const Seat& seat : board.seats) failed_before_.push_back(failure(seat.state));
    beginnings_ = beginnings_of(board.plan.runs);
    std::error_code error;
    if (std::filesystem::read_symlink(kThisProgram, error) == options.program) program_ = kThisProgram;
  }

  Ending run() {
    const SignalWatch watch;
    for (;;) {
      check_for_end();
      if (!board_.stopping) start_children();
      if (active_.empty() && (board_.stopping || nothing_left())) break;
      listen();
      if (Clock::now() - looked_ > kLookAgain) look_again();
      watcher_.tick(board_);
    }
    if (!storage_.empty()) throw base::StorageError(storage_);
    return ending_;
  }

 private:
  struct Active {
    std::size_t run;
    Child child;
    bool told_end = false;  // it has reported how it ended
  };

  void signal_all(int number) const {
    for (const Active& active : active_) active.child.signal(number);
  }

  void stop(Ending ending) {
    if (!board_.stopping) ending_ = ending;
    board_.stopping = true;
    signal_all(SIGTERM);
  }

  // For faults of the machine or the storage, not of a run.
  void halt(const std::string& why) {
    if (storage_.empty()) storage_ = why;
    stop(Ending::kFinished);
  }

  void check_for_end() {
    const int seen = signals_seen.exchange(0);
    if (seen > 0 && board_.stopping) {
      signal_all(SIGKILL);  // second request: stop at once
    } else if (seen > 0) {
      stop(Ending::kSignal);
    } else if (board_.stopping) {
      signal_all(SIGTERM);  // again: between fork and exec a child has our handlers and misses it
    } else if (time_is_up() || (options_.enough && options_.enough(board_))) {
      stop(Ending::kTimeUp);
    }
  }

  bool time_is_up() const {
    return options_.seconds > 0 && Clock::now() - begin_ > std::chrono::duration<double>(options_.seconds);
  }

  // Identifies a failure by time and reason: comparing the clocks of several machines is not reliable.
  static std::string failure(const RunState& state) {
    return state.status == Status::kFailed ? fmt::format("{} {}", state.failed_at, state.note) : "";
  }
  // A failed run is retried once, and only if the failure was already there when this process began.
  bool retry(const RunState& state, std::size_t run) const {
    return options_.retry_failed && attempts_[run] == 0 && failure(state) == failed_before_[run];
  }

  // Whether the run that this one is rebalanced from, if any, lets it start: it is done, or it waits and is
  // not selected here, so the worker will do it.
  bool parent_ready(std::size_t run) const {
    if (!board_.parents[run]) return true;
    const Seat& parent = board_.seats[*board_.parents[run]];
    const Status status = parent.state.status;
    return status == Status::kDone ||
           (!parent.selected && status != Status::kRunning && status != Status::kFailed);
  }
  // Whether the run with which this one shares its first epochs, if any, lets it start: it has left its
  // state, or waiting is useless: it is neither running nor due, or it is past that epoch and will leave
  // none.
  bool beginning_ready(std::size_t run) const {
    if (!beginnings_[run]) return true;
    const auto [before, epochs] = *beginnings_[run];
    const Seat& beginning = board_.seats[before];
    const Status status = beginning.state.status;
    const bool to_come =
        status == Status::kWaiting || status == Status::kInterrupted || status == Status::kRunning;
    if (!beginning.selected || !to_come || attempts_[before] >= kMostAttempts) return true;
    if (beginning.state.epoch > epochs) return true;
    return base::present(
        train::branch_path(run_folder(board_.folder, board_.plan.runs[before].name), epochs));
  }
  bool waits_for_parent(std::size_t run) const {
    const Status status = board_.seats[run].state.status;
    return board_.parents[run] && board_.seats[*board_.parents[run]].state.status == Status::kRunning &&
           (status == Status::kWaiting || status == Status::kInterrupted);
  }

  bool open(const Seat& seat, std::size_t run) const {
    if (!seat.selected || seat.ours || attempts_[run] >= kMostAttempts || !parent_ready(run) ||
        !beginning_ready(run))
      return false;
    switch (seat.state.status) {
      case Status::kWaiting:
      case Status::kInterrupted:
      case Status::kDamaged:
        return true;
      case Status::kFailed:
        return retry(seat.state, run);
      case Status::kRunning:
      case Status::kDone:
        return false;
    }
    return false;
  }

  // Nothing to start and nothing to wait for.
  bool nothing_left() const {
    for (std::size_t i = 0; i < board_.seats.size(); ++i) {
      const Seat& seat = board_.seats[i];
      if (open(seat, i)) return false;
      if (seat.selected && (seat.state.status == Status::kRunning || waits_for_parent(i))) return false;
    }
    return true;
  }

  void start_children() {
    for (std::size_t i = 0; i < board_.seats.size() && static_cast<int>(active_.size()) < options_.jobs;
         ++i) {
      Seat& seat = board_.seats[i];
      if (!open(seat, i)) continue;
      see(i);  // another process may have taken it
      if (open(seat, i)) start(i);
    }
  }

  // Reads the state of one run from the folder and reports it if another process has finished it.
  void see(std::size_t i) {
    Seat& seat = board_.seats[i];
    const Status before = seat.state.status;
    seat.state = inspect(board_.folder, board_.plan.runs[i]);
    if (seat.state.status == Status::kDone && before != Status::kDone && !seat.ours) tell(i, "elsewhere");
  }

  void look_again() {
    looked_ = Clock::now();
    for (std::size_t i = 0; i < board_.seats.size(); ++i) {
      const Seat& seat = board_.seats[i];
      if (!seat.ours && seat.state.status != Status::kDone) see(i);
    }
  }

  void tell(std::size_t run, const std::string& kind, const std::string& text = "") {
    Event event;
    event.kind = kind;
    event.text = text;
    event.best = board_.seats[run].state.best;
    watcher_.happened(board_, run, event);
  }

  // The number from the command line, or from the study, or an equal share of the CPUs.
  int threads_of(const train::RunConfig& config) const {
    if (options_.threads > 0) return options_.threads;
    if (config.threads > 0) return config.threads;
    return std::max(1, base::available_cpus() / std::max(1, options_.jobs));
  }

  void start(std::size_t i) {
    const std::filesystem::path folder = run_folder(board_.folder, board_.plan.runs[i].name);
    std::vector<std::string> command = {options_.program,
                                        "study",
                                        "work",
                                        "--run-folder",
                                        folder,
                                        "--threads",
                                        fmt::format("{}", threads_of(board_.plan.runs[i].config))};
    if (!options_.data.empty()) command.insert(command.end(), {"--data", options_.data});
    Seat& seat = board_.seats[i];
    std::string text;
    if (seat.state.status == Status::kInterrupted)
      text = fmt::format("resumes after epoch {}", seat.state.epoch);
    if (seat.state.status == Status::kFailed) text = "again; it failed before: " + seat.state.note;
    active_.push_back({i, Child(program_, command)});
    ++attempts_[i];
    seat.ours = true;
    seat.last = Event{};
    seat.start = Clock::now();
    seat.state.status = Status::kRunning;
    seat.state.note.clear();
    tell(i, "start", text);
  }

  void listen() {
    std::vector<pollfd> waits;
    for (const Active& active : active_) waits.push_back({active.child.fd(), POLLIN, 0});
    if (::poll(waits.data(), waits.size(), static_cast<int>(kTick.count())) <= 0) return;
    std::size_t at = 0;
    for (auto active = active_.begin(); active != active_.end(); ++at) {
      const auto next = std::next(active);
      if (waits[at].revents != 0) hear(active);
      active = next;
    }
  }

  void hear(std::list<Active>::iterator active) {
    std::vector<Event> events;
    const bool open = active->child.read(events);
    for (const Event& event : events) note(*active, event);
    if (!open) conclude(active);
  }

  void note(Active& active, const Event& event) {
    Seat& seat = board_.seats[active.run];
    if (event.kind == "step" || event.kind == "epoch") {
      seat.last = event;
      seat.state.epoch = event.epoch;
      seat.state.best = event.best;
    }
    if (event.kind == "failed" || event.kind == "storage") active.told_end = true;
    if (event.kind == "storage") halt(event.text);
    if (event.kind == "epoch" || event.kind == "damaged" || event.kind == "again" || event.kind == "failed") {
      watcher_.happened(board_, active.run, event);
    }
  }

  void conclude(std::list<Active>::iterator active) {
    check_for_end();  // the signal that ended the child may have been sent to all of us
    const std::size_t run = active->run;
    Seat& seat = board_.seats[run];
    std::string wrong = active->child.finish();
    const int code = active->child.exit_code();
    if (wrong.empty() && code == 1 && !active->told_end) wrong = "ended with exit code 1 and no word";
    active_.erase(active);
    seat.ours = false;
    if (code == kBusy) {
      --attempts_[run];
      // Another child may be training its parent again; this run then has to wait for that.
      if (board_.parents[run]) see(*board_.parents[run]);
    }
    if (code == kNotStarted) {
      halt(fmt::format("{} {}; bring it back, or build it again, and give the same command", options_.program,
                       wrong));
    }
    if (!wrong.empty() && !board_.stopping) blame(run, wrong);
    seat.state = inspect(board_.folder, board_.plan.runs[run]);
    if (seat.state.status == Status::kDone) {
      tell(run, "done");
    } else if (code == 130 && !board_.stopping) {
      stop(Ending::kSignal);  // a signal to stop a child is meant for the study
    }
  }

  // Records a failure for a child that could not report it itself.
  void blame(std::size_t run, const std::string& reason) {
    const std::filesystem::path folder = run_folder(board_.folder, board_.plan.runs[run].name);
    const auto lock = FileLock::try_take(lock_path(folder));
    if (!lock) return;  // another process works on it already
    record_failed(folder, reason);
    tell(run, "failed", reason);
  }

  Board& board_;
  const RunnerOptions& options_;
  Watcher& watcher_;
  std::string program_;  // the file that is executed
  std::list<Active> active_;
  std::vector<int> attempts_;
  std::vector<std::optional<Beginning>> beginnings_;  // for each run, the run it begins from
  std::string storage_;                               // why nothing can be read or written
  Ending ending_ = Ending::kFinished;
  Clock::time_point begin_ = Clock::now();
  Clock::time_point looked_ = begin_;
  std::vector<std::string> failed_before_;  // for each run, the failure recorded when this process began
};

}  // namespace

Ending run_study(Board& board, const RunnerOptions& options, Watcher& watcher) {
  return Runner(board, options, watcher).run();
}

}  // namespace longtail::study
