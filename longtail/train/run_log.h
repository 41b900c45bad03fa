// The run log: the only thing that leaves training. The paper's own JSON keys and per-epoch lists, plus a
// schema version, the result at the last epoch and a fingerprint. A group without classes is null in the file
// and NaN here.
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace longtail::train {

inline constexpr int kLogSchema = 1;

// The accuracies at one epoch, in percent. NaN where a group is empty.
struct EpochResult {
  double overall = 0;
  double head = 0;
  double medium = 0;
  double tail = 0;
  double loss = 0;
  double balanced =
      std::numeric_limits<double>::quiet_NaN();  // mean of the classes; NaN if a log does not say
};

// How the pixels of an image become what the network sees.
struct ImageFacts {
  int channels = 0;  // 0: the log does not say
  int side = 0;
  std::vector<double> mean{};  // of each channel, in [0, 1] units
  std::vector<double> deviation{};
  std::string fit = "stretch";
};

// The full result at a chosen epoch (best or last).
struct FullResult {
  int epoch = 0;  // counted from 0
  EpochResult accuracy;
  std::vector<double> per_class;  // accuracy of each class in percent
  double macro_f1 = 0;            // percent, like the rest; NaN if a published log does not say
  double balanced = 0;            // mean per-class accuracy, percent
  double ece = 0;                 // expected calibration error, 15 bins, percent
  double head_ece = 0, medium_ece = 0, tail_ece = 0;
  std::vector<std::vector<int>> confusion;  // [true][predicted]
};

// What makes two runs comparable, and what identifies a run.
struct Fingerprint {
  std::string data;      // SHA-256 of the data set
  std::string subset;    // SHA-256 of the subset's indices
  std::string init;      // SHA-256 of the initial parameters
  std::string augment;   // SHA-256 of the augmentation of the first positions
  std::string protocol;  // SHA-256 of the resolved configuration
  std::string engine;    // "amx", "amx-fine", "simd", "reference" or, of old runs, "onednn"
  std::string version;   // of this program
};

// Of a rebalanced run (rebalance.h): the run whose features it has, and the tau of a method that has one.
struct Parent {
  std::string protocol;                                   // SHA-256 of its resolved configuration
  std::string network;                                    // SHA-256 of its network after its last epoch
  int epochs = 0;                                         // that it was trained for
  double tau = std::numeric_limits<double>::quiet_NaN();  // NaN: the method has none
  // "given"; or chosen on images "held_out" from training or, where there are none, "seen" in training.
  std::string tau_from{};
};

struct RunLog {
  int schema = kLogSchema;  // 0: a log without a schema, as the paper published them
  std::string dataset;
  std::string strategy;
  double rho = 0;  // "imbalance_ratio"
  std::int64_t seed = 0;
  std::string groups = "paper";
  std::vector<int> group_sizes;  // classes in head, medium, tail
  std::vector<std::int64_t> class_counts;
  std::vector<std::string> class_names;
  ImageFacts image;
  std::map<std::string, std::string> config;  // every parameter of the run as canonical text
  std::string selected_on = "test";           // "test" or "validation": what chose the best epoch
  std::string selected_by = "overall";        // overall, balanced, tail or last: what made it the best
  std::vector<std::int64_t> held_out;         // images of each class held out for validation; empty: none

  // One entry per epoch; accuracies in percent. val_acc only if images are held out.
  std::vector<double> train_loss, train_acc, test_acc, test_loss, head_acc, medium_acc, tail_acc, lr_history;
  std::vector<double> val_acc;
  // What a strategy with feedback was told after each epoch, [epoch][class] in percent; empty for the others.
  std::vector<std::vector<double>> class_accuracy;
  std::vector<double> balanced_acc;  // empty in logs that are older than this list
  std::vector<double> selection;     // what the best epoch was chosen by, unless that is overall or last

  int best_epoch = 0;  // counted from 0; the first maximum, or the last epoch if selected_by is last
  FullResult best;
  FullResult last;
  std::optional<Parent> parent;  // of a rebalanced run
  std::string predictions;       // SHA-256 of the file of predictions next to the log; empty: there is none
  Fingerprint fingerprint;
  double seconds_waiting = 0;  // of training, for the next batch to be ready
  double seconds_training = 0,
         seconds_evaluation = 0;  // in timings.json next to the log: no two runs have the same
  bool finished = false;
  bool verified = false;  // read with a correct hash of its results; not in the file

  int epochs() const { return static_cast<int>(test_acc.size()); }
  // The epochs that the network was trained for: for a rebalanced run those of its parent.
  int trained_epochs() const { return parent ? parent->epochs : epochs(); }
};

nlohmann::json to_json(const RunLog& log);
// Reads our logs and the paper's; an Error names the key that is missing or wrong.
RunLog from_json(const nlohmann::json& json);

// The text of log.json: one line per key. The same results give the same bytes; timings are not in it.
std::string log_text(const RunLog& log);

// Writes log.json and, next to it, timings.json.
void write_log(const std::filesystem::path& path, const RunLog& log);
// The seconds of an earlier part of the run, from the timings next to `log_file` if they exist and can be
// read.
void read_timings(const std::filesystem::path& log_file, RunLog& log);
// Reads a log and the timings next to it, if there are any. Refuses lists of different lengths, counts below
// 0, accuracies outside 0 to 100, and a log that does not agree with itself (log_check.h).
RunLog read_log(const std::filesystem::path& path);
// The same of text in memory, without timings; `name` is what an Error calls it.
RunLog log_of(std::string_view text, const std::string& name);
// JSON of a bounded depth; otherwise an Error, which says where the text ends or stops being JSON.
nlohmann::json parse_shallow(std::string_view text);

}  // namespace longtail::train
