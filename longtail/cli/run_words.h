// A run in words: its progress on a terminal or in a file, its results as tables.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>

#include "longtail/train/run.h"

namespace longtail::cli {

// On a terminal one line that is drawn again and again; else a line per epoch.
class ProgressLine {
 public:
  explicit ProgressLine(bool terminal) : terminal_(terminal) {}
  void show(const train::Progress& progress);
  // A remark: the line makes room for it.
  void note(const std::string& sentence);
  // Leaves the line as it is; what follows starts on a new one.
  void end();

 private:
  void head(const std::string& heading, bool colours);
  bool terminal_;
  bool open_ = false;    // a line without its end is on the screen
  std::string heading_;  // the last that was written
  std::chrono::steady_clock::time_point drawn_{};
};

constexpr int kNoTerminal = 0;
// How far a run is, as numbers in columns of at most `width` characters together; what matters least is left out.
std::string progress_words(const train::Progress& progress, int width);
// The names over them.
std::string progress_heading(const train::Progress& progress, int width);

// Does a run in `folder`, with progress and notes in the terminal and a clean stop at Ctrl-C, and prints its
// results; with `quiet` nothing but errors.
void show_run(const std::filesystem::path& folder, bool quiet,
              const std::function<train::RunLog(const train::RunOptions&)>& body);

// The results at the best and the last epoch side by side.
std::string result_table(const train::RunLog& log);
// Accuracy of each class at both, with its number of training images.
std::string class_table(const train::RunLog& log);

}  // namespace longtail::cli
