// The portable engine: fp32 through oneDNN, on any CPU that oneDNN runs on. The reference for the others.
#pragma once

#include <memory>

#include "longtail/nn/engine.h"

namespace longtail::nn::onednn {

std::unique_ptr<Engine> make_onednn_engine(const ResNetSpec& spec, int max_batch, base::ThreadPool& pool);

}  // namespace longtail::nn::onednn
