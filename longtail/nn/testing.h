// Helpers of the tests of nn and its engines: made-up batches, distances. Only tests include this.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "longtail/base/file.h"
#include "longtail/base/philox.h"
#include "longtail/base/test_paths.h"
#include "longtail/data/layout.h"
#include "longtail/nn/engine.h"
#include "longtail/nn/init.h"
#include "longtail/nn/resnet.h"

namespace longtail::nn {

// 2-norm of the difference over the norm of the expected. Arrays of different sizes are infinitely far apart,
// and so are values that are not finite.
template <class A, class B>
double relative_distance(const A& actual, const B& expected) {
  double difference = 0, total = 0;
  if (actual.size() != expected.size()) return std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double d = static_cast<double>(actual[i]) - static_cast<double>(expected[i]);
    difference += d * d;
    total += static_cast<double>(expected[i]) * static_cast<double>(expected[i]);
  }
  if (difference == 0) return 0;
  const double distance = std::sqrt(difference / total);
  return std::isfinite(distance) ? distance : std::numeric_limits<double>::infinity();
}

template <class A, class B>
double largest_difference(const A& actual, const B& expected) {
  double largest = 0;
  if (actual.size() != expected.size()) return std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double d = std::abs(static_cast<double>(actual[i]) - static_cast<double>(expected[i]));
    if (!(d <= largest)) largest = d;
    if (!std::isfinite(d)) return std::numeric_limits<double>::infinity();
  }
  return largest;
}

// Numbers in [-1, 1) that are the same everywhere.
inline float noise(std::uint32_t what, std::uint64_t position) {
  const base::Stream stream{.seed = 1, .epoch = what};
  return static_cast<float>(static_cast<double>(stream.block(position)[0]) * 0x1p-31 - 1.0);
}

// A network with weights and statistics off their initial values, and a batch for it.
struct Problem {
  ResNetSpec spec;
  std::vector<float> parameters, buffers, images;
  std::vector<std::int32_t> labels;

  int size() const { return static_cast<int>(labels.size()); }
  Batch batch() const { return {images.data(), labels, size()}; }
};

inline Problem make_problem(const ResNetSpec& spec, int size) {
  Problem p{spec, initial_parameters(spec, 3), initial_buffers(spec), {}, {}};
  const ParameterLayout layout = parameter_layout(spec);
  for (const View& view : layout.parameters) {
    if (view.shape.size() != 1) continue;  // scales, shifts, bias
    for (std::int64_t i = view.offset; i < view.offset + view.size; ++i) {
      p.parameters[static_cast<std::size_t>(i)] += 0.3f * noise(1, static_cast<std::uint64_t>(i));
    }
  }
  for (std::size_t i = 0; i < p.buffers.size(); ++i) p.buffers[i] += 0.3f * noise(2, i);
  p.images.resize(static_cast<std::size_t>(size) * data::ImageShape{spec.channels, spec.side}.values());
  for (std::size_t i = 0; i < p.images.size(); ++i) p.images[i] = 2 * noise(3, i);
  for (int i = 0; i < size; ++i) p.labels.push_back(i % spec.classes);
  return p;
}

}  // namespace longtail::nn
