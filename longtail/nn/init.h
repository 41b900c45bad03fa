// Initial weights identical to those of the paper's PyTorch code for a seed: torch.manual_seed(seed), the
// modules' own default draws first, then Kaiming normals (fan-out, ReLU) for convolutions and N(0, 0.01^2)
// for the classifier.
#pragma once

#include <cstdint>
#include <vector>

#include "longtail/nn/resnet.h"

namespace longtail::nn {

std::vector<float> initial_parameters(const ResNetSpec& spec, std::int64_t seed);
// Running means 0, running variances 1.
std::vector<float> initial_buffers(const ResNetSpec& spec);

}  // namespace longtail::nn
