// longtail study run, and the hidden `study work` that it starts for each run.
#include <fmt/format.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <set>

#include "longtail/base/error.h"
#include "longtail/base/quote.h"
#include "longtail/base/text.h"
#include "longtail/cli/study.h"
#include "longtail/study/runner.h"
#include "longtail/study/selection.h"
#include "longtail/study/sharing.h"
#include "longtail/study/table.h"
#include "longtail/study/view.h"
#include "longtail/study/worker.h"
#include "longtail/train/run.h"

namespace longtail::cli {
namespace {

struct RunFlags {
  StudyFlags study;
  std::string out;
  std::string shard;
  std::string time;
  std::vector<std::string> only;
  int jobs = 1;
  int threads = 0;
  bool retry_failed = false;
  bool plain = false;
};

study::Plan open(const RunFlags& flags) {
  const auto say = [](const std::string& sentence) { fmt::print(stderr, "longtail: {}\n", sentence); };
  if (!flags.study.file.empty()) {
    const study::StudyFile file = flags.study.read();
    study::Plan planned;
    planned.runs = study::resolve(file, study::engine_of(file, flags.out));
    study::select(planned, flags.shard, flags.only);  // refuse errors before the folder is created
    return study::open_study(file, flags.out, LONGTAIL_VERSION, say);
  }
  if (!flags.study.changes.empty()) {
    base::fail<base::UsageError>("--set changes a study file, and none is given; name the FILE too");
  }
  return study::reopen_study(flags.out, say);
}

void print_results(const study::Board& board) {
  for (const std::string& line : study::result_table(board.plan.runs, board.states(), study::kPrintWidth)) {
    fmt::print("{}\n", line);
  }
  fmt::print("{}\n", study::check_sharing(board.plan.runs, board.states()).sentence());
}

// Prints why selected runs were not started.
void print_reasons(const study::Board& board) {
  for (std::size_t i = 0; i < board.seats.size(); ++i) {
    const study::RunState& state = board.seats[i].state;
    if (!board.seats[i].selected || state.status == study::Status::kDone || state.note.empty()) continue;
    fmt::print("{}: {}\n", board.plan.runs[i].name, state.note);
  }
  std::fflush(stdout);
}

// Returns if every selected run is done; otherwise throws an Error that says what is missing.
void conclude(const study::Board& board, study::Ending ending) {
  int done = 0, failed = 0, selected = 0;
  for (const study::Seat& seat : board.seats) {
    if (!seat.selected) continue;
    ++selected;
    done += seat.state.status == study::Status::kDone;
    failed += seat.state.status == study::Status::kFailed;
  }
  if (ending != study::Ending::kFinished) {
    base::fail<base::Interrupted>(
        "{}; {} of {} runs are done. The same command resumes",
        ending == study::Ending::kTimeUp ? "the time given with --for is up" : "interrupted", done, selected);
  }
  if (failed > 0) {
    base::fail("{} of {} runs failed; `longtail study status {}` tells why, --retry-failed tries again",
               failed, selected, base::quote::argument(board.folder));
  }
  if (done < selected) {
    print_reasons(board);
    base::fail("{} of {} runs could not be done; see above", selected - done, selected);
  }
}

// Missing data are a fault of the machine, not of a run: report them before any run is started.
void require_data(const study::Board& board, const std::string& folder) {
  std::set<std::string> seen;
  for (std::size_t i = 0; i < board.seats.size(); ++i) {
    if (board.plan.runs[i].trainer) continue;  // only the trainer knows what it reads
    train::RunConfig config = board.plan.runs[i].config;
    if (!board.seats[i].selected || board.seats[i].state.status == study::Status::kDone) continue;
    if (!folder.empty()) config.data = folder;
    if (seen.insert(config.dataset).second) train::load_run_dataset(config);
  }
}

void run(const RunFlags& flags) {
  std::signal(SIGPIPE, SIG_IGN);  // the study continues when the reader of its output ends
  study::RunnerOptions options;
  options.data = flags.study.data;
  options.jobs = flags.jobs;
  options.threads = flags.threads;
  options.retry_failed = flags.retry_failed;
  if (!flags.time.empty()) options.seconds = study::parse_duration(flags.time);
  const study::Plan plan = open(flags);
  study::require_engine(plan);
  study::Board board = study::make_board(plan, flags.out, study::select(plan, flags.shard, flags.only));
  const auto selected = std::count_if(board.seats.begin(), board.seats.end(),
                                      [](const study::Seat& seat) { return seat.selected; });
  const std::string meant =
      flags.only.empty() && flags.shard.empty() ? "" : fmt::format(", {} selected", selected);
  fmt::print("{}  study {}: {} runs, {} done{}; engine {}; in {}\n", study::clock_time(), plan.name,
             plan.runs.size(), board.count(study::Status::kDone), meant, plan.engine, flags.out);
  std::fflush(stdout);
  if (selected == 0) {  // with one command per machine there may be more machines than runs
    fmt::print("Nothing to do here: the shard {} has none of the runs that are meant.\n", flags.shard);
    return;
  }
  require_data(board, flags.study.data);
  const char* terminal = std::getenv("TERM");
  const bool live =
      !flags.plain && ::isatty(STDOUT_FILENO) && terminal && std::string_view(terminal) != "dumb";
  study::Ending ending{};
  {
    std::unique_ptr<study::Watcher> watcher;
    if (live) {
      watcher = std::make_unique<study::LiveWatcher>(STDOUT_FILENO);
    } else {
      watcher = std::make_unique<study::LineWatcher>(stdout);
    }
    options.program = own_program();  // the current path of the executable
    ending = study::run_study(board, options, *watcher);
    study::refresh(board);
    watcher->tick(board);
  }
  if (!live) print_results(board);
  if (live) fmt::print("{}\n", study::check_sharing(plan.runs, board.states()).sentence());
  std::fflush(stdout);
  conclude(board, ending);
  fmt::print("`longtail report {}` writes tables and figures.\n", base::quote::argument(flags.out));
}

}  // namespace

void add_study_run(App& app) {
  App* command = app.add_subcommand("run", "Do every run of a study that is not done yet");
  const auto flags = std::make_shared<RunFlags>();
  add_study_flags(*command, flags->study, false);
  command->add_option("--out", flags->out, "Folder of the study; without FILE, the study that it holds")
      ->required();
  command->add_option("--jobs", flags->jobs, "Runs at a time, each with its share of the CPUs [1]")
      ->check(Range(1, 1024));
  command->add_option("--threads", flags->threads, "Threads of each run [CPUs / jobs]")
      ->check(Range(1, 1024));
  command
      ->add_option(
          "--shard", flags->shard,
          "Only every n-th run (of those that --only means), from the i-th: for machines that share no "
          "folder")
      ->type_name("I/N");
  command
      ->add_option("--only", flags->only,
                   "Only the runs whose names begin so, numbers whole (rho10 is not rho100); may be repeated")
      ->type_name("NAME")
      ->expected(1)
      ->take_all();
  command->add_option("--for", flags->time, "Stop cleanly after that time: 90m, 2h, 1h30m")
      ->type_name("TIME");
  command->add_flag("--retry-failed", flags->retry_failed, "Try runs again that are recorded as failed");
  command->add_flag("--plain", flags->plain, "One line per event on a terminal too");
  command->footer(
      "Ends with 0 if all selected runs are done, 1 if some failed, 130 if it was stopped (the same command "
      "resumes).\n"
      "Several processes, on several machines with one file system too, may work on one folder at once.");
  command->callback([flags] { run(*flags); });
}

void add_study_work(App& app) {
  App* command = app.add_subcommand("work", "One run, in a process of its own (started by `study run`)");
  command->group("");  // hidden from users
  const auto options = std::make_shared<study::WorkOptions>();
  command->add_option("--run-folder", options->run_folder)->required();
  command->add_option("--data", options->data);
  command->add_option("--threads", options->threads);
  command->callback([options] {
    // For `top` and `pgrep`, which would show a program started as /proc/self/exe as `exe`.
    ::prctl(PR_SET_NAME, "longtail");
    const int code = study::work(*options, STDOUT_FILENO);
    if (code != 0) std::exit(code);  // the reason was reported as an event
  });
}

}  // namespace longtail::cli
