#include "longtail/nn/onednn/kernels_body.h"

namespace longtail::nn::onednn {

extern const Kernels k_avx2_8;
extern const Kernels k_avx2_16;
constinit const Kernels k_avx2_8 = Pass<8>::table("avx2");
constinit const Kernels k_avx2_16 = Pass<16>::table("avx2");

}  // namespace longtail::nn::onednn
