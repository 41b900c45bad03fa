#include "longtail/study/worker.h"

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <limits>
#include <new>
#include <nlohmann/json.hpp>

#include "longtail/base/error.h"
#include "longtail/base/file.h"
#include "longtail/base/file_events.h"
#include "longtail/base/quote.h"
#include "longtail/base/stop_signals.h"
#include "longtail/study/folder.h"
#include "longtail/study/lock.h"
#include "longtail/study/record.h"
#include "longtail/train/beginning.h"
#include "longtail/train/checkpoint.h"
#include "longtail/train/rebalance.h"
#include "longtail/train/rebalance_method.h"
#include "longtail/train/run.h"

namespace longtail::study {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using nlohmann::json;

constexpr int kBusy = 75;
constexpr int kInterrupted = 130;
constexpr std::chrono::milliseconds kStepPause(250);  // between two `step` events

std::atomic<bool> stop_asked = false;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

json result_json(const train::EpochResult& result) {
  const auto number = [](double value) { return value == value ? json(value) : json(nullptr); };
  return {number(result.overall), number(result.head), number(result.medium), number(result.tail)};
}

train::EpochResult parse_result(const json& list) {
  const auto number = [&](std::size_t i) {
    return list.at(i).is_number() ? list.at(i).get<double>() : std::numeric_limits<double>::quiet_NaN();
  };
  return {number(0), number(1), number(2), number(3), 0};
}

class Teller {
 public:
  explicit Teller(int out) : out_(out) {}
  void tell(const Event& event) const {
    const std::string line = to_line(event) + "\n";
    std::string_view rest = line;
    while (!rest.empty()) {
      const ssize_t put = ::write(out_, rest.data(), rest.size());
      if (put < 0 && errno == EINTR) continue;
      if (put <= 0) return;  // the parent is gone; the work continues, with its results in the folder
      rest.remove_prefix(static_cast<std::size_t>(put));
    }
  }
  void tell(std::string kind, std::string text = "") const {
    Event event;
    event.kind = std::move(kind);
    event.text = std::move(text);
    tell(event);
  }

 private:
  int out_;
};

// Reports the progress of the run: some steps, every epoch, and the mark in the folder.
class Reporter {
 public:
  Reporter(const Teller& teller, fs::path folder, const RunState& before)
      : teller_(teller),
        folder_(std::move(folder)),
        best_(before.best),
        has_best_(before.epoch > 0),
        seconds_before_(before.seconds) {}

  void operator()(const train::Progress& progress) {
    if (!progress.epoch_done && Clock::now() - last_step_ < kStepPause) return;
    last_step_ = Clock::now();
    Event event;
    event.kind = progress.epoch_done ? "epoch" : "step";
    event.epoch = progress.epoch + (progress.epoch_done ? 1 : 0);
    event.epochs = progress.epochs;
    event.part =
        progress.epoch_done || progress.steps == 0 ? 0 : static_cast<double>(progress.step) / progress.steps;
    event.images_per_second = progress.images_per_second;
    event.seconds_left = progress.seconds_left;
    event.result = progress.result;
    if (progress.epoch_done && (progress.best || !has_best_)) {
      best_ = progress.result;
      has_best_ = true;
    }
    event.best = best_;
    if (progress.epoch_done)
      write_mark(folder_, {event.epoch, best_, seconds_before_ + seconds_since(start_)});
    teller_.tell(event);
  }

 private:
  const Teller& teller_;
  fs::path folder_;
  train::EpochResult best_;
  bool has_best_;
  double seconds_before_;
  Clock::time_point start_ = Clock::now();
  Clock::time_point last_step_ = start_ - kStepPause;
};

// Sets the log aside. A sound checkpoint still has everything that was in it.
void forget_result(const fs::path& folder) {
  set_aside(folder / "log.json");
  base::remove_file(folder / "done.json");
}

void start_afresh(const fs::path& folder) {
  forget_result(folder);
  set_aside(folder / "state.ckpt");
  for (const char* name : {"progress.json", "timings.json"}) base::remove_file(folder / name);
}

void mark_log(const PlannedRun& run, const train::RunLog& log, Reporter& reporter) {
  train::Progress progress;
  progress.epoch = log.epochs() - 1;
  progress.epochs = run.config.epochs;
  progress.epoch_done = true;
  progress.best = log.best_epoch == log.epochs() - 1;
  progress.result = log.last.accuracy;
  reporter(progress);
}

void call_trainer(const PlannedRun& run, const WorkOptions& options, const Teller& teller,
                  const RunState& before) {
  Reporter reporter(teller, options.run_folder, before);
  TrainerCall call;
  call.folder = fs::absolute(options.run_folder);
  call.data = run.config.data;
  call.threads = run.config.threads;
  call.should_stop = [] { return stop_asked.load(); };
  call.on_log = [&](const train::RunLog& log) { mark_log(run, log, reporter); };
  call.on_note = [&](const std::string& sentence) { teller.tell("again", sentence); };
  run_trainer(run, call);
}

// Thrown if another process has the lock of a run that is needed.
struct Busy {};

// The folder of the finished run of this study that a rebalanced run starts from. If it is not finished, it
// is trained first, under its own lock.
fs::path trained_parent(const PlannedRun& run, const WorkOptions& options, const Teller& teller);

// Sets the state from which the run begins, if another run of this study leaves one, and the states that it
// leaves for others.
void share_beginning(const fs::path& folder, train::RunOptions& training) {
  std::vector<PlannedRun> runs;
  std::vector<fs::path> folders;
  try {
    for (const std::string& name : recorded_runs(folder.parent_path().parent_path())) {
      folders.push_back(folder.parent_path() / name);
      runs.push_back(read_run(folders.back()));
    }
  } catch (const base::Error&) {
    return;  // a fault of another run: this one can be trained from the start
  }
  const auto beginnings = beginnings_of(runs);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (!beginnings[i]) continue;
    const auto [before, epochs] = *beginnings[i];
    if (folders[i].filename() == folder.filename())
      training.begin_from = train::branch_path(folders[before], epochs);
    if (folders[before].filename() == folder.filename()) training.branch_epochs.push_back(epochs);
  }
}

// The data were there when the study started: if they cannot be loaded now, it is not the fault of a run.
data::Dataset load_data(const train::RunConfig& config) {
  try {
    return train::read_run_dataset(config);
  } catch (const base::Interrupted&) {
    throw;
  } catch (const base::Error& error) {
    throw base::StorageError(error.what());
  }
}

void train_run(const WorkOptions& options, const Teller& teller) {
  const fs::path& folder = options.run_folder;
  PlannedRun run = read_run(folder);
  if (!options.data.empty()) run.config.data = options.data;
  if (options.threads > 0) run.config.threads = options.threads;
  RunState before;
  if (const auto wrong = damage(folder)) {
    teller.tell("damaged", *wrong + "; the run is done again");
    forget_result(folder);
  } else {
    before = inspect_idle(folder, run);
    if (before.status == Status::kDone) return;
  }
  if (run.trainer) {
    call_trainer(run, options, teller, before);
    record_done(folder);
    return;
  }
  const fs::path parent = trained_parent(run, options, teller);
  for (int attempt = 0;; ++attempt) {
    Reporter reporter(teller, folder, before);
    train::RunOptions training;
    training.folder = folder;
    training.parent = parent;
    training.load = load_data;
    share_beginning(options.run_folder, training);
    training.on_progress = [&](const train::Progress& progress) { reporter(progress); };
    training.should_stop = [] { return stop_asked.load(); };
    training.on_note = [&](const std::string& sentence) { teller.tell("note", sentence); };
    try {
      train::run_training(run.config, training);
      break;
    } catch (const base::DamagedFile& error) {
      if (attempt > 0) throw;
      teller.tell("damaged", std::string(error.what()) + "; the run starts afresh");
      start_afresh(folder);
      before = RunState{};
    }
  }
  record_done(folder);
}

// Whether other runs can start from the run in a folder: it is finished, and its network exists and is sound.
bool can_be_started_from(const fs::path& folder, const PlannedRun& run) {
  try {
    return inspect_idle(folder, run).status == Status::kDone && train::is_whole(run.config, folder);
  } catch (const base::DamagedFile&) {
    return false;
  } catch (const base::StorageError&) {
    throw;
  } catch (const base::Error&) {
    if (!FileLock::is_held(lock_path(folder))) throw;
    return false;  // it changed while it was being checked
  }
}

// A finished run that has lost its network counts as unfinished: it is trained again, to the same log. The
// caller holds its lock.
void forget_lost_network(const fs::path& folder, const PlannedRun& run, const Teller& teller) {
  if (inspect_idle(folder, run).status != Status::kDone) return;  // it is trained anyway
  std::string wrong = train::state_path(folder).string() + " is missing or not that of the finished run";
  bool damaged = false;
  try {
    train::is_whole(run.config, folder);
  } catch (const base::DamagedFile& error) {
    wrong = error.what();
    damaged = true;
  }
  teller.tell("damaged", wrong + "; the run that this one is rebalanced from is trained again");
  base::remove_file(folder / "done.json");
  if (damaged) set_aside(train::state_path(folder));
}

// Whether a rebalanced run was finished, but its process ended before recording that. It then needs no
// parent.
bool is_rebalanced(const fs::path& folder, const PlannedRun& run) {
  if (run.config.rebalance == train::kNoRebalance) return false;
  try {
    return train::finished_rebalance(run.config, folder).has_value();
  } catch (const base::DamagedFile&) {
    return false;  // reported when the run is repeated
  }
}

fs::path trained_parent(const PlannedRun& run, const WorkOptions& options, const Teller& teller) {
  const std::string hash = parent_hash(run);
  if (hash.empty() || is_rebalanced(options.run_folder, run)) return {};
  std::string wrong;  // faults of folders whose names have the hash
  for (const auto& entry : fs::directory_iterator(options.run_folder.parent_path())) {
    const fs::path& folder = entry.path();
    if (!folder.filename().string().ends_with("-" + hash.substr(0, kHashDigits))) continue;
    PlannedRun parent;
    try {
      parent = read_run(folder);
    } catch (const base::StorageError&) {
      throw;
    } catch (const base::Error& error) {  // for example a copy that a person has renamed
      wrong += fmt::format("; {}", error.what());
      continue;
    }
    if (parent.hash != hash) continue;
    // No lock needed: several runs may start from the same finished run.
    if (can_be_started_from(folder, parent)) return folder;
    const auto lock = FileLock::try_take(lock_path(folder));
    if (!lock) throw Busy{};
    if (can_be_started_from(folder, parent)) return folder;  // another process trained it in the meantime
    forget_lost_network(folder, parent, teller);
    WorkOptions first = options;
    first.run_folder = folder;
    train_run(first, teller);
    return folder;
  }
  base::fail("there is no folder of the run that this one is rebalanced from, in {}{}",
             options.run_folder.parent_path().string(), wrong);
}

// Records the reason if it can be written; otherwise reports a storage error. Returns the exit code.
int failed(const fs::path& folder, const Teller& teller, const std::string& reason) {
  try {
    record_failed(folder, reason);
    teller.tell("failed", reason);
  } catch (const base::Error& error) {
    teller.tell("storage", error.what());
  }
  return 1;
}

}  // namespace

std::string to_line(const Event& event) {
  const json object = {{"event", event.kind},
                       {"text", event.text},
                       {"epoch", event.epoch},
                       {"epochs", event.epochs},
                       {"part", event.part},
                       {"rate", event.images_per_second},
                       {"left", event.seconds_left},
                       {"result", result_json(event.result)},
                       {"best", result_json(event.best)}};
  return object.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::optional<Event> parse_event(std::string_view line) {
  if (!line.starts_with('{')) return std::nullopt;
  try {
    const json object = json::parse(line);
    Event event;
    event.kind = object.at("event").get<std::string>();
    event.text = base::quote::terminal(object.at("text").get<std::string>());
    event.epoch = object.at("epoch").get<int>();
    event.epochs = object.at("epochs").get<int>();
    event.part = object.at("part").get<double>();
    event.images_per_second = object.at("rate").get<double>();
    event.seconds_left = object.at("left").get<double>();
    event.result = parse_result(object.at("result"));
    event.best = parse_result(object.at("best"));
    return event;
  } catch (const json::exception&) {
    return std::nullopt;
  }
}

int work(const WorkOptions& options, int out) {
  const Teller teller(out);
  std::signal(SIGPIPE, SIG_IGN);
  struct sigaction action {};
  action.sa_handler = [](int) { stop_asked = true; };
  action.sa_flags = SA_RESTART;
  for (const int signal : base::kStopSignals) base::catch_stop_signal(signal, action);
  try {
    if (!base::present(options.run_folder)) {
      base::fail<base::StorageError>(
          "{} is gone: it was removed, or renamed by another command; give this command again to continue",
          options.run_folder.string());
    }
    const auto lock = FileLock::try_take(lock_path(options.run_folder));
    if (!lock) {
      teller.tell("busy");
      return kBusy;
    }
    remove_temporaries(options.run_folder);
    train_run(options, teller);
    teller.tell("done");
    return 0;
  } catch (const Busy&) {
    teller.tell("busy");
    return kBusy;
  } catch (const base::Interrupted&) {
    teller.tell("stopped");
    return kInterrupted;
  } catch (const base::StorageError& error) {
    teller.tell("storage", error.what());
    return 1;
  } catch (const std::bad_alloc&) {
    return failed(options.run_folder, teller, "not enough memory");
  } catch (const std::exception& error) {
    return failed(options.run_folder, teller, error.what());
  }
}

}  // namespace longtail::study
