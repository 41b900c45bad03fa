#include "longtail/nn/onednn/small_layers.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace longtail::nn::onednn {
namespace {

// Calls visit(offset in the padded output, offset in the input) for every pixel and channel that the pad
// shortcut copies.
template <class Visit>
void for_each_copy(const SliceShape& s, int in, int block, const Visit& visit) {
  const int before = (s.channels - in) / 2;
  const int side = static_cast<int>(std::lround(std::sqrt(s.pixels)));
  const auto offset = [block](int image, int channels, int channel, int pixels, int pixel) {
    return ((static_cast<std::size_t>(image) * (channels / block) + channel / block) * pixels + pixel) *
               block +
           channel % block;
  };
  for (int image = 0; image < s.images; ++image)
    for (int channel = 0; channel < in; ++channel)
      for (int y = 0; y < side; ++y)
        for (int x = 0; x < side; ++x) {
          visit(offset(image, s.channels, channel + before, s.pixels, y * side + x),
                offset(image, in, channel, 4 * s.pixels, 2 * y * 2 * side + 2 * x));
        }
}

}  // namespace

void pad_shortcut(const SliceShape& s, int in, int block, const float* input, float* output) {
  std::fill_n(output, static_cast<std::size_t>(s.images) * s.channels * s.pixels, 0.0f);
  for_each_copy(s, in, block, [&](std::size_t to, std::size_t from) { output[to] = input[from]; });
}

void pad_shortcut_backward(const SliceShape& s, int in, int block, const float* output_gradient,
                           float* result) {
  std::fill_n(result, static_cast<std::size_t>(s.images) * in * s.pixels * 4, 0.0f);
  for_each_copy(s, in, block, [&](std::size_t from, std::size_t to) { result[to] = output_gradient[from]; });
}

void mean_pixels(int channels, int pixels, int block, const float* image, float* features) {
  for (int c = 0; c < channels; c += block) {
    float* out = features + c;
    std::fill_n(out, block, 0.0f);
    for (int p = 0; p < pixels; ++p, image += block) {
      for (int lane = 0; lane < block; ++lane) out[lane] += image[lane];
    }
    for (int lane = 0; lane < block; ++lane) out[lane] /= static_cast<float>(pixels);
  }
}

void mean_pixels_backward(int channels, int pixels, int block, const float* image,
                          const float* feature_gradient, float* result) {
  for (int c = 0; c < channels; c += block) {
    for (int p = 0; p < pixels; ++p, image += block, result += block) {
      for (int lane = 0; lane < block; ++lane) {
        result[lane] = image[lane] > 0.0f ? feature_gradient[c + lane] / static_cast<float>(pixels) : 0.0f;
      }
    }
  }
}

void linear(std::span<const float> features, const float* transposed, std::span<const float> bias,
            std::span<float> logits) {
  std::copy(bias.begin(), bias.end(), logits.begin());
  for (const float feature : features) {
    for (std::size_t k = 0; k < logits.size(); ++k) logits[k] += feature * transposed[k];
    transposed += logits.size();
  }
}

void linear_backward(std::span<const float> logit_gradient, const float* weight,
                     std::span<float> feature_gradient) {
  std::fill(feature_gradient.begin(), feature_gradient.end(), 0.0f);
  for (const float slope : logit_gradient) {
    for (std::size_t f = 0; f < feature_gradient.size(); ++f) feature_gradient[f] += slope * weight[f];
    weight += feature_gradient.size();
  }
}

void linear_weight_gradient(int count, std::span<const float> logit_gradients,
                            std::span<const float> features, std::span<float> weight, std::span<float> bias) {
  std::fill(weight.begin(), weight.end(), 0.0f);
  std::fill(bias.begin(), bias.end(), 0.0f);
  const std::size_t classes = bias.size();
  const std::size_t width = weight.size() / classes;
  for (int n = 0; n < count; ++n) {
    const auto row = features.subspan(static_cast<std::size_t>(n) * width, width);
    for (std::size_t k = 0; k < classes; ++k) {
      const float slope = logit_gradients[static_cast<std::size_t>(n) * classes + k];
      bias[k] += slope;
      for (std::size_t f = 0; f < width; ++f) weight[k * width + f] += slope * row[f];
    }
  }
}

}  // namespace longtail::nn::onednn
