// A run in words: its progress on a terminal or in a file, its results as tables.
#pragma once

#include <chrono>
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
  bool terminal_;
  bool open_ = false;  // a line without its end is on the screen
  std::chrono::steady_clock::time_point drawn_{};
};

// "epoch 3/200  lr 0.06  loss 3.71 ...  12 min left" in at most `width` columns: what matters least is left
// out.
std::string progress_words(const train::Progress& progress, int width);

// The results at the best and the last epoch side by side.
std::string result_table(const train::RunLog& log);
// Accuracy of each class at both, with its number of training images.
std::string class_table(const train::RunLog& log);

}  // namespace longtail::cli
