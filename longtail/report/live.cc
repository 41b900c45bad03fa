#include "longtail/report/live.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include "longtail/base/error.h"
#include "longtail/base/text.h"
#include "longtail/report/page.h"
#include "longtail/report/race.h"
#include "longtail/report/report.h"
#include "longtail/study/board.h"

namespace longtail::report {
namespace {

namespace fs = std::filesystem;

// Tells one state of a file from another without reading it: written files are renamed into place, so a new
// state is a new file.
std::string stamp(const fs::path& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return "-";
  return fmt::format("{}.{}.{}.{}", info.st_ino, info.st_size, info.st_mtim.tv_sec, info.st_mtim.tv_nsec);
}

std::string counts_words(const study::Board& board) {
  std::vector<std::string> parts = {
      fmt::format("{} of {} runs done", board.count(study::Status::kDone), board.seats.size())};
  for (const study::Status status :
       {study::Status::kRunning, study::Status::kInterrupted, study::Status::kWaiting,
        study::Status::kDamaged, study::Status::kFailed}) {
    if (const int count = board.count(status); count > 0)
      parts.push_back(fmt::format("{} {}", count, study::word(status)));
  }
  return base::join(parts, ", ");
}

std::string progress_html(const study::Board& board) {
  std::string rows;
  for (std::size_t i = 0; i < board.seats.size(); ++i) {
    const study::RunState& state = board.seats[i].state;
    const bool done = state.status == study::Status::kDone;
    const int epochs = std::max(1, done ? state.epoch : state.epochs);
    rows += fmt::format(
        "<tr data-status=\"{0}\"><td class=\"left\">{1}</td><td class=\"left\">{0}</td><td "
        "class=\"left\"><progress "
        "max=\"{2}\" value=\"{3}\"></progress> {3}/{2}</td>",
        study::word(state.status), html_escape(board.plan.runs[i].name), epochs, state.epoch);
    for (const double value : {state.best.overall, state.best.head, state.best.medium, state.best.tail}) {
      rows += "<td>" + (state.epoch > 0 ? fixed(value, 1) : std::string("–")) + "</td>";
    }
    rows += "<td class=\"left\">" + html_escape(state.note) + "</td></tr>\n";
  }
  return fmt::format(
      "<p id=\"live-counts\">{}</p><div class=\"scroll\"><table id=\"progress-table\"><thead><tr><th "
      "class=\"left\">Run</th><th class=\"left\">State</th><th "
      "class=\"left\">Epochs</th><th>Overall</th><th>Head</th>"
      "<th>Medium</th><th>Tail</th><th class=\"left\"></th></tr></thead><tbody>{}</tbody></table></div>"
      "<p class=\"note\">Accuracy in percent at the best epoch so far. Findings and tables below are of "
      "finished runs alone; a run under way shows its curves.</p>",
      counts_words(board), rows);
}

// The report on the runs so far; an empty one while there is no log yet.
Report report_of(const fs::path& folder) {
  ReportOptions options;
  options.inputs = {folder};
  options.read.unfinished = true;
  try {
    report_as_raced(options);  // a race is judged at its looks, not whenever the page is rebuilt
    return make_report(options);
  } catch (const base::Error&) {
    Report empty;
    empty.notes = read_notes(options.inputs, empty.results.warnings);
    return empty;
  }
}

}  // namespace

LiveStudy::LiveStudy(fs::path folder) : folder_(std::move(folder)) {
  study::read_plan(folder_);
  look();
}

bool LiveStudy::look() {
  std::string now = stamp(folder_ / "study.json") + stamp(folder_ / "notes.md");
  std::error_code error;
  for (fs::directory_iterator entry(folder_ / "runs", error), end; !error && entry != end;
       entry.increment(error)) {
    now += entry->path().filename().string();
    for (const char* name : {"log.json", "done.json", "failed.json", "progress.json", "study.lock"})
      now += " " + stamp(entry->path() / name);
  }
  if (now == seen_) return false;
  seen_ = std::move(now);
  ++version_;
  return true;
}

std::string LiveStudy::words() const {
  return counts_words(study::make_board(study::read_plan(folder_), folder_, {}));
}

void LiveStudy::make() {
  if (made_ == version_) return;
  const study::Board board = study::make_board(study::read_plan(folder_), folder_, {});
  const Report report = report_of(folder_);
  const Live live{version_, progress_html(board)};
  page_ = live_page(report, live);
  state_ = live_state(report, live);
  made_ = version_;
}

const std::string& LiveStudy::page() {
  make();
  return page_;
}

const std::string& LiveStudy::state() {
  make();
  return state_;
}

}  // namespace longtail::report
