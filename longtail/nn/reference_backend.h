// The backend in plain loops in double: the twin that the others are compared with, exact enough for finite
// differences. It supports every network.
#pragma once

#include <memory>

#include "longtail/nn/backend.h"

namespace longtail::nn {

std::unique_ptr<Backend<double>> make_reference_backend(const ResNetSpec& spec, int max_batch, int workers);

}  // namespace longtail::nn
