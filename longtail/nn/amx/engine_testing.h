// Helpers of the tests of the whole amx engine: made-up images in the layouts of both engines, a network
// moved off its initial values, and the results of an engine. Only tests include this.
#pragma once

#include <cmath>
#include <memory>
#include <span>
#include <vector>

#include "longtail/nn/amx/amx_testing.h"
#include "longtail/nn/init.h"
#include "longtail/nn/testing.h"

namespace longtail::nn::amx {

inline const ResNetSpec kSpecs[] = {{20, Shortcut::kProjection, 10, 3}, {20, Shortcut::kPad, 7, 1}};

// NaN if the sizes differ: a NaN is above no threshold.
inline double cosine(std::span<const float> a, std::span<const float> b) {
  if (a.size() != b.size()) return std::numeric_limits<double>::quiet_NaN();
  double ab = 0, aa = 0, bb = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    ab += double{a[i]} * b[i];
    aa += double{a[i]} * a[i];
    bb += double{b[i]} * b[i];
  }
  return ab / std::sqrt(aa * bb);
}

// The same made-up images for both engines: smooth stripes of the class and some noise, exact in bf16.
struct Images {
  std::vector<float> nchw;
  std::vector<Bf16> nhwc;
  std::vector<std::int32_t> labels;

  Images(const ResNetSpec& spec, int count) {
    Numbers numbers(21);
    const std::size_t channels = static_cast<std::size_t>(spec.channels);
    nchw.resize(static_cast<std::size_t>(count) * channels * 1024);
    nhwc.resize(nchw.size());
    for (int n = 0; n < count; ++n) {
      labels.push_back(n * 7 % spec.classes);
      for (std::size_t c = 0; c < channels; ++c) {
        for (std::size_t p = 0; p < 1024; ++p) {
          const double wave =
              std::sin(0.1 * (labels.back() + 1) * static_cast<double>(p % 32 + c * (p / 32)));
          const Bf16 v = narrow(static_cast<float>(wave) + numbers.next());
          const std::size_t image = static_cast<std::size_t>(n) * channels * 1024;
          nchw[image + c * 1024 + p] = widen(v);
          nhwc[image + p * channels + c] = v;
        }
      }
    }
  }
  Batch for_reference() const { return {nchw.data(), labels, static_cast<int>(labels.size())}; }
  Batch for_tiles() const { return {nhwc.data(), labels, static_cast<int>(labels.size())}; }
};

struct Setting {
  ResNetSpec spec;
  std::vector<float> parameters, buffers;
  std::unique_ptr<Loss> loss;

  // `branch` scales what the blocks add to their input: if it is small, rounding errors die out instead of
  // growing from block to block.
  explicit Setting(const ResNetSpec& s, float branch = 1)
      : spec(s), parameters(initial_parameters(s, 42)), buffers(initial_buffers(s)) {
    loss = make_loss("cross_entropy", std::vector<std::int64_t>(static_cast<std::size_t>(s.classes), 1));
    // Batch norms with scales and shifts that are not trivial.
    Numbers numbers(22);
    for (const View& view : parameter_layout(s).parameters) {
      if (view.shape.size() != 1) continue;
      for (std::int64_t i = 0; i < view.size; ++i) {
        float& value = parameters[static_cast<std::size_t>(view.offset + i)];
        value += 0.2f * numbers.next();
        if (view.name.ends_with("bn2.weight")) value *= branch;
      }
    }
    for (float& b : buffers) b += 0.1f * std::abs(numbers.next());
  }
};

struct Outcome {
  StepResult step;
  std::vector<float> gradient, buffers, logits;
  bool operator==(const Outcome& o) const {
    return step.loss == o.step.loss && step.correct == o.step.correct && gradient == o.gradient &&
           buffers == o.buffers && logits == o.logits;
  }
};

inline Outcome run(Engine& engine, const Setting& s, const Batch& batch) {
  Outcome o;
  o.buffers = s.buffers;
  o.gradient.resize(s.parameters.size());
  o.logits.resize(static_cast<std::size_t>(batch.size * s.spec.classes));
  o.step = engine.gradient(s.parameters, o.buffers, batch, *s.loss, o.gradient);
  engine.predict(s.parameters, s.buffers, batch, o.logits);
  return o;
}

}  // namespace longtail::nn::amx
