#include "longtail/study/board.h"

#include <algorithm>
#include <limits>
#include <map>

namespace longtail::study {
namespace {

// Mean seconds per epoch, for each rho (it sets the size of the subset) and over all runs.
class Pace {
 public:
  void add(double rho, double seconds, double epochs) {
    for (const double key : {rho, kAll}) {
      sums_[key].first += seconds;
      sums_[key].second += epochs;
    }
  }
  // NaN if nothing is known.
  double epoch(double rho) const {
    const auto found = sums_.contains(rho) ? sums_.find(rho) : sums_.find(kAll);
    if (found == sums_.end() || found->second.second <= 0) return std::numeric_limits<double>::quiet_NaN();
    return found->second.first / found->second.second;
  }

 private:
  static constexpr double kAll = -1;
  std::map<double, std::pair<double, double>> sums_;
};

}  // namespace

int Board::count(Status status) const {
  return static_cast<int>(std::count_if(seats.begin(), seats.end(),
                                        [&](const Seat& seat) { return seat.state.status == status; }));
}

std::vector<RunState> Board::states() const {
  std::vector<RunState> all;
  for (const Seat& seat : seats) all.push_back(seat.state);
  return all;
}

Board make_board(const Plan& plan, const std::filesystem::path& folder,
                 const std::vector<std::size_t>& selection) {
  Board board;
  board.plan = plan;
  board.folder = folder.string();
  board.seats.resize(plan.runs.size());
  board.parents = parents_of(plan.runs);
  for (Seat& seat : board.seats) seat.selected = false;
  for (const std::size_t i : selection) board.seats.at(i).selected = true;
  refresh(board);
  return board;
}

void refresh(Board& board) {
  for (std::size_t i = 0; i < board.seats.size(); ++i) {
    Seat& seat = board.seats[i];
    if (seat.ours || seat.state.status == Status::kDone) continue;
    seat.state = inspect(board.folder, board.plan.runs[i]);
  }
  for (std::size_t i = 0; i < board.seats.size(); ++i) {
    RunState& state = board.seats[i].state;
    if (board.parents[i] && (state.status == Status::kWaiting || state.status == Status::kInterrupted) &&
        board.seats[*board.parents[i]].state.status == Status::kFailed)
      state.note = "the run that it is rebalanced from failed";
  }
}

double seconds_left(const Board& board) {
  Pace pace;
  for (std::size_t i = 0; i < board.seats.size(); ++i) {
    const RunState& state = board.seats[i].state;
    const Event& last = board.seats[i].last;
    const double rho = board.plan.runs[i].config.subset.rho;
    if (state.epoch > 0 && state.seconds > 0) {
      pace.add(rho, state.seconds, state.epoch);
    } else if (board.seats[i].ours && last.seconds_left > 0) {  // a run's own estimate in its first epoch
      pace.add(rho, last.seconds_left, last.epochs - last.epoch - last.part);
    }
  }
  double total = 0;
  int workers = 0;
  for (std::size_t i = 0; i < board.seats.size(); ++i) {
    const Seat& seat = board.seats[i];
    const RunState& state = seat.state;
    if (!seat.selected || state.status == Status::kDone || state.status == Status::kFailed) continue;
    workers += state.status == Status::kRunning;
    if (seat.ours && seat.last.seconds_left > 0) {
      total += seat.last.seconds_left;
    } else {
      total += pace.epoch(board.plan.runs[i].config.subset.rho) * (state.epochs - state.epoch);
    }
  }
  return total / std::max({workers, board.jobs, 1});
}

}  // namespace longtail::study
