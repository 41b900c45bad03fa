#include "longtail/cli/run_words.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

#include "longtail/base/quote.h"
#include "longtail/base/terminal.h"
#include "longtail/base/text.h"
#include "longtail/cli/interrupt.h"

namespace longtail::cli {
namespace {

constexpr auto kRedraw = std::chrono::milliseconds(100);

// NaN (a group without classes) is shown as a dash, never as zero.
std::string points(double value, int digits = 2) {
  return std::isnan(value) ? "-" : fmt::format("{:.{}f}", value, digits);
}

// A number with up to four digits, after the point or in all, as `form` says: the most that leave a space
// before it in a column of this width.
std::string narrower(const char* form, double value, int width) {
  for (int digits = 4; digits >= 0; --digits) {
    std::string text = fmt::format(fmt::runtime(form), value, digits);
    if (std::cmp_less(text.size(), width)) return text;
  }
  return fmt::format("{:.0e}", value);
}

// A column of the progress: its content, its width, and how soon it is dropped on a narrow terminal (the
// highest number first).
struct Column {
  const char* heading;
  int width;
  int rank;
  std::string text;
};

std::vector<Column> progress_columns(const train::Progress& p, int width) {
  const bool tested = p.epoch_done || p.epoch > 0;
  const auto accuracy = [&](double value, int digits) { return tested ? points(value, digits) : ""; };
  const bool over = p.epoch_done && p.epoch + 1 >= p.epochs;
  const int digits = static_cast<int>(std::to_string(p.epochs).size());
  std::vector<Column> columns = {
      {"epoch", std::max(5, 2 * digits + 1), 0, fmt::format("{}/{}", p.epoch + 1, p.epochs)},
      {"done", 5, 0, fmt::format("{:.0f}%", p.epoch_done ? 100.0 : 100.0 * p.step / std::max(p.steps, 1))},
      {"lr", 8, 5, narrower("{:.{}g}", p.lr, 8)},
      {"loss", 7, 3, narrower("{:.{}f}", p.train_loss, 7)},
      {"train", 6, 4, points(p.train_acc, 1)},
      {"test", 7, 1, accuracy(p.result.overall, 2)},
      {"head", 6, 2, accuracy(p.result.head, 1)},
      {"medium", 7, 2, accuracy(p.result.medium, 1)},
      {"tail", 6, 2, accuracy(p.result.tail, 1)},
      {"img/s", 8, 6, base::with_commas(std::llround(p.images_per_second))},
      {"left", 12, 0, over ? "" : base::duration(p.seconds_left)}};
  if (width == kNoTerminal) {
    columns.erase(columns.begin() + 1);  // a line is written when its epoch is done
    return columns;
  }
  for (int highest = 6; highest > 0; --highest) {
    int used = 0;
    for (const Column& column : columns) used += column.width;
    if (used <= width) break;
    std::erase_if(columns, [&](const Column& column) { return column.rank >= highest; });
  }
  return columns;
}

template <class Text>
std::string line_of(const std::vector<Column>& columns, const Text& text) {
  std::string line;
  for (const Column& column : columns) line += fmt::format("{:>{}}", text(column), column.width);
  while (line.ends_with(' ')) line.pop_back();
  return line;
}

}  // namespace

std::string progress_heading(const train::Progress& progress, int width) {
  return line_of(progress_columns(progress, width), [](const Column& column) { return column.heading; });
}

std::string progress_words(const train::Progress& progress, int width) {
  return line_of(progress_columns(progress, width), [](const Column& column) { return column.text; });
}

void ProgressLine::head(const std::string& heading, bool colours) {
  if (heading == heading_) return;
  end();
  heading_ = heading;
  fmt::print("{}\n", colours ? base::painted(heading, base::Colour::kDim) : heading);
}

void ProgressLine::show(const train::Progress& progress) {
  if (!terminal_) {
    if (!progress.epoch_done) return;
    head(progress_heading(progress, kNoTerminal), false);
    fmt::print("{}{}\n", progress_words(progress, kNoTerminal), progress.best ? "  best" : "");
    std::fflush(stdout);
    return;
  }
  const auto now = std::chrono::steady_clock::now();
  if (!progress.epoch_done && now - drawn_ < kRedraw) return;
  drawn_ = now;
  const int width = base::terminal_width(STDOUT_FILENO) - 1;
  const bool colours = base::has_colours(STDOUT_FILENO);
  head(progress_heading(progress, width), colours);
  const std::string words = progress_words(progress, width);
  fmt::print("\r\x1b[K{}", colours && progress.epoch_done && progress.best
                               ? base::painted(words, base::Colour::kGreen)
                               : words);
  std::fflush(stdout);
  open_ = true;
}

void ProgressLine::note(const std::string& sentence) {
  end();
  heading_.clear();
  fmt::print("{}\n", base::quote::terminal(sentence));
  std::fflush(stdout);
}

void ProgressLine::end() {
  if (open_) fmt::print("\n");
  open_ = false;
}

void show_run(const std::filesystem::path& folder, bool quiet,
              const std::function<train::RunLog(const train::RunOptions&)>& body) {
  catch_interrupts();
  ProgressLine line(isatty(STDOUT_FILENO) != 0);
  train::RunOptions options;
  options.folder = folder;
  options.should_stop = interrupted;
  if (!quiet) {
    options.on_progress = [&line](const train::Progress& progress) { line.show(progress); };
    options.on_note = [&line](const std::string& sentence) { line.note(sentence); };
  }
  try {
    const train::RunLog log = body(options);
    line.end();
    if (quiet) return;
    fmt::print("{}", result_table(log));
    fmt::print("The log is {}.\n", (folder / "log.json").string());
  } catch (...) {
    line.end();
    std::fflush(stdout);
    throw;
  }
}

std::string result_table(const train::RunLog& log) {
  std::string text = fmt::format("{:<22}{:>16}{:>16}\n", "", fmt::format("best epoch {}", log.best.epoch + 1),
                                 fmt::format("last epoch {}", log.last.epoch + 1));
  const auto row = [&](const std::string& name, double best, double last, int digits = 2) {
    text += fmt::format("{:<22}{:>16}{:>16}\n", name, points(best, digits), points(last, digits));
  };
  const auto group = [&](const char* name, std::size_t index) {
    return fmt::format("{} ({} classes)", name, index < log.group_sizes.size() ? log.group_sizes[index] : 0);
  };
  const train::EpochResult& best = log.best.accuracy;
  const train::EpochResult& last = log.last.accuracy;
  row("overall accuracy %", best.overall, last.overall);
  row("  " + group("head", 0), best.head, last.head);
  row("  " + group("medium", 1), best.medium, last.medium);
  row("  " + group("tail", 2), best.tail, last.tail);
  row("balanced accuracy %", log.best.balanced, log.last.balanced);
  row("macro-F1 %", log.best.macro_f1, log.last.macro_f1);
  row("calibration error %", log.best.ece, log.last.ece);
  row("  head", log.best.head_ece, log.last.head_ece);
  row("  medium", log.best.medium_ece, log.last.medium_ece);
  row("  tail", log.best.tail_ece, log.last.tail_ece);
  row("test loss", best.loss, last.loss, 4);
  if (log.selected_by == "last") {
    text += "The last epoch counts as the best; nothing chose it.\n";
  } else {
    text += fmt::format("The best epoch was chosen by {} accuracy on the {} set.\n", log.selected_by,
                        log.selected_on);
  }
  return text;
}

std::string class_table(const train::RunLog& log) {
  std::size_t width = 5;
  for (const std::string& name : log.class_names) width = std::max(width, name.size());
  std::string text = fmt::format("{:<{}}{:>10}{:>10}{:>10}\n", "class", width, "images", "best %", "last %");
  for (std::size_t k = 0; k < log.class_counts.size(); ++k) {
    text += fmt::format("{:<{}}{:>10}{:>10}{:>10}\n", k < log.class_names.size() ? log.class_names[k] : "",
                        width, base::with_commas(log.class_counts[k]), points(log.best.per_class[k], 1),
                        points(log.last.per_class[k], 1));
  }
  return text;
}

}  // namespace longtail::cli
