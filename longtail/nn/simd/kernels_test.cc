// Every kernel of the portable engine against plain loops in double, on every instruction set of this
// machine, which must agree to the last bit.
#include <gtest/gtest.h>

#include "longtail/base/error.h"
#include "longtail/base/scoped_variable.h"
#include "longtail/nn/simd/simd_backend.h"
#include "longtail/nn/simd/simd_testing.h"

#include <hwy/targets.h>  // after our targets.h

namespace longtail::nn::simd {
namespace {

DirectConv as_direct(const SameConv& conv) { return {conv.side, conv.channels, conv.channels, 3, 1}; }
std::size_t count(int n) { return static_cast<std::size_t>(n); }

// Shapes with one tile, with cut tiles, with several panels in an image and several images in a panel.
struct Shape {
  SameConv conv;
  int images;
};
const Shape kShapes[] = {{{4, 64}, 17}, {{6, 16}, 3},  {{8, 64}, 5},   {{10, 32}, 2}, {{12, 48}, 2},
                         {{16, 32}, 3}, {{32, 16}, 2}, {{36, 128}, 1}, {{8, 256}, 1}};

// Made-up operands of all forms.
struct Operands {
  Floats z, other, scale, shift, other_scale, other_shift, mean, other_mean;
  Operands(std::size_t size, int channels)
      : z(made_up(1, size)),
        other(made_up(2, size)),
        scale(made_up(3, count(channels))),
        shift(made_up(4, count(channels), 0.3f)),
        other_scale(made_up(5, count(channels))),
        other_shift(made_up(6, count(channels), 0.3f)),
        mean(made_up(7, count(channels))),
        other_mean(made_up(8, count(channels))) {}
  Activation activation(Activation::Form form) const {
    return {form, z.data(), scale.data(), shift.data(), other.data(), other_scale.data(), other_shift.data()};
  }
};

void expect_forward(const Shape& shape, Activation::Form form, bool kept) {
  const auto conv = shape.conv;
  const int images = shape.images;
  const std::size_t size = pixels_of(images, conv.side, conv.channels);
  const Operands o(size, conv.channels);
  const Floats weights = made_up(9, 9 * count(conv.channels * conv.channels), 0.1f);
  const auto results = on_every_target([&](const Kernels& k, std::vector<Floats>& out) {
    Floats packed(4 * weights.size()), scratch(forward_scratch(conv)), z(size), keep(size);
    Doubles sum(count(conv.channels)), square(count(conv.channels));
    k.transform_weights(conv.channels, weights.data(), packed.data());
    Activation input = o.activation(form);
    if (kept) input.keep = keep.data();
    k.forward(conv, images, input, packed.data(), {.z = z.data(), .sum = sum.data(), .square = square.data()},
              scratch.data());
    out = {z, keep, as_floats(sum), as_floats(square)};
  });
  const Doubles in = activated(o.activation(form), size, conv.channels);
  const Doubles z = convolved(as_direct(conv), images, in, weights);
  expect_close(results[0], z, "output");
  if (kept) expect_close(results[1], in, "kept input");
  expect_close(results[2], channel_sums(size, conv.channels, [&](std::size_t i) { return z[i]; }), "sum",
               1e-4);
  expect_close(results[3], channel_sums(size, conv.channels, [&](std::size_t i) { return z[i] * z[i]; }),
               "squares");
}

TEST(SimdKernels, WinogradForwardEqualsPlainLoopsInEveryShapeAndForm) {
  for (const Shape& shape : kShapes) {
    SCOPED_TRACE("side " + std::to_string(shape.conv.side) + ", channels " +
                 std::to_string(shape.conv.channels));
    expect_forward(shape, Activation::kNorm, false);
  }
  for (const auto form :
       {Activation::kCopy, Activation::kNorm, Activation::kNormSkip, Activation::kNormNorm}) {
    SCOPED_TRACE(form);
    expect_forward({{10, 16}, 2}, form, form != Activation::kCopy);
    expect_forward({{8, 32}, 3}, form, form != Activation::kCopy);
    expect_forward({{20, 16}, 2}, form, form != Activation::kCopy);
  }
}

TEST(SimdKernels, WinogradPredictionAddsBiasAndSkipAndCutsAtZero) {
  for (const Shape& shape : kShapes) {
    for (const bool skipped : {false, true}) {
      const auto conv = shape.conv;
      const int images = shape.images;
      const std::size_t size = pixels_of(images, conv.side, conv.channels);
      const Operands o(size, conv.channels);
      const Floats weights = made_up(9, 9 * count(conv.channels * conv.channels), 0.1f);
      const auto results = on_every_target([&](const Kernels& k, std::vector<Floats>& out) {
        Floats packed(4 * weights.size()), scratch(forward_scratch(conv)), z(size);
        k.transform_weights(conv.channels, weights.data(), packed.data());
        k.forward(conv, images, {.z = o.z.data()}, packed.data(),
                  {.z = z.data(), .bias = o.shift.data(), .skip = skipped ? o.other.data() : nullptr},
                  scratch.data());
        out = {z};
      });
      Doubles expected = convolved(as_direct(conv), images, Doubles(o.z.begin(), o.z.end()), weights);
      for (std::size_t i = 0; i < size; ++i) {
        expected[i] += o.shift[i % count(conv.channels)] + (skipped ? double{o.other[i]} : 0.0);
        expected[i] = std::max(0.0, expected[i]);
      }
      expect_close(results[0], expected, "prediction");
    }
  }
}

// The five ways to finish an input's gradient.
enum class Ending { kInner, kStart, kStartBoth, kSkip, kSkipBoth };
constexpr Ending kEndings[] = {Ending::kInner, Ending::kStart, Ending::kStartBoth, Ending::kSkip,
                               Ending::kSkipBoth};

struct GradientOperands {
  Floats skip, gate;
  Operands o;
  GradientOperands(std::size_t size, int channels)
      : skip(made_up(10, size)), gate(made_up(11, size)), o(size, channels) {}
  InputGradient to(Ending ending) const {
    InputGradient g{.z = o.z.data(), .mean = o.mean.data()};
    if (ending == Ending::kInner) {
      g.scale = o.scale.data();
      g.shift = o.shift.data();
      return g;
    }
    g.gate = gate.data();
    if (ending == Ending::kSkip || ending == Ending::kSkipBoth) g.skip = skip.data();
    if (ending == Ending::kStartBoth || ending == Ending::kSkipBoth) {
      g.other = o.other.data();
      g.other_mean = o.other_mean.data();
    }
    return g;
  }
};

// Room for what a kernel leaves, and the results in the order of expect_finished.
struct Left {
  Floats d;
  Doubles sum, product, other;
  Left(std::size_t size, int channels)
      : d(size), sum(count(channels)), product(count(channels)), other(count(channels)) {}
  InputGradient in(InputGradient g) {
    g.d = d.data();
    g.sum = sum.data();
    g.product = product.data();
    g.other_product = other.data();
    return g;
  }
  std::vector<Floats> results() const { return {d, as_floats(sum), as_floats(product), as_floats(other)}; }
};
void expect_finished(const std::vector<Floats>& results, const Finished& expected, const InputGradient& g) {
  expect_close(results[0], expected.d, "gradient");
  expect_close(results[1], expected.sum, "sum", 1e-4);
  expect_close(results[2], expected.product, "product", 1e-4);
  if (g.other != nullptr) expect_close(results[3], expected.other_product, "second product", 1e-4);
}

void expect_backward(const Shape& shape, Ending ending, Activation::Form form) {
  const auto conv = shape.conv;
  const int images = shape.images;
  const std::size_t size = pixels_of(images, conv.side, conv.channels);
  const GradientOperands g(size, conv.channels);
  const Floats weights = made_up(9, 9 * count(conv.channels * conv.channels), 0.1f);
  const Floats d = made_up(12, size), z = made_up(13, size);
  const Activation dz{Activation::kGradient, d.data(), g.o.scale.data(),
                      g.o.shift.data(),      z.data(), g.o.other_scale.data()};
  const auto results = on_every_target([&](const Kernels& k, std::vector<Floats>& out) {
    Floats packed(4 * weights.size()), sums(packed.size()), scratch(backward_scratch(conv)),
        gradient(weights.size());
    Left left(size, conv.channels);
    k.transform_weights(conv.channels, exchanged(9, conv.channels, conv.channels, weights).data(),
                        packed.data());
    k.backward(conv, images, dz, g.o.activation(form), packed.data(), sums.data(), left.in(g.to(ending)),
               scratch.data());
    k.weight_gradient(conv.channels, sums.data(), gradient.data());
    out = left.results();
    out.push_back(gradient);
  });
  const Doubles output = activated(dz, size, conv.channels);
  expect_finished(
      results,
      finished(g.to(ending), input_gradient(as_direct(conv), images, output, weights), conv.channels),
      g.to(ending));
  expect_close(
      results[4],
      weight_gradient(as_direct(conv), images, activated(g.o.activation(form), size, conv.channels), output),
      "weights", 1e-5);
}

TEST(SimdKernels, WinogradBackwardEqualsPlainLoopsInEveryShapeAndForm) {
  for (const Shape& shape : kShapes) {
    SCOPED_TRACE("side " + std::to_string(shape.conv.side) + ", channels " +
                 std::to_string(shape.conv.channels));
    expect_backward(shape, Ending::kInner, Activation::kNorm);
    expect_backward(shape, Ending::kSkip, Activation::kCopy);
  }
  for (const Ending ending : kEndings) {
    expect_backward({{10, 16}, 2}, ending, Activation::kCopy);
    expect_backward({{8, 32}, 3}, ending, Activation::kNorm);
  }
}

const DirectConv kDirect[] = {{8, 3, 16, 3, 1},   {16, 1, 32, 3, 1},   {32, 3, 16, 3, 1},
                              {8, 16, 32, 3, 2},  {12, 32, 64, 3, 2},  {12, 32, 64, 1, 2},
                              {16, 16, 32, 1, 2}, {20, 128, 256, 3, 2}};

Floats on_grid(const Doubles& values, int side, int channels) {
  Floats grid(grid_floats(side, channels));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t pixel = i / count(channels), y = pixel / count(side), x = pixel % count(side);
    grid[((y + 1) * count(side + 2) + x + 1) * count(channels) + i % count(channels)] =
        static_cast<float>(values[i]);
  }
  return grid;
}

TEST(SimdKernels, DirectForwardEqualsPlainLoops) {
  for (const DirectConv& conv : kDirect) {
    SCOPED_TRACE(std::to_string(conv.side) + " " + std::to_string(conv.in) + " " +
                 std::to_string(conv.kernel));
    const Floats in = made_up(1, pixels_of(1, conv.side, conv.in));
    const Floats weights = made_up(9, count(conv.taps() * conv.in * conv.out), 0.1f);
    const Floats bias = made_up(4, count(conv.out)),
                 skip = made_up(5, pixels_of(1, conv.out_side(), conv.out));
    const Doubles input(in.begin(), in.end());
    const Floats grid = on_grid(input, conv.side, conv.in);
    const Floats packed = in_blocks(conv.taps(), conv.in, conv.out, weights);
    const std::size_t size = skip.size();
    const auto results = on_every_target([&](const Kernels& k, std::vector<Floats>& out) {
      Floats z(size), y(size), plain(size);
      Doubles sum(bias.size()), square(bias.size());
      k.direct_forward(conv, grid.data(), packed.data(),
                       {.z = z.data(), .sum = sum.data(), .square = square.data()});
      k.direct_forward(conv, grid.data(), packed.data(),
                       {.z = y.data(), .bias = bias.data(), .skip = skip.data()});
      k.direct_forward(conv, grid.data(), packed.data(),
                       {.z = plain.data(), .bias = bias.data(), .relu = false});
      out = {z, as_floats(sum), as_floats(square), y, plain};
    });
    const Doubles z = convolved(conv, 1, input, weights);
    Doubles y = z, plain = z;
    for (std::size_t i = 0; i < size; ++i) {
      plain[i] += bias[i % bias.size()];
      y[i] = std::max(0.0, plain[i] + skip[i]);
    }
    expect_close(results[0], z, "output");
    expect_close(results[1], channel_sums(size, conv.out, [&](std::size_t i) { return z[i]; }), "sum", 1e-4);
    expect_close(results[2], channel_sums(size, conv.out, [&](std::size_t i) { return z[i] * z[i]; }),
                 "squares");
    expect_close(results[3], y, "prediction");
    expect_close(results[4], plain, "prediction without ReLU");
  }
}

TEST(SimdKernels, DirectWeightGradientsEqualPlainLoops) {
  for (const DirectConv& conv : kDirect) {
    const Floats in = made_up(1, pixels_of(1, conv.side, conv.in));
    const Floats dz = made_up(2, pixels_of(1, conv.out_side(), conv.out));
    const Doubles input(in.begin(), in.end()), output(dz.begin(), dz.end());
    const Floats grid = on_grid(input, conv.side, conv.in),
                 gradient = on_grid(output, conv.out_side(), conv.out);
    const auto results = on_every_target([&](const Kernels& k, std::vector<Floats>& out) {
      out = {Floats(count(conv.taps() * conv.in * conv.out))};
      k.direct_weights(conv, grid.data(), gradient.data(), out[0].data());
    });
    expect_close(results[0], weight_gradient(conv, 1, input, output), "weights");
  }
}

TEST(SimdKernels, DirectInputGradientsEqualPlainLoopsWithAProjectionAndWithout) {
  for (const DirectConv& conv : {kDirect[3], kDirect[4], kDirect[7]}) {
    for (const Ending ending : kEndings) {
      const bool projected = ending == Ending::kStart || ending == Ending::kStartBoth;
      const DirectConv small{conv.side, conv.in, conv.out, 1, 2};
      const std::size_t size = pixels_of(1, conv.side, conv.in);
      const GradientOperands g(size, conv.in);
      const Floats weights = made_up(9, count(9 * conv.in * conv.out), 0.1f);
      const Floats small_weights = made_up(14, count(conv.in * conv.out), 0.1f);
      const Floats d = made_up(12, pixels_of(1, conv.out_side(), conv.out)), d2 = made_up(13, d.size());
      const Doubles dz(d.begin(), d.end()), dz2(d2.begin(), d2.end());
      const Floats grid = on_grid(dz, conv.out_side(), conv.out),
                   grid2 = on_grid(dz2, conv.out_side(), conv.out);
      const Floats packed = in_blocks(9, conv.out, conv.in, exchanged(9, conv.in, conv.out, weights));
      const Floats packed2 = in_blocks(1, conv.out, conv.in, exchanged(1, conv.in, conv.out, small_weights));
      const auto results = on_every_target([&](const Kernels& k, std::vector<Floats>& out) {
        Left left(size, conv.in);
        DirectGradient from{.grid = grid.data(), .weights = packed.data()};
        if (projected) {
          from.side_grid = grid2.data();
          from.side_weights = packed2.data();
        }
        k.direct_backward(conv, from, left.in(g.to(ending)));
        out = left.results();
      });
      Doubles expected = input_gradient(conv, 1, dz, weights);
      const Doubles more = input_gradient(small, 1, dz2, small_weights);
      for (std::size_t i = 0; projected && i < size; ++i) expected[i] += more[i];
      expect_finished(results, finished(g.to(ending), expected, conv.in), g.to(ending));
    }
  }
}

TEST(SimdKernels, GridsAndMeansEqualPlainLoopsInEveryForm) {
  for (const auto form : {Activation::kCopy, Activation::kNorm, Activation::kNormSkip, Activation::kNormNorm,
                          Activation::kGradient}) {
    const int side = 6, channels = 48;
    const std::size_t size = pixels_of(1, side, channels);
    const Operands o(size, channels);
    const GradientOperands g(size, channels);
    const Floats features = made_up(3, count(channels));
    const auto results = on_every_target([&](const Kernels& k, std::vector<Floats>& out) {
      out = {Floats(grid_floats(side, channels), 7.0f), Floats(size), Floats(count(channels)), Floats(size)};
      Activation a = o.activation(form);
      a.keep = out[1].data();
      k.fill_grid(side, channels, a, out[0].data());
      a.keep = out[3].data();
      k.mean_pixels(side, channels, a, out[2].data());
      Left left(size, channels);
      k.spread_gradient(side, channels, features.data(), left.in(g.to(Ending::kStartBoth)));
      for (const Floats& result : left.results()) out.push_back(result);
    });
    const Doubles expected = activated(o.activation(form), size, channels);
    const Floats grid = on_grid(expected, side, channels);
    expect_close(results[0], Doubles(grid.begin(), grid.end()), "grid");
    expect_close(results[1], expected, "kept");
    expect_close(results[3], expected, "kept by the mean");
    Doubles mean = channel_sums(size, channels, [&](std::size_t i) { return expected[i] / (side * side); });
    expect_close(results[2], mean, "mean", 1e-5);
    Doubles spread(size);
    for (std::size_t i = 0; i < size; ++i) spread[i] = features[i % count(channels)] / double{side * side};
    const InputGradient to = g.to(Ending::kStartBoth);
    expect_finished({results.begin() + 4, results.end()}, finished(to, spread, channels), to);
  }
}

TEST(SimdKernels, ANumberThatIsNoneIsNotLostInAReLU) {
  const SameConv conv{8, 16};
  const std::size_t size = pixels_of(1, conv.side, conv.channels);
  Operands o(size, conv.channels);
  o.z[3] = std::nanf("");
  const Floats weights = made_up(9, 9 * 16 * 16, 0.1f);
  for (const Cpu target : available_cpus()) {
    const Kernels& k = kernels_for(target);
    Floats packed(4 * weights.size()), scratch(forward_scratch(conv)), z(size);
    Doubles sum(16), square(16);
    k.transform_weights(16, weights.data(), packed.data());
    k.forward(conv, 1, o.activation(Activation::kNorm), packed.data(),
              {.z = z.data(), .sum = sum.data(), .square = square.data()}, scratch.data());
    EXPECT_TRUE(std::isnan(sum[0])) << base::cpu_name(target);
  }
}

TEST(SimdTargets, ACpuThatIsNotThereIsRefusedByName) {
  const base::ScopedVariable none("LONGTAIL_CPU", std::nullopt);
  EXPECT_EQ(kernel_cpu(), available_cpus().front());
  const base::ScopedVariable slowest("LONGTAIL_CPU", base::cpu_name(available_cpus().back()));
  EXPECT_EQ(kernel_cpu(), available_cpus().back());
  const base::ScopedVariable unknown("LONGTAIL_CPU", "avx1024");
  try {
    kernel_cpu();
    ADD_FAILURE() << "avx1024 was found";
  } catch (const base::Error& error) {
    EXPECT_NE(std::string(error.what()).find("LONGTAIL_CPU=avx1024"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find(base::cpu_name(available_cpus().back())), std::string::npos)
        << error.what();
  }
}

// As on a CPU that has vectors but not all that Highway wants beside them. Highway is asked by available_cpus()
// alone; the kernels are chosen by name.
TEST(SimdTargets, ACpuOfWhichHighwayKnowsLessIsTakenForWhatBothKnow) {
  const base::ScopedVariable none("LONGTAIL_CPU", std::nullopt);
  const Cpu fastest = kernel_cpu();
  kernels_for(fastest);  // the tables are made once, of all that is here
  hwy::SetSupportedTargetsForTest(HWY_EMU128);
  const Cpu taken = kernel_cpu();
  const std::vector<Cpu> known = available_cpus();
  const bool made = make_simd_backend(make_spec("resnet20", "pad", 10, 3), 2, 1) != nullptr;
  hwy::SetSupportedTargetsForTest(0);
#if defined(__aarch64__)
  EXPECT_EQ(taken, Cpu::kNeon);  // without AES too
#else
  EXPECT_EQ(taken, Cpu::kScalar);
#endif
  EXPECT_EQ(known.front(), taken);
  EXPECT_EQ(kernels_for(taken).name, std::string(base::cpu_name(taken)));
  EXPECT_TRUE(made);
  EXPECT_EQ(kernel_cpu(), fastest);
}

}  // namespace
}  // namespace longtail::nn::simd
