#include "longtail/nn/sgd.h"

#include <array>
#include <cmath>
#include <cstddef>

#include "longtail/base/error.h"

namespace longtail::nn {

double norm(std::span<const float> values) {
  // Lane k sums every 16th value from k on: the compiler may keep the lanes in vector registers without
  // changing the order of any addition.
  constexpr std::size_t kLanes = 16;
  std::array<double, kLanes> lanes{};
  const std::size_t whole = values.size() / kLanes * kLanes;
  for (std::size_t i = 0; i < whole; i += kLanes) {
    for (std::size_t k = 0; k < kLanes; ++k) {
      const double value = values[i + k];
      lanes[k] += value * value;
    }
  }
  double total = 0;
  for (const double lane : lanes) total += lane;
  for (std::size_t i = whole; i < values.size(); ++i) total += static_cast<double>(values[i]) * values[i];
  return std::sqrt(total);
}

double sgd_step(const SgdConfig& config, std::span<const float> gradient, std::span<float> momentum,
                std::span<float> parameters) {
  if (gradient.size() != parameters.size() || momentum.size() != parameters.size()) {
    base::fail("a step over {} parameters, {} gradients and {} momenta; the three must be as many",
               parameters.size(), gradient.size(), momentum.size());
  }
  const double length = norm(gradient);
  double coefficient = config.clip > 0 ? config.clip / (length + 1e-6) : 1.0;
  if (coefficient > 1.0) coefficient = 1.0;  // a NaN stays one
  const auto scale = static_cast<float>(coefficient);
  const auto decay = static_cast<float>(config.weight_decay);
  const auto keep = static_cast<float>(config.momentum);
  const auto rate = static_cast<float>(config.lr);
  const float* g = gradient.data();
  float* v = momentum.data();
  float* p = parameters.data();
  if (config.nesterov) {
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      const float d = g[i] * scale + decay * p[i];
      v[i] = keep * v[i] + d;
      p[i] -= rate * (d + keep * v[i]);
    }
  } else {
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      v[i] = keep * v[i] + (g[i] * scale + decay * p[i]);
      p[i] -= rate * v[i];
    }
  }
  return length;
}

}  // namespace longtail::nn
