// The end of the network in floats: the mean over the pixels, and back.
#include "longtail/nn/amx/kernels.h"
#include "longtail/nn/amx/vector.h"

namespace longtail::nn::amx {

void mean_pixels(const Bf16* x, const LowBits* low, float* mean) {
  for (int g = 0; g < 64; g += 16) {
    __m512 sum = _mm512_setzero_ps();
    for (int i = g; i < 64 * 64; i += 64) {
      sum = _mm512_add_ps(sum, low == nullptr ? load_bf16(x + i) : load_parts(x + i, low + i));
    }
    _mm512_storeu_ps(mean + g, _mm512_mul_ps(sum, _mm512_set1_ps(1.0f / 64)));
  }
}

void fill_strip(const float* features, float scale, float* sums) {
  for (int p = 0; p < kStripPixels; ++p) {
    for (int g = 0; g < 64; g += 16) {
      const __m512 v = _mm512_mul_ps(_mm512_loadu_ps(features + g), _mm512_set1_ps(scale));
      _mm512_storeu_ps(sums + p * 64 + g, v);
    }
  }
}

}  // namespace longtail::nn::amx
