#include "longtail/study/view.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <ctime>

#include "longtail/base/terminal.h"
#include "longtail/base/text.h"
#include "longtail/study/table.h"

namespace longtail::study {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::seconds kEpochLine(60);  // at most one epoch line per run in that time
constexpr std::chrono::milliseconds kFrame(330);
constexpr std::size_t kMessages = 5;
constexpr std::size_t kHashAndDash = 11;

// The width of a text in columns: counts characters, not bytes.
std::size_t columns(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

std::string clip(const std::string& text, std::size_t width) {
  if (columns(text) <= width) return text;
  std::string result;
  std::size_t used = 0;
  for (const char c : text) {
    if ((static_cast<unsigned char>(c) & 0xC0) != 0x80 && ++used > width) break;
    result += c;
  }
  return result;
}

std::string bar(double part, int width) {
  const int full = std::clamp(static_cast<int>(std::lround(part * width)), 0, width);
  std::string text;
  for (int i = 0; i < width; ++i) text += i < full ? "█" : "░";
  return text;
}

std::string spread(const std::string& left, const std::string& right, std::size_t width) {
  const std::size_t used = columns(left) + columns(right);
  return used + 2 > width ? clip(left, width) : left + std::string(width - used, ' ') + right;
}

std::string result_text(const train::EpochResult& result) {
  return fmt::format("{:.1f} ({})", result.overall, groups_text(result));
}

double part_done(const Seat& seat) {
  if (seat.state.status == Status::kDone) return 1;
  return seat.state.epochs > 0 ? (seat.state.epoch + (seat.ours ? seat.last.part : 0)) / seat.state.epochs
                               : 0;
}

std::string counts_line(const Board& board) {
  std::vector<std::string> parts;
  for (const Status status : {Status::kDone, Status::kRunning, Status::kInterrupted, Status::kWaiting,
                              Status::kDamaged, Status::kFailed}) {
    const int count = board.count(status);
    if (count > 0 || status == Status::kDone) parts.push_back(fmt::format("{} {}", count, word(status)));
  }
  return base::join(parts, ", ");
}

std::vector<std::string> heading(const Board& board, std::size_t width) {
  double done = 0;
  for (const Seat& seat : board.seats) done += part_done(seat);
  done /= std::max<double>(1, static_cast<double>(board.seats.size()));
  const double left = seconds_left(board);
  const double passed = std::chrono::duration<double>(Clock::now() - board.begin).count();
  // The elapsed time changes at every redraw, even if the runs make no progress.
  std::string time = base::duration(passed);
  time += board.stopping ? ", stopping" : left > 0 ? ", " + base::duration(left) + " left" : "";
  return {spread(fmt::format("study {}: {}", board.plan.name, counts_line(board)),
                 "engine " + board.plan.engine, width),
          spread(fmt::format("{} {:3.0f}%", bar(done, std::max(8, static_cast<int>(width) - 42)), 100 * done),
                 time, width)};
}

// The headings for the columns of running_line.
std::string running_heading(std::size_t name_width, int epochs, std::size_t width) {
  const int counts = 4 + static_cast<int>(std::to_string(epochs).size());
  return spread(fmt::format("  {:<{}}  {:<10} {:>{}}  {:>4} {:>14}", "run", name_width, "done", "epoch",
                            counts, "test", "head/med./tail"),
                "images/s  left", width);
}

std::string running_line(const PlannedRun& run, const Seat& seat, std::size_t name_width, std::size_t width) {
  std::string line = fmt::format("  {:<{}}  {} {:>3}/{}", short_name(run), name_width,
                                 bar(part_done(seat), 10), seat.state.epoch, seat.state.epochs);
  if (seat.state.epoch > 0) {
    line += fmt::format("  {:4.1f} {}", seat.ours ? seat.last.result.overall : seat.state.best.overall,
                        groups_text(seat.ours ? seat.last.result : seat.state.best, 4));
  }
  if (!seat.ours) return clip(line + "  " + seat.state.note, width);
  std::string right;
  if (seat.last.images_per_second > 0) {
    right += base::with_commas(static_cast<std::int64_t>(seat.last.images_per_second));
  }
  if (seat.last.seconds_left > 0) right += "  " + base::duration(seat.last.seconds_left);
  return spread(line, right, width);
}

std::vector<std::string> running_lines(const Board& board, std::size_t width, std::size_t most) {
  std::size_t name_width = 0, running = 0;
  for (std::size_t i = 0; i < board.seats.size(); ++i) {
    if (board.seats[i].state.status != Status::kRunning) continue;
    name_width = std::max(name_width, short_name(board.plan.runs[i]).size());
    ++running;
  }
  name_width = std::min(name_width, width > 70 ? width - 44 : std::size_t{24});
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < board.seats.size() && lines.size() <= most; ++i) {
    const Seat& seat = board.seats[i];
    if (seat.state.status != Status::kRunning) continue;
    if (lines.empty()) lines.push_back(running_heading(name_width, seat.state.epochs, width));
    lines.push_back(running_line(board.plan.runs[i], seat, name_width, width));
  }
  if (running >= lines.size() && running > 0)
    lines.push_back(fmt::format("  and {} more", running - (lines.size() - 1)));
  return lines;
}

std::string next_line(const Board& board, std::size_t width) {
  std::string line = "next: ";
  for (std::size_t i = 0; i < board.seats.size(); ++i) {
    const Seat& seat = board.seats[i];
    if (!seat.selected ||
        (seat.state.status != Status::kWaiting && seat.state.status != Status::kInterrupted))
      continue;
    const std::string name = short_name(board.plan.runs[i]);
    if (columns(line) + name.size() + 6 > width) return line + "...";
    line += (line.ends_with(": ") ? "" : ", ") + name;
  }
  return line.ends_with(": ") ? "" : line;
}

struct Size {
  int width = 80, height = 24;
};

Size terminal_size(int fd) {
  winsize size{};
  if (::ioctl(fd, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0) return {};
  return {size.ws_col, size.ws_row};
}

void write_whole(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t put = ::write(fd, text.data(), text.size());
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(put));
  }
}

}  // namespace

std::string short_name(const PlannedRun& run) { return run.name.substr(0, run.name.size() - kHashAndDash); }

std::string clock_time() {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  ::localtime_r(&now, &local);
  return fmt::format("{:02}:{:02}:{:02}", local.tm_hour, local.tm_min, local.tm_sec);
}

std::vector<std::string> render(const Board& board, const std::deque<std::string>& messages, int width,
                                int height) {
  const auto columns_free = static_cast<std::size_t>(std::max(20, width - 1));
  const auto rows = static_cast<std::size_t>(std::max(4, height - 1));
  std::vector<std::string> lines = heading(board, columns_free);
  const auto append = [&](const std::vector<std::string>& more, const std::string& title) {
    if (more.empty()) return;
    lines.emplace_back();
    if (!title.empty()) lines.push_back(title);
    lines.insert(lines.end(), more.begin(), more.end());
  };
  append(running_lines(board, columns_free, std::max<std::size_t>(2, rows / 4)), "");
  if (const std::string next = next_line(board, columns_free); !next.empty()) lines.push_back("  " + next);
  append(result_table(board.plan.runs, board.states(), static_cast<int>(columns_free)),
         "Accuracy at the best epoch in percent, mean over the seeds done");
  append({messages.begin(), messages.end()}, "");
  if (lines.size() > rows) {
    // The heading and the newest messages matter most; the table loses its last rows.
    const std::size_t keep = std::min(messages.size(), rows / 4);
    lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(rows - keep), lines.end());
    lines.insert(lines.end(), messages.end() - static_cast<std::ptrdiff_t>(keep), messages.end());
  }
  for (std::string& line : lines) line = clip(line, columns_free);
  return lines;
}

std::vector<std::string> coloured(std::vector<std::string> lines) {
  using base::Colour, base::painted;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    std::string& line = lines[i];
    const std::size_t full = line.find("█"), empty = line.find("░");
    const bool message = line.size() > 10 && line[2] == ':' && line[5] == ':';
    if (i == 0 || line.starts_with("Accuracy at")) {
      line = painted(line, Colour::kBold);
    } else if (line.starts_with("  run ") || line.starts_with("  next: ")) {
      line = painted(line, Colour::kDim);
    } else if (message && line.substr(10, 4) == "done") {
      line = line.substr(0, 10) + painted("done", Colour::kGreen) + line.substr(14);
    } else if (message) {  // failed, damaged, again
      const std::size_t end = line.find(' ', 10);
      const auto colour = line.substr(10, 5) == "again" ? Colour::kYellow : Colour::kRed;
      line = line.substr(0, 10) + painted(line.substr(10, end - 10), colour) +
             (end == std::string::npos ? "" : line.substr(end));
    } else if (full != std::string::npos || empty != std::string::npos) {
      const std::size_t begin = std::min(full, empty);
      const std::size_t edge = std::min(empty, line.rfind("█") == std::string::npos
                                                   ? begin
                                                   : line.rfind("█") + std::string_view("█").size());
      const std::size_t last = std::max(line.rfind("█") + 1, line.rfind("░") + 1);
      const std::size_t end = last + std::string_view("█").size() - 1;
      line = line.substr(0, begin) + painted(line.substr(begin, edge - begin), Colour::kGreen) +
             painted(line.substr(edge, end - edge), Colour::kDim) + line.substr(end);
    }
  }
  return lines;
}

std::string describe(const Board& board, std::size_t run, const Event& event) {
  const Seat& seat = board.seats[run];
  const std::string head = fmt::format("{:<8} {:>3}/{}  {}", event.kind == "elsewhere" ? "done" : event.kind,
                                       run + 1, board.seats.size(), short_name(board.plan.runs[run]));
  if (event.kind == "start") return head + (event.text.empty() ? "" : ": " + event.text);
  if (event.kind == "epoch") {
    return fmt::format("{}: epoch {}/{}, {}, {} left", head, event.epoch, event.epochs,
                       result_text(event.result), base::duration(event.seconds_left));
  }
  if (event.kind == "done") {
    const double seconds = std::chrono::duration<double>(Clock::now() - seat.start).count();
    return fmt::format("{}: {}, {}", head, result_text(seat.state.best), base::duration(seconds));
  }
  if (event.kind == "elsewhere")
    return fmt::format("{}: {}, by another process", head, result_text(seat.state.best));
  return head + ": " + event.text;
}

void LineWatcher::happened(const Board& board, std::size_t run, const Event& event) {
  last_epoch_.resize(board.seats.size());
  if (event.kind == "start") last_epoch_[run] = Clock::now();
  if (event.kind == "epoch") {
    if (Clock::now() - last_epoch_[run] < kEpochLine) return;
    last_epoch_[run] = Clock::now();
  }
  const std::string line = fmt::format("{}  {}\n", clock_time(), describe(board, run, event));
  // The reader may be gone (`study run | head`); the work continues.
  if ((std::fputs(line.c_str(), out_) < 0 || std::fflush(out_) != 0) && errno == EPIPE) {
    if (!std::freopen("/dev/null", "w", out_)) return;
  }
}

LiveWatcher::LiveWatcher(int terminal) : terminal_(terminal), colours_(base::has_colours(terminal)) {
  write_whole(terminal_, "\x1b[?25l");
}

LiveWatcher::~LiveWatcher() { write_whole(terminal_, "\x1b[?25h"); }

void LiveWatcher::happened(const Board& board, std::size_t run, const Event& event) {
  if (event.kind != "epoch" && event.kind != "start") {
    messages_.push_back(clock_time() + "  " + describe(board, run, event));
    if (messages_.size() > kMessages) messages_.pop_front();
  }
  draw(board);
}

void LiveWatcher::tick(const Board& board) {
  if (Clock::now() - last_draw_ >= kFrame) draw(board);
}

void LiveWatcher::draw(const Board& board) {
  last_draw_ = Clock::now();
  const Size size = terminal_size(terminal_);
  auto lines = render(board, messages_, size.width, size.height);
  if (colours_) lines = coloured(std::move(lines));
  // One write per frame: back to the first line, each line written over the old one and cleared to its end,
  // without wrapping.
  std::string frame = "\x1b[?2026h\x1b[?7l";
  if (drawn_ > 0) frame += fmt::format("\x1b[{}F", std::min(drawn_, size.height - 1));
  for (const std::string& line : lines) frame += line + "\x1b[K\n";
  frame += "\x1b[J\x1b[?7h\x1b[?2026l";
  write_whole(terminal_, frame);
  drawn_ = static_cast<int>(lines.size());
}

}  // namespace longtail::study
