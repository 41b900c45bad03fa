// fp32 on any CPU: Winograd's F(4x4, 3x3) for the 3x3 convolutions of stride 1, direct convolutions for the
// rest, on AVX-512, AVX2, NEON or, slowly, without vector instructions. The same bits on all of them. The
// environment variable LONGTAIL_CPU (avx512, avx2, neon, scalar) forces one.
#pragma once

#include <memory>

#include "longtail/nn/backend.h"

namespace longtail::nn {

std::unique_ptr<Backend<float>> make_simd_backend(const ResNetSpec& spec, int max_batch, int workers);

}  // namespace longtail::nn
