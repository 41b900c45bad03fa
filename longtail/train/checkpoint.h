// A checkpoint: networks and, in state.ckpt, everything that a run needs to resume. One file, written whole
// or not at all:
//
//   "LONGTAIL" | version u32 | 0 u32 | header size u64 | header (JSON) | arrays (fp32, little-endian) |
//   SHA-256 in 64 digits
//
// The checksum covers everything before it and is checked before any byte is trusted. Equal states are equal
// bytes.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "longtail/nn/resnet.h"
#include "longtail/train/config.h"
#include "longtail/train/run_log.h"

namespace longtail::train {

// A network between steps: flat arrays in the order of nn::parameter_layout.
struct NetworkState {
  std::vector<float> parameters;
  std::vector<float> buffers;
};

// The network that a run trains on images with these numbers of classes and channels.
nn::ResNetSpec network_of(const RunConfig& config, int classes, int channels);

struct Checkpoint {
  int epochs_done = 0;  // 0: the initial network
  int steps_per_epoch = 0;
  int classes = 0;
  int channels = 3;
  std::map<std::string, std::string> config;  // identity parameters as canonical text
  NetworkState network;                       // after epochs_done epochs
  // Only in state.ckpt:
  NetworkState best;            // at the best epoch
  std::vector<float> momentum;  // as large as the parameters
  std::optional<RunLog> log;    // so far

  nn::ResNetSpec spec() const;
};

void write_checkpoint(const std::filesystem::path& path, const Checkpoint& checkpoint);
// A DamagedFile says what is wrong with the file: not a checkpoint, cut short, damaged. OtherVersion if it is
// sound but not readable here. Errors that have nothing to do with the file (no memory) stay as they are.
Checkpoint read_checkpoint(const std::filesystem::path& path);
// The same of bytes in memory; `name` is what an Error calls them.
Checkpoint checkpoint_of(std::string_view bytes, const std::string& name);

// Where a run keeps its files.
std::filesystem::path state_path(const std::filesystem::path& run);
std::filesystem::path kept_path(const std::filesystem::path& run, int epochs_done);
std::filesystem::path log_path(const std::filesystem::path& run);

// The state of a run; an Error tells how to make one if the folder has none.
Checkpoint read_state(const std::filesystem::path& run);

}  // namespace longtail::train
