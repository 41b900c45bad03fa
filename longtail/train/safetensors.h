// A network as a safetensors file under PyTorch's names: 8 bytes of header length, a JSON header, the
// tensors. bench/peers/load_safetensors.py reads it without any package.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

#include "longtail/nn/resnet.h"
#include "longtail/train/checkpoint.h"

namespace longtail::train {

// The bytes of the file. `steps` becomes num_batches_tracked of every batch norm, as PyTorch would have
// counted; `metadata` is text for people and programs (strategy, seed, accuracy, ...).
std::string safetensors(const nn::ResNetSpec& spec, const NetworkState& network, std::int64_t steps,
                        const std::map<std::string, std::string>& metadata);

}  // namespace longtail::train
