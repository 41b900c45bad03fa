// The reference network behind the Engine waist: plain loops in double, hundreds of times slower than the
// others. For checking an engine, or a result, against something obvious.
#pragma once

#include <memory>

#include "longtail/nn/engine.h"

namespace longtail::nn {

std::unique_ptr<Engine> make_reference_engine(const ResNetSpec& spec, int max_batch);

}  // namespace longtail::nn
