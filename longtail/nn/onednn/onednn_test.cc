// The engine's parts, each against plain loops: convolutions on every shape of the network and odd numbers of
// images, and the batch-norm passes on every instruction set that this CPU has.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "longtail/nn/aligned.h"
#include "longtail/nn/onednn/convolution.h"
#include "longtail/nn/onednn/kernels.h"
#include "longtail/nn/reference_layers.h"
#include "longtail/nn/testing.h"

namespace longtail::nn::onednn {
namespace {

using reference::Tensor;

Tensor<double> tensor(int batch, int channels, int side, std::uint32_t what) {
  Tensor<double> t(batch, channels, side);
  for (std::size_t i = 0; i < t.values.size(); ++i) t.values[i] = noise(what, i);
  return t;
}

// To and from the blocked layout; an input of 1 or 3 channels stays plain.
std::size_t place(const Tensor<double>& t, int block, int n, int c, int p) {
  if (t.channels < 8) block = 1;
  const int pixels = t.side * t.side;
  return ((static_cast<std::size_t>(n) * (t.channels / block) + c / block) * pixels + p) * block + c % block;
}

Aligned<float> blocked(const Tensor<double>& t, int block) {
  Aligned<float> out(t.values.size());
  std::size_t i = 0;
  for (int n = 0; n < t.batch; ++n)
    for (int c = 0; c < t.channels; ++c)
      for (int p = 0; p < t.side * t.side; ++p)
        out[place(t, block, n, c, p)] = static_cast<float>(t.values[i++]);
  return out;
}

std::vector<double> plain(const Aligned<float>& values, const Tensor<double>& like, int block) {
  std::vector<double> out;
  for (int n = 0; n < like.batch; ++n)
    for (int c = 0; c < like.channels; ++c)
      for (int p = 0; p < like.side * like.side; ++p) out.push_back(values[place(like, block, n, c, p)]);
  return out;
}

TEST(Convolution, EveryShapeOfTheNetworkEqualsTheReferenceForwardAndBackward) {
  Context context(1);
  const int block = channel_block();
  for (const ConvShape& s :
       {ConvShape{1, 16, 3, 1, 32}, ConvShape{3, 16, 3, 1, 32}, ConvShape{16, 16, 3, 1, 32},
        ConvShape{16, 32, 3, 2, 32}, ConvShape{16, 32, 1, 2, 32}, ConvShape{32, 32, 3, 1, 16},
        ConvShape{32, 64, 3, 2, 16}, ConvShape{32, 64, 1, 2, 16}, ConvShape{64, 64, 3, 1, 8}}) {
    Convolution convolution(context, s, 4);
    for (const int images : {1, 3, 4}) {
      SCOPED_TRACE(fmt::format("{}->{} k{} s{}, {} images", s.in, s.out, s.kernel, s.stride, images));
      convolution.prepare_training(images);
      const auto x = tensor(images, s.in, s.side, 1), upstream = tensor(images, s.out, s.side / s.stride, 2);
      std::vector<float> weights(static_cast<std::size_t>(s.out) * s.in * s.kernel * s.kernel);
      for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = noise(3, i);
      const std::vector<double> wide(weights.begin(), weights.end());
      Aligned<float> packed(convolution.forward_weights()), gradient(convolution.gradient_weights());
      const Aligned<float> input = blocked(x, block), slope = blocked(upstream, block);

      Aligned<float> output(upstream.values.size());
      convolution.pack_forward(0, weights.data(), packed.data());
      convolution.forward(0, images, input.data(), packed.data(), output.data());
      const auto expected = reference::convolve<double>(x, wide, s.out, s.kernel, s.stride);
      EXPECT_LT(relative_distance(plain(output, upstream, block), expected.values), 1e-6);

      std::vector<float> weight_gradient(weights.size());
      std::vector<double> expected_gradient(weights.size());
      convolution.weight_gradient(0, images, input.data(), slope.data(), gradient.data());
      convolution.unpack_gradient(0, gradient.data(), weight_gradient.data());
      reference::convolve_weights<double>(x, upstream, s.kernel, s.stride, expected_gradient);
      EXPECT_LT(relative_distance(weight_gradient, expected_gradient), 2e-6);

      if (convolution.backward_weights() == 0) continue;
      Aligned<float> packed_back(convolution.backward_weights()), result(x.values.size());
      convolution.pack_backward(0, weights.data(), packed_back.data());
      convolution.input_gradient(0, images, slope.data(), packed_back.data(), result.data());
      const auto back = reference::convolve_data<double>(upstream, wide, s.in, s.kernel, s.stride, s.side);
      EXPECT_LT(relative_distance(plain(result, x, block), back.values), 1e-6);
    }
  }
}

TEST(Convolution, EpiloguesAddBiasAndWhatWasThereAndCutAtZero) {
  Context context(1);
  const ConvShape s{16, 16, 3, 1, 32};
  const int block = channel_block();
  Convolution convolution(context, s, 2);
  const auto x = tensor(2, 16, 32, 1), before = tensor(2, 16, 32, 4);
  std::vector<float> weights(16 * 16 * 9);
  for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = noise(3, i);
  Aligned<float> packed(convolution.forward_weights()), bias(16);
  for (std::size_t c = 0; c < 16; ++c) bias[c] = noise(5, c);
  convolution.pack_forward(0, weights.data(), packed.data());
  const auto sum =
      reference::convolve<double>(x, std::vector<double>(weights.begin(), weights.end()), 16, 3, 1);
  for (const Epilogue epilogue : {Epilogue::kBias, Epilogue::kBiasRelu, Epilogue::kBiasSumRelu}) {
    convolution.prepare_forward(2, epilogue);
    Aligned<float> output = blocked(before, block);
    convolution.forward(0, 2, epilogue, blocked(x, block).data(), packed.data(), bias.data(), output.data());
    std::vector<double> expected = sum.values;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      expected[i] += bias[i / 1024 % 16];
      if (epilogue == Epilogue::kBiasSumRelu) expected[i] += before.values[i];
      if (epilogue != Epilogue::kBias) expected[i] = std::max(expected[i], 0.0);
    }
    EXPECT_LT(relative_distance(plain(output, before, block), expected), 1e-6);
  }
}

// Three tensors and coefficients for the passes.
struct Fields {
  int block;
  SliceShape shape{3, 32, 64};
  Tensor<double> x = tensor(3, 32, 8, 1), d = tensor(3, 32, 8, 2), y = tensor(3, 32, 8, 3);
  Aligned<float> scale{32}, shift{32}, mean{32}, mean_d{32}, slope{32};

  explicit Fields(int b) : block(b) {
    for (std::size_t c = 0; c < 32; ++c) {
      scale[c] = noise(10, c);
      shift[c] = noise(11, c);
      mean[c] = noise(12, c);
      mean_d[c] = noise(13, c);
      slope[c] = noise(14, c);
    }
  }
  template <class Value>
  std::vector<double> map(const Value& value) const {
    std::vector<double> out;
    for (std::size_t i = 0; i < x.values.size(); ++i) out.push_back(value(i, i / 64 % 32));
    return out;
  }
};

struct PassResults {
  std::vector<Aligned<float>> outputs;
  std::vector<double> sums;
};

PassResults run_passes(const Kernels& k, const Fields& f) {
  const Aligned<float> x = blocked(f.x, f.block), d = blocked(f.d, f.block), y = blocked(f.y, f.block);
  const Affine affine{f.scale.data(), f.shift.data()}, other{f.shift.data(), f.mean.data()};
  const NormBackward norm{f.mean.data(), f.scale.data(), f.mean_d.data(), f.slope.data()};
  PassResults r;
  r.sums.resize(4 * 64);
  const auto sums = [&r](std::size_t which) { return Sums{&r.sums[which * 64], &r.sums[which * 64 + 32]}; };
  for (int i = 0; i < 6; ++i) r.outputs.emplace_back(x.size());
  k.affine_relu(f.shape, x.data(), affine, r.outputs[0].data());
  k.affine_add_relu(f.shape, x.data(), affine, d.data(), r.outputs[1].data());
  k.affine_pair_relu(f.shape, x.data(), affine, d.data(), other, r.outputs[2].data());
  k.norm_backward(f.shape, d.data(), x.data(), norm, r.outputs[3].data());
  k.masked_norm_backward(f.shape, d.data(), x.data(), affine, norm, r.outputs[4].data());
  k.statistics(f.shape, x.data(), sums(0));
  k.gradient_sums(f.shape, d.data(), x.data(), f.mean.data(), sums(1));
  k.masked_sums(f.shape, d.data(), y.data(), x.data(), f.mean.data(), sums(2));
  k.join_sums(f.shape, d.data(), x.data(), y.data(), x.data(), f.mean.data(), r.outputs[5].data(), sums(3));
  return r;
}

TEST(Kernels, EveryPassEqualsPlainLoopsOnEveryInstructionSet) {
  for (const int block : {8, 16}) {
    const Fields f(block);
    const auto &x = f.x.values, &d = f.d.values, &y = f.y.values;
    const auto a = [&](std::size_t i, std::size_t c) { return x[i] * f.scale[c] + f.shift[c]; };
    const auto norm = [&](double slope, std::size_t i, std::size_t c) {
      return (slope - f.mean_d[c] - (x[i] - f.mean[c]) * f.slope[c]) * f.scale[c];
    };
    const std::vector<std::vector<double>> expected = {
        f.map([&](std::size_t i, std::size_t c) { return std::max(a(i, c), 0.0); }),
        f.map([&](std::size_t i, std::size_t c) { return std::max(a(i, c) + d[i], 0.0); }),
        f.map([&](std::size_t i, std::size_t c) {
          return std::max(a(i, c) + d[i] * f.shift[c] + f.mean[c], 0.0);
        }),
        f.map([&](std::size_t i, std::size_t c) { return norm(d[i], i, c); }),
        f.map([&](std::size_t i, std::size_t c) { return norm(a(i, c) > 0 ? d[i] : 0, i, c); }),
        f.map([&](std::size_t i, std::size_t) { return y[i] > 0 ? d[i] + x[i] : 0; }),
    };
    std::vector<double> sums(4 * 64);
    for (std::size_t i = 0; i < x.size(); ++i) {
      const std::size_t c = i / 64 % 32;
      const double terms[4] = {x[i], d[i], y[i] > 0 ? d[i] : 0, y[i] > 0 ? d[i] + x[i] : 0};
      for (std::size_t which = 0; which < 4; ++which) {
        sums[which * 64 + c] += terms[which];
        sums[which * 64 + 32 + c] += terms[which] * (which == 0 ? x[i] : x[i] - f.mean[c]);
      }
    }
    for (const char* name : {"baseline", "avx2", "avx512"}) {
      const Kernels* k = kernels(block, name);
      if (!k) continue;
      SCOPED_TRACE(fmt::format("{}, blocks of {}", name, block));
      const PassResults r = run_passes(*k, f);
      for (std::size_t i = 0; i < expected.size(); ++i) {
        EXPECT_LT(largest_difference(plain(r.outputs[i], f.x, block), expected[i]), 1e-6) << "pass " << i;
      }
      EXPECT_LT(largest_difference(r.sums, sums), 1e-5);
    }
  }
}

TEST(Kernels, Avx2AndAvx512GiveTheSameBits) {
  for (const int block : {8, 16}) {
    const Kernels *narrow = kernels(block, "avx2"), *broad = kernels(block, "avx512");
    if (!narrow || !broad) GTEST_SKIP() << "this CPU has not both";
    const Fields f(block);
    const PassResults a = run_passes(*narrow, f), b = run_passes(*broad, f);
    EXPECT_EQ(a.sums, b.sums);
    for (std::size_t i = 0; i < a.outputs.size(); ++i) {
      EXPECT_EQ(std::memcmp(a.outputs[i].data(), b.outputs[i].data(), a.outputs[i].size() * sizeof(float)), 0)
          << i;
    }
  }
}

}  // namespace
}  // namespace longtail::nn::onednn
