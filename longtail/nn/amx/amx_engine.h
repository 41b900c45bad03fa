// The backends on AMX tiles. `amx`: bf16 activations and tile operands, fp32 sums, weights and batch-norm
// statistics. `amx-fine`: the same with twice the bits in the forward pass (docs/performance.md).
#pragma once

#include <memory>
#include <string>

#include "longtail/nn/backend.h"

namespace longtail::nn {

// Whether this build, CPU and kernel support tiles; if not, `why` gets the reason.
bool amx_available(std::string* why);

enum class AmxPrecision { kBf16, kFine };
std::unique_ptr<Backend<float>> make_amx_backend(const ResNetSpec& spec, int max_batch, int workers);
std::unique_ptr<Backend<float>> make_amx_fine_backend(const ResNetSpec& spec, int max_batch, int workers);

}  // namespace longtail::nn
