// The 3x3 convolutions of stride 1 with operands and output of two parts. They have their own file because
// compilers take long over the unrolled loop.
#include "longtail/nn/amx/image_loop.h"

namespace longtail::nn::amx {
void conv_statistics_parts(const ImageConv& conv, Bf16* z, LowBits* low, double* sum, double* square) {
  convolve(conv, Statistics<true>{z, low, sum, square, {}, {}});
}

}  // namespace longtail::nn::amx
