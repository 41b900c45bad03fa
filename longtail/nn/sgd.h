// SGD with (Nesterov) momentum, weight decay on every parameter and clipping by the global norm, over flat
// arrays, exactly as PyTorch's clip_grad_norm_ followed by optim.SGD.
#pragma once

#include <span>

namespace longtail::nn {

struct SgdConfig {
  double lr = 0.1;
  double momentum = 0.9;
  double weight_decay = 2e-4;
  bool nesterov = true;
  double clip = 5.0;  // 0: no clipping
};

// One step; returns the norm of the gradient before clipping. The momentum starts as zeros. The gradient
// itself is left as it is.
double sgd_step(const SgdConfig& config, std::span<const float> gradient, std::span<float> momentum,
                std::span<float> parameters);

// The 2-norm, summed in double over a fixed partition: the same bits everywhere.
double norm(std::span<const float> values);

}  // namespace longtail::nn
