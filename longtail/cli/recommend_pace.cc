#include "longtail/cli/recommend_pace.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "longtail/base/file.h"
#include "longtail/base/text.h"
#include "longtail/train/rebalance_method.h"

namespace longtail::cli {
namespace {

namespace fs = std::filesystem;
constexpr double kKeepEvery = 2;
// The cost of an epoch of a rebalanced run relative to a training epoch: a forward pass without a backward
// pass.
constexpr double kForwardOnly = 0.5;

bool is_rebalanced(const study::Board& board, std::size_t run) {
  return board.plan.runs[run].config.rebalance != train::kNoRebalance;
}

double earlier_commands(const fs::path& file) {
  std::error_code ignored;
  if (!fs::exists(file, ignored)) return 0;
  std::string text = base::read_text(file, 100);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return std::max(0.0, base::parse_real(text).value_or(0));
}

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

double report_seconds(double seconds) { return std::min(seconds / 7, std::clamp(seconds / 20, 20.0, 60.0)); }

double with_report(double seconds) {
  return std::min(seconds * 7 / 6, seconds + std::clamp(seconds / 19, 20.0, 60.0));
}

TimeBudget::TimeBudget(const fs::path& folder, double seconds)
    : file_(folder / "recommend.seconds"), seconds_(seconds), before_(earlier_commands(file_)) {}

double TimeBudget::used() const { return before_ + seconds_since(begin_); }

double TimeBudget::left() const { return seconds_ - report_seconds(seconds_) - used(); }

void TimeBudget::keep() {
  if (seconds_since(kept_) < kKeepEvery) return;
  kept_ = Clock::now();
  base::write_atomically(file_, fmt::format("{:.0f}\n", used()));
}

void Pace::finished(std::size_t run, double moment) {
  if (const auto last = last_.find(run); last != last_.end()) {
    latest_.push_back(moment - last->second);
    if (latest_.size() > window_) latest_.pop_front();
    if (measured())
      seconds_ = std::accumulate(latest_.begin(), latest_.end(), 0.0) / static_cast<double>(latest_.size());
  }
  last_[run] = moment;
}

double charge(int epochs, const std::string& rebalance) {
  return rebalance == train::kNoRebalance ? epochs : kForwardOnly * epochs;
}

double makespan(const std::vector<double>& works, int jobs) {
  std::vector<double> free(static_cast<std::size_t>(std::max(1, jobs)), 0);
  for (const double work : works) *std::min_element(free.begin(), free.end()) += work;
  return *std::max_element(free.begin(), free.end());
}

std::vector<double> epochs_left(const study::Board& board) {
  std::vector<double> begun, waiting;
  for (std::size_t i = 0; i < board.seats.size(); ++i) {
    const study::Seat& seat = board.seats[i];
    if (!seat.selected || seat.state.status == study::Status::kDone) continue;
    const double left = charge(seat.state.epochs - seat.state.epoch, board.plan.runs[i].config.rebalance);
    (seat.state.status == study::Status::kRunning ? begun : waiting).push_back(left);
  }
  begun.insert(begun.end(), waiting.begin(), waiting.end());
  return begun;
}

void PaceWatcher::happened(const study::Board& board, std::size_t run, const study::Event& event) {
  const double now =
      std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  if (!is_rebalanced(board, run)) {
    if (event.kind == "start") pace_.started(run, now);
    if (event.kind == "epoch") pace_.finished(run, now);
  }
  shown_.happened(board, run, event);
}

void PaceWatcher::tick(const study::Board& board) {
  budget_.keep();
  shown_.tick(board);
}

}  // namespace longtail::cli
