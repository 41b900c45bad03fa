// Writes the run log of a training that happens elsewhere, for example in a Python script: the same keys,
// written whole or not at all after every epoch.
//
//   LogWriter writer("runs/mine", head);          // head: what is known before the first epoch
//   writer.epoch({.train_loss = 2.1, .train_acc = 40, .lr = 0.1}, result);
//   writer.finish();
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "longtail/data/groups.h"
#include "longtail/train/run_log.h"

namespace longtail::train {

struct TrainingEpoch {
  double train_loss = 0;
  double train_acc = 0;  // percent
  double lr = 0;
  // What a strategy with feedback is told after this epoch: percent for each class, NaN where nothing was
  // measured. Empty without feedback.
  std::vector<double> class_accuracy = {};
};

class LogWriter {
 public:
  // `head` has dataset, strategy, seed, groups, class_counts, config, fingerprint; class names, group sizes
  // and the imbalance ratio are filled in if they are missing. The best epoch is chosen by `select` of the
  // config, otherwise by overall accuracy. An Error says what is wrong with it: what a reader of logs would
  // refuse is refused here.
  LogWriter(const std::filesystem::path& folder, RunLog head);

  // The epochs written so far.
  int epochs() const { return log_.epochs(); }
  const RunLog& log() const { return log_; }
  // The group of each class.
  const std::vector<data::Group>& groups() const { return groups_; }

  // Adds an epoch and writes log.json. `result` is that of the test set, without the images of classes that
  // have no training images; its epoch is filled in.
  void epoch(const TrainingEpoch& training, FullResult result);
  // Marks the log as finished. An Error if `config` names a number of epochs and some are missing.
  void finish();

  // The log so far as text, to be kept in a checkpoint, and back: what was written after the checkpoint is
  // dropped. Refuses the text of another run. The log keeps the rule for the best epoch that it began with.
  std::string state() const;
  void restore(const std::string& state);

 private:
  void check_feedback(const std::vector<double>& class_accuracy) const;
  void write() const;

  std::filesystem::path path_;
  RunLog log_;
  std::vector<data::Group> groups_;
};

}  // namespace longtail::train
