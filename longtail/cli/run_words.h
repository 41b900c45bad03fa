// Text output about a run: its progress on a terminal or in a file, and its results as tables.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>

#include "longtail/train/run.h"

namespace longtail::cli {

// On a terminal one line that is redrawn in place; otherwise one line per epoch.
class ProgressLine {
 public:
  explicit ProgressLine(bool terminal) : terminal_(terminal) {}
  void show(const train::Progress& progress);
  // Prints a remark; the progress line is redrawn below it.
  void note(const std::string& sentence);
  // Leaves the line as it is; what follows starts on a new one.
  void end();

 private:
  void head(const std::string& heading, bool colours);
  bool terminal_;
  bool open_ = false;    // the progress line is on the screen, without a newline yet
  std::string heading_;  // the heading last printed
  std::chrono::steady_clock::time_point drawn_{};
};

constexpr int kNoTerminal = 0;
// The progress of a run as columns of numbers, at most `width` characters in all; the least important columns
// are left out.
std::string progress_words(const train::Progress& progress, int width);
// The column headings for progress_words.
std::string progress_heading(const train::Progress& progress, int width);

// Does a run in `folder`, with progress and notes on the terminal and a clean stop on Ctrl-C, and prints its
// results; with `quiet` nothing but errors.
void show_run(const std::filesystem::path& folder, bool quiet,
              const std::function<train::RunLog(const train::RunOptions&)>& body);

// The results at the best and the last epoch side by side.
std::string result_table(const train::RunLog& log);
// The accuracy of each class at both epochs, with its number of training images.
std::string class_table(const train::RunLog& log);

}  // namespace longtail::cli
