#include "longtail/nn/onednn/unit.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace longtail::nn::onednn {
namespace {

constexpr double kEpsilon = 1e-5;
constexpr double kMomentum = 0.1;

}  // namespace

Unit::Unit(const ConvUnit& plan, Convolution& convolution, int slots)
    : plan_(plan),
      convolution_(&convolution),
      forward_weights_(convolution.forward_weights()),
      backward_weights_(convolution.backward_weights()) {
  const auto channels = static_cast<std::size_t>(plan.out);
  for (Aligned<float>* array : {&scale_, &shift_, &mean_, &inverse_, &mean_d_, &slope_}) {
    *array = Aligned<float>(channels);
  }
  sums_ = Aligned<double>(2 * channels * static_cast<std::size_t>(slots));
}

void Unit::pack(int worker, std::span<const float> parameters, bool backward) {
  const float* plain = parameters.data() + plan_.weight;
  convolution_->pack_forward(worker, plain, forward_weights_.data());
  if (backward && backward_weights_.size() > 0)
    convolution_->pack_backward(worker, plain, backward_weights_.data());
}

void Unit::pack_folded(int worker, std::span<const float> parameters, std::span<const float> buffers,
                       float* scratch) {
  use_running_statistics(parameters, buffers);
  const float* plain = parameters.data() + plan_.weight;
  const auto each = static_cast<std::size_t>(plan_.weight_size() / plan_.out);
  for (std::size_t o = 0; o < static_cast<std::size_t>(plan_.out); ++o) {
    for (std::size_t i = 0; i < each; ++i) scratch[o * each + i] = plain[o * each + i] * scale_[o];
  }
  convolution_->pack_forward(worker, scratch, forward_weights_.data());
}

Sums Unit::sums(int slot) {
  double* first = sums_.data() + 2 * static_cast<std::size_t>(plan_.out) * static_cast<std::size_t>(slot);
  return {first, first + plan_.out};
}

void Unit::set_affine(std::span<const float> parameters) {
  for (std::size_t c = 0; c < static_cast<std::size_t>(plan_.out); ++c) {
    const float gamma = parameters[static_cast<std::size_t>(plan_.gamma) + c];
    const float beta = parameters[static_cast<std::size_t>(plan_.beta) + c];
    scale_[c] = gamma * inverse_[c];
    shift_[c] = beta - mean_[c] * scale_[c];
  }
}

void Unit::use_batch_statistics(int slices, std::int64_t count, std::span<const float> parameters,
                                std::span<float> buffers) {
  const auto n = static_cast<double>(count);
  for (int c = 0; c < plan_.out; ++c) {
    double sum = 0, squares = 0;
    for (int slot = 0; slot < slices; ++slot) {
      sum += sums(slot).first[c];
      squares += sums(slot).second[c];
    }
    const double mean = sum / n;
    const double variance = std::max(squares / n - mean * mean, 0.0);
    const auto i = static_cast<std::size_t>(c);
    mean_[i] = static_cast<float>(mean);
    // Rounded to float first, as PyTorch does: it keeps the signs before a ReLU, and so gradients, closer to
    // its own.
    inverse_[i] = static_cast<float>(1.0 / std::sqrt(static_cast<float>(variance) + kEpsilon));
    float& running_mean = buffers[static_cast<std::size_t>(plan_.mean) + i];
    float& running_variance = buffers[static_cast<std::size_t>(plan_.variance) + i];
    const double unbiased = variance * n / std::max(n - 1, 1.0);
    running_mean = static_cast<float>((1 - kMomentum) * running_mean + kMomentum * mean);
    running_variance = static_cast<float>((1 - kMomentum) * running_variance + kMomentum * unbiased);
  }
  set_affine(parameters);
}

void Unit::use_running_statistics(std::span<const float> parameters, std::span<const float> buffers) {
  for (std::size_t c = 0; c < static_cast<std::size_t>(plan_.out); ++c) {
    mean_[c] = buffers[static_cast<std::size_t>(plan_.mean) + c];
    const double variance = buffers[static_cast<std::size_t>(plan_.variance) + c];
    inverse_[c] = static_cast<float>(1.0 / std::sqrt(variance + kEpsilon));
    mean_d_[c] = slope_[c] = 0;
  }
  set_affine(parameters);
}

void Unit::finish_gradient(int first_slot, int slices, std::int64_t count, std::span<float> gradient) {
  const bool of_batch = count > 0;
  for (int c = 0; c < plan_.out; ++c) {
    double sum = 0, product = 0;
    for (int slot = first_slot; slot < first_slot + slices; ++slot) {
      sum += sums(slot).first[c];
      product += sums(slot).second[c];
    }
    const auto i = static_cast<std::size_t>(c);
    gradient[static_cast<std::size_t>(plan_.gamma) + i] = static_cast<float>(product * inverse_[i]);
    gradient[static_cast<std::size_t>(plan_.beta) + i] = static_cast<float>(sum);
    if (!of_batch) continue;  // also keeps slices that run side by side from writing here
    const auto n = static_cast<double>(count);
    mean_d_[i] = static_cast<float>(sum / n);
    slope_[i] = static_cast<float>(product * inverse_[i] * inverse_[i] / n);
  }
}

}  // namespace longtail::nn::onednn
