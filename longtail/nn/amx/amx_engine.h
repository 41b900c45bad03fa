// The fast engine: bf16 activations and tile operands, fp32 sums, weights and batch-norm statistics; and the
// same with twice the bits on the way forward (docs/performance.md).
#pragma once

#include <memory>
#include <string>

#include "longtail/nn/engine.h"

namespace longtail::nn {

// Whether this build, CPU and kernel have tiles; if not, why.
bool amx_available(std::string* why);

enum class AmxPrecision { kBf16, kFine };
std::unique_ptr<Engine> make_amx_engine(const ResNetSpec& spec, int max_batch, base::ThreadPool& pool,
                                        AmxPrecision precision = AmxPrecision::kBf16);

}  // namespace longtail::nn
