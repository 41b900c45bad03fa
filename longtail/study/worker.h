// One run of a study in its own process, so that a crash or a lack of memory ends one run and not the study.
// The process that trains holds the lock of the run and reports to its parent, one Event per line on standard
// output.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "longtail/train/run_log.h"

namespace longtail::study {

struct Event {
  // step, epoch: progress; done, failed, busy, stopped, storage: the end; damaged, again (a call of a trainer
  // failed and is repeated), note: messages.
  std::string kind;
  std::string text;
  int epoch = 0;  // epochs done
  int epochs = 0;
  double part = 0;  // of the current epoch, 0 to 1
  double images_per_second = 0;
  double seconds_left = 0;
  train::EpochResult result;  // of the last finished epoch
  train::EpochResult best;    // so far
};

std::string to_line(const Event& event);
// nullopt if the line is not an event (a message of a library, say).
std::optional<Event> parse_event(std::string_view line);

struct WorkOptions {
  std::filesystem::path run_folder;
  std::string data;  // folder of the data set; empty: as the run says
  int threads = 0;
};

// Does the run in the folder and writes its events to descriptor `out`. Returns the exit code: 0 done (also
// if it was done before), 1 failed and recorded, or nowhere to write, 75 another process has the lock, 130
// stopped by SIGINT, SIGTERM or SIGHUP (a signal that was ignored from the start stays ignored).
int work(const WorkOptions& options, int out);

}  // namespace longtail::study
