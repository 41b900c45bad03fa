// A trained network as an ONNX model, for any runtime: input `images` (N, channels, side, side), normalised
// as in training; output `logits` (N, classes). Weights have PyTorch's names.
#pragma once

#include <map>
#include <string>

#include "longtail/train/checkpoint.h"

namespace longtail::train {

// Whether this program was built with libonnx.
bool has_onnx();

// The bytes of the model. An Error if this program was built without libonnx.
std::string onnx_model(const nn::ResNetSpec& spec, const NetworkState& network,
                       const std::map<std::string, std::string>& metadata);

}  // namespace longtail::train
