#include "longtail/nn/init.h"

#include <array>
#include <cmath>
#include <numbers>
#include <random>
#include <span>

namespace longtail::nn {
namespace {

// PyTorch's CPU generator is the ordinary mt19937, seeded by the low 32 bits. A float uniform takes 24 bits
// of one output.
using Generator = std::mt19937;

double uniform(Generator& generator) { return static_cast<double>(generator() & 0xFFFFFFu) * 0x1p-24; }

// Tensor.normal_ for 16 or more elements (a multiple of 16, as all ours are): all uniforms first, then
// Box-Muller in blocks of 16, cosines in the first half and sines in the second. PyTorch evaluates in fp32;
// doing it in double and rounding once keeps us within its last bits and makes the weights the same on every
// machine.
void fill_normal(Generator& generator, double deviation, std::span<float> out) {
  std::array<double, 16> u{};
  for (std::size_t block = 0; block < out.size(); block += u.size()) {
    for (double& value : u) value = uniform(generator);
    for (std::size_t i = 0; i < 8; ++i) {
      const double radius = std::sqrt(-2.0 * std::log(1.0 - u[i]));
      const double angle = 2.0 * std::numbers::pi * u[i + 8];
      out[block + i] = static_cast<float>(radius * std::cos(angle) * deviation);
      out[block + i + 8] = static_cast<float>(radius * std::sin(angle) * deviation);
    }
  }
}

// The cosine classifier of LDAM's code: a tensor [features][classes] uniform from -1 to 1 when the module is
// built, with the weights of each class then scaled to length 1; the second loop leaves it alone.
void fill_cosine(Generator& generator, const View& view, std::span<float> out) {
  const auto classes = static_cast<std::size_t>(view.shape[0]),
             features = static_cast<std::size_t>(view.shape[1]);
  for (std::size_t f = 0; f < features; ++f) {
    for (std::size_t c = 0; c < classes; ++c) {
      out[c * features + f] = static_cast<float>(2 * uniform(generator) - 1);
    }
  }
  for (std::size_t c = 0; c < classes; ++c) {
    const std::span<float> row = out.subspan(c * features, features);
    double square = 0;
    for (const float value : row) square += static_cast<double>(value) * value;
    for (float& value : row) value = static_cast<float>(value / std::sqrt(square));
  }
}

bool is_linear(const View& view) { return view.name.starts_with("linear."); }

}  // namespace

std::vector<float> initial_parameters(const ResNetSpec& spec, std::int64_t seed) {
  const ParameterLayout layout = parameter_layout(spec);
  std::vector<float> parameters(static_cast<std::size_t>(layout.parameter_count));
  Generator generator(static_cast<std::uint32_t>(static_cast<std::uint64_t>(seed)));
  // Building the modules draws default weights (and the classifier's bias); only a cosine head keeps its own.
  const auto part_of = [&](const View& view) {
    return std::span(parameters)
        .subspan(static_cast<std::size_t>(view.offset), static_cast<std::size_t>(view.size));
  };
  for (const View& view : layout.parameters) {
    if (is_linear(view) && spec.head == Head::kCosine) {
      fill_cosine(generator, view, part_of(view));
    } else if (view.shape.size() == 4 || is_linear(view)) {
      generator.discard(static_cast<unsigned long long>(view.size));
    }
  }
  for (const View& view : layout.parameters) {
    const std::span<float> part = part_of(view);
    if (view.shape.size() == 4) {
      const int fan_out = view.shape[0] * view.shape[2] * view.shape[3];
      fill_normal(generator, std::sqrt(2.0) / std::sqrt(static_cast<double>(fan_out)), part);
    } else if (view.name == "linear.weight") {
      if (spec.head == Head::kLinear) fill_normal(generator, 0.01, part);
    } else if (view.name.ends_with(".weight")) {
      for (float& scale : part) scale = 1.0f;  // batch norm
    }
  }
  return parameters;
}

std::vector<float> initial_buffers(const ResNetSpec& spec) {
  const ParameterLayout layout = parameter_layout(spec);
  std::vector<float> buffers(static_cast<std::size_t>(layout.buffer_count), 0.0f);
  for (const View& view : layout.buffers) {
    if (!view.name.ends_with("running_var")) continue;
    for (std::int64_t i = 0; i < view.size; ++i) buffers[static_cast<std::size_t>(view.offset + i)] = 1.0f;
  }
  return buffers;
}

}  // namespace longtail::nn
