// The end of the network in floats: mean over the pixels, linear classifier, and back.
#include "longtail/nn/amx/kernels.h"
#include "longtail/nn/amx/vector.h"

namespace longtail::nn::amx {

void mean_pixels(const Bf16* x, const Low* low, float* mean) {
  for (int g = 0; g < 64; g += 16) {
    __m512 sum = _mm512_setzero_ps();
    for (int i = g; i < 64 * 64; i += 64) {
      sum = _mm512_add_ps(sum, low == nullptr ? load_bf16(x + i) : load_parts(x + i, low + i));
    }
    _mm512_storeu_ps(mean + g, _mm512_mul_ps(sum, _mm512_set1_ps(1.0f / 64)));
  }
}

void linear_forward(int classes, const float* weight, const float* bias, const float* features,
                    float* logits) {
  for (int c = 0; c < classes; ++c, weight += 64) {
    __m512 sum = _mm512_mul_ps(_mm512_loadu_ps(weight), _mm512_loadu_ps(features));
    for (int g = 16; g < 64; g += 16) {
      sum = _mm512_fmadd_ps(_mm512_loadu_ps(weight + g), _mm512_loadu_ps(features + g), sum);
    }
    logits[c] = _mm512_reduce_add_ps(sum) + bias[c];
  }
}

void linear_backward(int classes, const float* weight, const float* logit_gradient, float* feature_gradient) {
  __m512 sum[4] = {};
  for (int c = 0; c < classes; ++c, weight += 64) {
    const __m512 d = _mm512_set1_ps(logit_gradient[c]);
    for (int g = 0; g < 4; ++g) sum[g] = _mm512_fmadd_ps(_mm512_loadu_ps(weight + 16 * g), d, sum[g]);
  }
  for (int g = 0; g < 4; ++g) _mm512_storeu_ps(feature_gradient + 16 * g, sum[g]);
}

void linear_weight_gradient(int images, int classes, int first, int last, const float* logit_gradient,
                            const float* features, float* weight, float* bias) {
  for (int c = first; c < last; ++c) {
    __m512 sum[4] = {};
    float total = 0;
    for (int i = 0; i < images; ++i) {
      const float d = logit_gradient[static_cast<long>(i) * classes + c];
      total += d;
      for (int g = 0; g < 4; ++g) {
        sum[g] = _mm512_fmadd_ps(_mm512_loadu_ps(features + i * 64L + 16 * g), _mm512_set1_ps(d), sum[g]);
      }
    }
    for (int g = 0; g < 4; ++g) _mm512_storeu_ps(weight + c * 64L + 16 * g, sum[g]);
    bias[c] = total;
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
