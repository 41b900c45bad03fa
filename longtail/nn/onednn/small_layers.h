// The layers that cost next to nothing: pad shortcut, mean over pixels and linear classifier, on
// channel-blocked slices and plain feature rows.
#pragma once

#include <span>

#include "longtail/nn/onednn/kernels.h"

namespace longtail::nn::onednn {

// Every second pixel of `in` channels, with (out - in) / 2 zero channels before and after. `s` describes the
// output.
void pad_shortcut(const SliceShape& s, int in, int block, const float* input, float* output);
void pad_shortcut_backward(const SliceShape& s, int in, int block, const float* output_gradient,
                           float* result);

// One image: features[channel] = mean over the pixels.
void mean_pixels(int channels, int pixels, int block, const float* image, float* features);
// Its gradient, zero where the image is not above zero (the ReLU before it).
void mean_pixels_backward(int channels, int pixels, int block, const float* image,
                          const float* feature_gradient, float* result);

// One image. Weight: classes x features, `transposed`: features x classes.
void linear(std::span<const float> features, const float* transposed, std::span<const float> bias,
            std::span<float> logits);
void linear_backward(std::span<const float> logit_gradient, const float* weight,
                     std::span<float> feature_gradient);
// Sums over the rows in order, overwriting. Rows: count x classes and count x features.
void linear_weight_gradient(int count, std::span<const float> logit_gradients,
                            std::span<const float> features, std::span<float> weight, std::span<float> bias);

}  // namespace longtail::nn::onednn
