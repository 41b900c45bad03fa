// A convolution and its batch norm as the engine keeps them: packed weights, coefficients, sums of each
// slice.
#pragma once

#include <cstdint>
#include <span>

#include "longtail/nn/aligned.h"
#include "longtail/nn/onednn/convolution.h"
#include "longtail/nn/onednn/kernels.h"
#include "longtail/nn/resnet.h"

namespace longtail::nn::onednn {

class Unit {
 public:
  // `slots`: how many slices may hold sums at the same time.
  Unit(const ConvUnit& plan, Convolution& convolution, int slots);

  const ConvUnit& plan() const { return plan_; }
  Convolution& convolution() const { return *convolution_; }
  int out_pixels() const { return plan_.out_side() * plan_.out_side(); }
  std::size_t out_size() const {
    return static_cast<std::size_t>(plan_.out) * static_cast<std::size_t>(out_pixels());
  }

  void pack(int worker, std::span<const float> parameters, bool backward);
  // Weights with the batch norm of the running statistics folded in, and the bias that is left of it.
  void pack_folded(int worker, std::span<const float> parameters, std::span<const float> buffers,
                   float* scratch);

  const float* forward_weights() const { return forward_weights_.data(); }
  const float* backward_weights() const { return backward_weights_.data(); }
  const float* bias() const { return shift_.data(); }

  // Where a slice writes its sums.
  Sums sums(int slot);

  // After a forward pass: mean and variance of the batch from the sums of `slices` slices over `count` values
  // a channel; the running statistics move by a tenth towards them.
  void use_batch_statistics(int slices, std::int64_t count, std::span<const float> parameters,
                            std::span<float> buffers);
  // Evaluation mode: constants.
  void use_running_statistics(std::span<const float> parameters, std::span<const float> buffers);

  // After a backward pass has left its sums: the gradients of scale and shift, and the coefficients that
  // carry the gradient through the batch norm of `count` values. With count 0, of constants, only the former.
  void finish_gradient(int first_slot, int slices, std::int64_t count, std::span<float> gradient);

  Affine forward() const { return {scale_.data(), shift_.data()}; }
  NormBackward backward() const { return {mean_.data(), scale_.data(), mean_d_.data(), slope_.data()}; }
  const float* mean() const { return mean_.data(); }

  float* raw = nullptr;     // output of the convolution, image after image
  float* output = nullptr;  // what the next layer reads where it is kept: after batch norm, skip and ReLU
  float* weight_partials = nullptr;  // one packed weight gradient a slice

 private:
  void set_affine(std::span<const float> parameters);

  ConvUnit plan_;
  Convolution* convolution_;
  Aligned<float> forward_weights_, backward_weights_;
  Aligned<float> scale_, shift_, mean_, inverse_, mean_d_, slope_;
  Aligned<double> sums_;
};

}  // namespace longtail::nn::onednn
