#include "longtail/nn/onednn/kernels_body.h"

namespace longtail::nn::onednn {

extern const Kernels k_baseline_8;
extern const Kernels k_baseline_16;
constinit const Kernels k_baseline_8 = Pass<8>::table("baseline");
constinit const Kernels k_baseline_16 = Pass<16>::table("baseline");

}  // namespace longtail::nn::onednn
