#include "longtail/nn/onednn/kernels_body.h"

namespace longtail::nn::onednn {

extern const Kernels k_avx512_8;
extern const Kernels k_avx512_16;
constinit const Kernels k_avx512_8 = Pass<8>::table("avx512");
constinit const Kernels k_avx512_16 = Pass<16>::table("avx512");

}  // namespace longtail::nn::onednn
