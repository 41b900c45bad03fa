// What every engine must satisfy: a step, a prediction and evaluation-mode gradients of a made-up problem,
// and the judge that compares two engines' answers. Only tests include this.
#pragma once

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "longtail/base/error.h"
#include "longtail/base/threads.h"
#include "longtail/data/augment.h"
#include "longtail/nn/engine.h"
#include "longtail/nn/testing.h"

namespace longtail::nn {

// How far an engine may be from the reference, as distances relative to the norm.
struct Tolerance {
  double loss = 1e-5;
  // An activation that rounding carries across the edge of a ReLU moves the gradient by about a thousandth;
  // PyTorch in float and in double are as far apart.
  double gradient = 3e-3;
  double statistics = 1e-5;
  double logits = 1e-5;
  bool same_hits = true;
};
inline Tolerance tolerance_of(std::string_view engine) {
  // Operands of eight bits: made-up networks with one image in a batch norm are up to 0.35 away. The code
  // shared with amx-fine is checked tightly there, and every bit of both by the tests TileBits.
  if (engine == "amx") return {0.02, 0.4, 0.02, 0.05, false};
  if (engine == "amx-fine") return {1e-3, 0.02, 2e-3, 0.05, false};
  return {};
}

// Pixels that bf16 holds exactly, so that every engine gets the same image.
inline Problem exact_problem(const ResNetSpec& spec, int size) {
  Problem problem = make_problem(spec, size);
  for (float& value : problem.images) {
    value = std::bit_cast<float>(static_cast<std::uint32_t>(data::to_bf16(value)) << 16);
  }
  return problem;
}

// The images of a problem in the layout of an engine.
inline std::vector<std::byte> images_for(const Problem& problem, data::PixelLayout layout) {
  const data::ImageShape shape{problem.spec.channels, problem.spec.side};
  std::vector<std::byte> bytes(problem.labels.size() * data::bytes_per_image(layout, shape));
  if (layout == data::PixelLayout::kNchwF32) {
    std::memcpy(bytes.data(), problem.images.data(), bytes.size());
    return bytes;
  }
  const auto channels = static_cast<std::size_t>(shape.channels),
             pixels = static_cast<std::size_t>(shape.pixels());
  for (std::size_t i = 0; i < problem.images.size(); ++i) {
    const std::size_t image = i / shape.values(), channel = i / pixels % channels, pixel = i % pixels;
    const std::uint16_t value = data::to_bf16(problem.images[i]);
    std::memcpy(bytes.data() + 2 * ((image * pixels + pixel) * channels + channel), &value, 2);
  }
  return bytes;
}

struct Answer {
  StepResult step;
  std::vector<float> gradient, buffers, logits, frozen;
  std::vector<std::vector<float>> by_image;
};

// One training step, one prediction, and the evaluation-mode gradients, of the batch and image by image.
inline Answer answer_of(Engine& engine, const Problem& problem) {
  const std::vector<std::byte> images = images_for(problem, engine.input_layout());
  const Batch batch{images.data(), problem.labels, problem.size()};
  const auto loss = make_loss("cross_entropy", {});
  Answer a;
  a.gradient.assign(problem.parameters.size(),
                    std::numeric_limits<float>::quiet_NaN());  // all to be overwritten
  if (problem.spec.depth <= 44) a.frozen = a.gradient;
  a.buffers = problem.buffers;
  a.logits.assign(problem.labels.size() * static_cast<std::size_t>(problem.spec.classes),
                  std::numeric_limits<float>::quiet_NaN());
  a.step = engine.gradient(problem.parameters, a.buffers, batch, *loss, a.gradient);
  engine.predict(problem.parameters, problem.buffers, batch, a.logits);
  // Deeper made-up networks are so confident in evaluation mode that their gradient all but vanishes.
  if (problem.spec.depth > 44) return a;
  engine.frozen_gradient(problem.parameters, problem.buffers, batch, *loss, a.frozen);
  engine.image_gradients(
      problem.parameters, problem.buffers, batch, *loss, [&a](int image, std::span<const float> gradient) {
        a.by_image.resize(static_cast<std::size_t>(image));  // in order, or the sizes differ
        a.by_image.emplace_back(gradient.begin(), gradient.end());
      });
  return a;
}

inline Answer answer_of(const std::string& engine, const Problem& problem, int threads, int max_batch = 0) {
  base::ThreadPool pool(threads);
  return answer_of(*make_engine(engine, problem.spec, std::max(max_batch, problem.size()), pool), problem);
}

// The largest distance of a 3x3 kernel of a tensor, relative to the root mean square of the kernels' norms.
inline double largest_kernel_distance(std::span<const float> actual, std::span<const float> expected) {
  double largest = 0, total = 0;
  for (std::size_t at = 0; at < expected.size(); at += 9) {
    double distance = 0;
    for (std::size_t i = at; i < at + 9; ++i) {
      const double d = double{actual[i]} - double{expected[i]};
      distance += d * d;
      total += double{expected[i]} * double{expected[i]};
    }
    if (!(distance <= largest)) largest = distance;
    if (!std::isfinite(distance)) return std::numeric_limits<double>::infinity();
  }
  return largest == 0 ? 0 : std::sqrt(largest / (total / (static_cast<double>(expected.size()) / 9)));
}

// A sentence for every quantity in which two answers differ too much; none if they agree. NaN agrees with
// nothing. Every tensor of the gradient is also judged by itself, relative to its own norm.
inline std::vector<std::string> disagreements(const ResNetSpec& spec, const Answer& actual,
                                              const Answer& expected, const Tolerance& tolerance) {
  std::vector<std::string> result;
  const auto judge = [&](const std::string& what, double distance, double most) {
    if (!(distance <= most))
      result.push_back(fmt::format("{}: {:.2e} apart, {:.2e} allowed", what, distance, most));
  };
  judge("loss", std::abs(actual.step.loss - expected.step.loss), tolerance.loss * (1 + expected.step.loss));
  if (tolerance.same_hits) judge("hits", std::abs(actual.step.correct - expected.step.correct), 0);
  judge("running statistics", relative_distance(actual.buffers, expected.buffers), tolerance.statistics);
  judge("logits", relative_distance(actual.logits, expected.logits), tolerance.logits);
  judge("frozen gradient", relative_distance(actual.frozen, expected.frozen), tolerance.gradient);
  judge("number of image gradients",
        std::abs(static_cast<double>(actual.by_image.size()) - static_cast<double>(expected.by_image.size())),
        0);
  for (std::size_t i = 0; i < std::min(actual.by_image.size(), expected.by_image.size()); ++i) {
    judge(fmt::format("gradient of image {}", i), relative_distance(actual.by_image[i], expected.by_image[i]),
          tolerance.gradient);
  }
  judge("gradient", relative_distance(actual.gradient, expected.gradient), tolerance.gradient);
  for (const View& view : parameter_layout(spec).parameters) {
    const auto part = [&view](const std::vector<float>& all) {
      return std::span(all).subspan(static_cast<std::size_t>(view.offset),
                                    static_cast<std::size_t>(view.size));
    };
    // A tensor may be small compared with its rounding: twenty times the tolerance of the whole gradient.
    judge("gradient of " + view.name, relative_distance(part(actual.gradient), part(expected.gradient)),
          20 * tolerance.gradient);
    // A missing kernel hardly shows in the distance of the whole tensor.
    if (view.shape.size() != 4 || view.shape[2] != 3) continue;
    judge("a kernel in the gradient of " + view.name,
          largest_kernel_distance(part(actual.gradient), part(expected.gradient)), 120 * tolerance.gradient);
  }
  return result;
}

}  // namespace longtail::nn
