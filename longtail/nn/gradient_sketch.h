// For tests: a gradient that is known by a few numbers instead of all of them: the norm of every tensor and
// its products with four vectors of signs. On average the products of two tensors are as far apart as the
// tensors themselves (testdata/make_*.py write them).
#pragma once

#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <vector>

#include "longtail/nn/resnet.h"

namespace longtail::nn {

// Pseudo-random numbers that are easy to reproduce in Python.
inline std::uint32_t next(std::uint32_t& state) { return state = state * 1664525 + 1013904223; }

struct GradientSketch {
  std::vector<double> norms;  // of every tensor
  double norm = 0;            // of the whole
  double distance = 0;        // from the known one, relative to `norm`
};

// `products` has four numbers per tensor.
inline GradientSketch sketch(const ResNetSpec& spec, std::span<const float> gradient,
                             const nlohmann::json& products) {
  GradientSketch result;
  double error = 0, total = 0;
  for (const auto& view : parameter_layout(spec).parameters) {
    const auto part =
        gradient.subspan(static_cast<std::size_t>(view.offset), static_cast<std::size_t>(view.size));
    double square = 0;
    for (const float value : part) square += double{value} * value;
    for (std::uint32_t s = 0; s < 4; ++s) {
      std::uint32_t sign = s + 1;
      double product = 0;
      for (const float value : part) product += next(sign) >> 31 ? value : -value;
      const double difference = product - products[result.norms.size()][s].get<double>();
      error += difference * difference / 4;
    }
    result.norms.push_back(std::sqrt(square));
    total += square;
  }
  result.norm = std::sqrt(total);
  result.distance = std::sqrt(error / total);
  return result;
}

}  // namespace longtail::nn
