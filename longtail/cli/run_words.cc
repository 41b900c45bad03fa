#include "longtail/cli/run_words.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "longtail/base/terminal.h"
#include "longtail/base/text.h"

namespace longtail::cli {
namespace {

constexpr auto kRedraw = std::chrono::milliseconds(100);

// A group without classes is a dash, never a zero.
std::string points(double value, int digits = 2) {
  return std::isnan(value) ? "-" : fmt::format("{:.{}f}", value, digits);
}

std::string groups_words(const train::EpochResult& result) {
  return fmt::format("head {} medium {} tail {}", points(result.head, 1), points(result.medium, 1),
                     points(result.tail, 1));
}

}  // namespace

std::string progress_words(const train::Progress& p, int width) {
  // What is said, and how soon it may be left out on a narrow terminal: the highest number goes first.
  std::vector<std::string> words;
  std::vector<int> ranks;
  const auto say = [&](std::string part, int rank) {
    words.push_back(std::move(part));
    ranks.push_back(rank);
  };
  std::string epoch = fmt::format("epoch {:>{}}/{}", p.epoch + 1, std::to_string(p.epochs).size(), p.epochs);
  if (!p.epoch_done) epoch += fmt::format(" {:>3.0f}%", 100.0 * p.step / std::max(p.steps, 1));
  say(epoch, 0);
  say(fmt::format("lr {:g}", p.lr), 5);
  say(fmt::format("loss {:.4f}", p.train_loss), 3);
  say(fmt::format("acc {:.1f}", p.train_acc), 4);
  if (p.epoch_done || p.epoch > 0) {
    say(fmt::format("test {}", points(p.result.overall)), 1);
    say(fmt::format("({})", groups_words(p.result)), 2);
  }
  say(fmt::format("{} img/s", base::with_commas(std::llround(p.images_per_second))), 6);
  if (p.epoch + 1 < p.epochs || !p.epoch_done) say(base::duration(p.seconds_left) + " left", 0);
  for (int highest = 6;; --highest) {
    std::string line;
    for (std::size_t i = 0; i < words.size(); ++i) {
      if (ranks[i] > highest) continue;
      if (!line.empty()) line += ranks[i] == 2 ? " " : "  ";
      line += words[i];
    }
    if (static_cast<int>(line.size()) <= width || highest == 0) return line;
  }
}

void ProgressLine::show(const train::Progress& progress) {
  if (!terminal_) {
    if (!progress.epoch_done) return;
    fmt::print("{}{}\n", progress_words(progress, 1000), progress.best ? "  best" : "");
    std::fflush(stdout);
    return;
  }
  const auto now = std::chrono::steady_clock::now();
  if (!progress.epoch_done && now - drawn_ < kRedraw) return;
  drawn_ = now;
  fmt::print("\r\x1b[K{}", progress_words(progress, base::terminal_width(STDOUT_FILENO) - 1));
  std::fflush(stdout);
  open_ = true;
}

void ProgressLine::note(const std::string& sentence) {
  end();
  fmt::print("{}\n", sentence);
  std::fflush(stdout);
}

void ProgressLine::end() {
  if (open_) fmt::print("\n");
  open_ = false;
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
