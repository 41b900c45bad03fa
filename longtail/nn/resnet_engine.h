// Any backend as an Engine.
#pragma once

#include <memory>

#include "longtail/nn/backend.h"
#include "longtail/nn/engine.h"

namespace longtail::nn {

template <class T>
std::unique_ptr<Engine> make_resnet_engine(const ResNetSpec& spec, int max_batch, base::ThreadPool& pool,
                                           std::unique_ptr<Backend<T>> backend);

}  // namespace longtail::nn
