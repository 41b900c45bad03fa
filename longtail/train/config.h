// Everything that defines a run. Each parameter is described once, in run_params(); flags, study files, run
// identity and documentation come from there.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "longtail/base/params.h"
#include "longtail/data/subset.h"

namespace longtail::train {

struct RunConfig {
  // section data
  std::string dataset = "cifar100";
  data::SubsetConfig subset;
  int image_size = 32;                // side of the square images: a multiple of 8 from 16 to 128
  std::string fit = "stretch";        // stretch, crop, pad: how a picture becomes square
  bool skip_unreadable = false;       // leave out pictures that cannot be read
  std::string augment = "crop_flip";  // crop_flip or none, perhaps with mixing: "crop_flip+mixup"
  // Part of the subset held out per class to select the best epoch on; -1: depends on the data set, see
  // resolved() and decided_fraction().
  double val_fraction = -1;

  // section model
  std::string model = "resnet32";
  std::string shortcut = "projection";
  int width = 1;                // 1, 2 or 4
  std::string head = "linear";  // linear, cosine
  std::string engine = "auto";

  // section train
  std::string strategy = "uniform";
  std::int64_t seed = 42;
  std::string loss = "cross_entropy";
  std::string select = "default";  // overall, balanced, tail, last: what makes an epoch the best
  int epochs = 200;
  int batch_size = 128;
  double lr = 0.1;
  double momentum = 0.9;
  bool nesterov = true;
  double weight_decay = 2e-4;
  double clip = 5.0;
  std::string schedule = "multistep";  // multistep, cosine, constant
  int warmup_epochs = 5;
  std::vector<int> milestones;  // empty: 80% and 90% of the epochs, 160 and 180 of the paper's 200
  double lr_decay = 0.01;
  std::string rebalance = "none";  // what follows training: crt, tau_norm, ... (rebalance_method.h)

  // section run: where and how, never what
  std::vector<int> keep_epochs;  // checkpoints kept for the gradient probe
  std::string data;              // folder of the data set's files
  int threads = 0;               // 0: all CPUs
};

const base::ParamTable<RunConfig>& run_params();

// Refuses impossible combinations: milestones beyond the end, a kept epoch that never comes, ...
void check(const RunConfig& config);

// An Error if a batch has more images than are trained on.
void check_batch(const RunConfig& config, std::int64_t images);

// The configuration with everything decided that was left open: engine `auto` becomes this machine's, the
// strategy is in its canonical text, empty milestones are filled in. Checks first.
RunConfig resolved(const RunConfig& config);

// Whether the name of a run may omit this value, though other runs of a study have another: nothing mixed,
// nothing held out, the default loss and the like. Numbers are named: "lr 0.1" next to "lr 0.2" says what was
// compared.
bool goes_without_saying(const std::string& param, const std::string& value);

// Whether that value of a parameter names a file, which then counts by its content.
bool names_file(std::string_view param, std::string_view value);
// A configuration as a log has it: of a file only its name, so that a result does not depend on the folder.
std::map<std::string, std::string> logged_config(std::map<std::string, std::string> config);

// The canonical text of a run: a line `key=value` for every identity parameter of resolved(config), sorted by
// key. A file that a parameter names counts by its content; a StorageError if it does not exist.
std::string config_identity(const RunConfig& config);
// The identity parameters by name, as canonical text, without those that have the value from before the
// parameter existed; and back.
std::map<std::string, std::string> config_map(const RunConfig& config);
RunConfig config_from_map(const std::map<std::string, std::string>& map);
// SHA-256 of the canonical text: equal for equal runs, whatever the folder, the threads or the order of
// flags.
std::string config_hash(const RunConfig& config);

}  // namespace longtail::train
