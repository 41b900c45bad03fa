// Everything a run is defined by. Each parameter is described once, in params(); flags, study files, run identity and
// documentation come from there.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "longtail/base/params.h"
#include "longtail/data/subset.h"

namespace longtail::train {

struct RunConfig {
  // section data
  std::string dataset = "cifar100";
  data::SubsetConfig subset;
  std::string augment = "crop_flip";  // crop_flip or none
  double val_fraction = 0;            // part of the subset held out per class to select the best epoch on

  // section model
  std::string model = "resnet32";
  std::string shortcut = "projection";
  std::string engine = "auto";

  // section train
  std::string strategy = "uniform";
  std::int64_t seed = 42;
  std::string loss = "cross_entropy";
  int epochs = 200;
  int batch_size = 128;
  double lr = 0.1;
  double momentum = 0.9;
  bool nesterov = true;
  double weight_decay = 2e-4;
  double clip = 5.0;
  std::string schedule = "multistep";  // multistep, cosine, constant
  int warmup_epochs = 5;
  std::vector<int> milestones = {160, 180};
  double lr_decay = 0.01;
  std::vector<int> keep_epochs;  // checkpoints kept for the gradient probe

  // incidental: where and how, never what
  std::string data_dir;
  int threads = 0;  // 0: all CPUs
};

const base::ParamTable<RunConfig>& run_params();

// Refuses combinations that cannot be: a batch larger than an epoch, milestones beyond the end, ...
void check(const RunConfig& config);

}  // namespace longtail::train
