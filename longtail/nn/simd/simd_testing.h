// Plain loops in double that do what the kernels of the portable engine do. Only tests include this.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "longtail/nn/simd/kernels.h"
#include "longtail/nn/simd/targets.h"
#include "longtail/nn/testing.h"

namespace longtail::nn::simd {

using Floats = std::vector<float>;
using Doubles = std::vector<double>;

inline Floats made_up(std::uint32_t what, std::size_t size, float scale = 1) {
  Floats values(size);
  for (std::size_t i = 0; i < size; ++i) values[i] = scale * noise(what, i);
  return values;
}
inline std::size_t pixels_of(int images, int side, int channels) {
  return static_cast<std::size_t>(images) * static_cast<std::size_t>(side * side) *
         static_cast<std::size_t>(channels);
}

// The values of an Activation.
inline Doubles activated(const Activation& a, std::size_t size, int channels) {
  Doubles result(size);
  for (std::size_t i = 0; i < size; ++i) {
    const std::size_t c = i % static_cast<std::size_t>(channels);
    const double z = a.z[i];
    double v = z;
    switch (a.form) {
      case Activation::kCopy:
        break;
      case Activation::kNorm:
        v = std::max(0.0, z * a.scale[c] + a.shift[c]);
        break;
      case Activation::kNormSkip:
        v = std::max(0.0, z * a.scale[c] + a.shift[c] + a.other[i]);
        break;
      case Activation::kNormNorm:
        v = std::max(
            0.0, z * a.scale[c] + a.shift[c] + (a.other[i] * double{a.other_scale[c]} + a.other_shift[c]));
        break;
      case Activation::kGradient:
        v = z * a.scale[c] + (a.other[i] * double{a.other_scale[c]} + a.shift[c]);
        break;
    }
    result[i] = v;
  }
  return result;
}

// visit(index of the input, index of the output, tap) for every pixel and tap of a batch, if the input lies
// inside the image; indices count pixels.
template <class Visit>
void each_tap(const DirectConv& conv, int images, const Visit& visit) {
  const int out = conv.out_side();
  for (int n = 0; n < images; ++n) {
    for (int y = 0; y < out; ++y) {
      for (int x = 0; x < out; ++x) {
        for (int t = 0; t < conv.taps(); ++t) {
          const int row = y * conv.stride + t / conv.kernel - conv.kernel / 2;
          const int column = x * conv.stride + t % conv.kernel - conv.kernel / 2;
          if (row < 0 || column < 0 || row >= conv.side || column >= conv.side) continue;
          visit(static_cast<std::size_t>((n * conv.side + row) * conv.side + column),
                static_cast<std::size_t>((n * out + y) * out + x), static_cast<std::size_t>(t));
        }
      }
    }
  }
}

// Weights are [tap][in][out].
inline Doubles convolved(const DirectConv& conv, int images, const Doubles& in, const Floats& weights) {
  const auto ci = static_cast<std::size_t>(conv.in), co = static_cast<std::size_t>(conv.out);
  Doubles out(pixels_of(images, conv.out_side(), conv.out));
  each_tap(conv, images, [&](std::size_t from, std::size_t to, std::size_t t) {
    for (std::size_t i = 0; i < ci; ++i) {
      const double x = in[from * ci + i];
      for (std::size_t o = 0; o < co; ++o) out[to * co + o] += x * weights[(t * ci + i) * co + o];
    }
  });
  return out;
}
inline Doubles input_gradient(const DirectConv& conv, int images, const Doubles& dz, const Floats& weights) {
  const auto ci = static_cast<std::size_t>(conv.in), co = static_cast<std::size_t>(conv.out);
  Doubles d(pixels_of(images, conv.side, conv.in));
  each_tap(conv, images, [&](std::size_t from, std::size_t to, std::size_t t) {
    for (std::size_t i = 0; i < ci; ++i) {
      double sum = 0;
      for (std::size_t o = 0; o < co; ++o) sum += dz[to * co + o] * weights[(t * ci + i) * co + o];
      d[from * ci + i] += sum;
    }
  });
  return d;
}
inline Doubles weight_gradient(const DirectConv& conv, int images, const Doubles& in, const Doubles& dz) {
  const auto ci = static_cast<std::size_t>(conv.in), co = static_cast<std::size_t>(conv.out);
  Doubles w(static_cast<std::size_t>(conv.taps()) * ci * co);
  each_tap(conv, images, [&](std::size_t from, std::size_t to, std::size_t t) {
    for (std::size_t i = 0; i < ci; ++i) {
      for (std::size_t o = 0; o < co; ++o) w[(t * ci + i) * co + o] += in[from * ci + i] * dz[to * co + o];
    }
  });
  return w;
}

// Sums over all pixels, one per channel, of term(index).
template <class Term>
Doubles channel_sums(std::size_t size, int channels, const Term& term) {
  Doubles sums(static_cast<std::size_t>(channels));
  for (std::size_t i = 0; i < size; ++i) sums[i % sums.size()] += term(i);
  return sums;
}

// The gradient at an input as InputGradient finishes it: d, its sums and the sums of the products.
struct Finished {
  Doubles d, sum, product, other_product;
};
inline Finished finished(const InputGradient& g, Doubles d, int channels) {
  for (std::size_t i = 0; i < d.size(); ++i) {
    const std::size_t c = i % static_cast<std::size_t>(channels);
    if (g.skip != nullptr) d[i] += g.skip[i];
    const double gate = g.gate != nullptr ? g.gate[i] : double{g.z[i]} * g.scale[c] + g.shift[c];
    if (!(gate > 0)) d[i] = 0;
  }
  Finished f;
  const auto centred = [&](const float* z, const float* mean) {
    return channel_sums(d.size(), channels, [&](std::size_t i) {
      return d[i] * (double{z[i]} - mean[i % static_cast<std::size_t>(channels)]);
    });
  };
  f.sum = channel_sums(d.size(), channels, [&](std::size_t i) { return d[i]; });
  f.product = centred(g.z, g.mean);
  if (g.other != nullptr) f.other_product = centred(g.other, g.other_mean);
  f.d = std::move(d);
  return f;
}

// [tap][from][to] to [to / 16][tap][from][16], and [tap][in][out] with channels exchanged.
inline Floats in_blocks(int taps, int from, int to, const Floats& weights) {
  Floats blocks;
  for (int block = 0; block < to; block += 16) {
    for (int i = 0; i < taps * from; ++i) {
      for (int k = 0; k < 16; ++k) blocks.push_back(weights[static_cast<std::size_t>(i * to + block + k)]);
    }
  }
  return blocks;
}
inline Floats exchanged(int taps, int in, int out, const Floats& weights) {
  Floats result;
  for (int t = 0; t < taps; ++t) {
    for (int o = 0; o < out; ++o) {
      for (int i = 0; i < in; ++i)
        result.push_back(weights[static_cast<std::size_t>((t * in + i) * out + o)]);
    }
  }
  return result;
}

template <class A>
void expect_close(const A& actual, const Doubles& expected, const std::string& what,
                  double tolerance = 5e-6) {
  ASSERT_EQ(actual.size(), expected.size()) << what;
  EXPECT_LE(relative_distance(actual, expected), tolerance) << what;  // not so for a NaN
}

// Runs compute(kernels, results) on every target of this machine. The caller judges the results of the first;
// those of the others must have the same bits.
template <class Compute>
std::vector<Floats> on_every_target(const Compute& compute) {
  std::vector<Floats> first;
  for (const Cpu target : available_cpus()) {
    std::vector<Floats> results;
    compute(kernels_for(target), results);
    if (first.empty()) {
      first = results;
      continue;
    }
    EXPECT_EQ(first.size(), results.size());
    for (std::size_t i = 0; i < first.size(); ++i) {
      EXPECT_EQ(first[i].size(), results[i].size());
      EXPECT_EQ(std::memcmp(first[i].data(), results[i].data(), first[i].size() * sizeof(float)), 0)
          << "result " << i << " on " << base::cpu_name(target);
    }
  }
  return first;
}
inline Floats as_floats(const Doubles& values) { return Floats(values.begin(), values.end()); }

}  // namespace longtail::nn::simd
