// The Winograd kernels of the portable engine, one thread: microseconds per image, and the speed-up over a
// direct convolution that would run at the measured peak of fused multiply-adds.
//   bench_simd_kernels [images]        128 by default: mostly not in cache, as in a training step; at least
//                                      16, the images of a slice, and rounded down to a multiple of 16
// LONGTAIL_CPU=avx2 and so on force an instruction set.
#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "longtail/nn/buffer.h"
#include "longtail/nn/simd/targets.h"

using namespace longtail::nn;
using namespace longtail::nn::simd;

namespace {

double thread_seconds() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

Buffer<float> made_up(std::size_t size, unsigned seed) {
  Buffer<float> values(size);
  for (std::size_t i = 0; i < size; ++i) {
    seed = seed * 1664525u + 1013904223u;
    values[i] = static_cast<float>(seed) * 0x1p-31f - 1;
  }
  return values;
}

// Multiply-adds per second of a direct product that stays in the first-level cache: a 1x1 convolution of 64
// channels.
double direct_peak(const Kernels& k) {
  const DirectConv conv{8, 64, 64, 1, 1};
  const Buffer<float> grid = made_up(grid_floats(8, 64), 1), weights = made_up(64 * 64, 2);
  Buffer<float> out(8 * 8 * 64), bias(64);
  const int turns = 400;
  const double start = thread_seconds();
  for (int i = 0; i < turns; ++i) {
    k.direct_forward(conv, grid.data(), weights.data(), {.z = out.data(), .bias = bias.data()});
  }
  return turns * 64.0 * 64 * 64 / (thread_seconds() - start);
}

struct Operands {
  SameConv conv;
  int images;
  std::size_t size;
  Buffer<float> z, x, d, kept, out, scale, shift, weights, packed, sums, scratch;
  std::vector<double> sum, product;

  Operands(const Kernels& k, SameConv shape, int count)
      : conv(shape), images(count), size(static_cast<std::size_t>(shape.side * shape.side * shape.channels)) {
    const std::size_t all = size * static_cast<std::size_t>(count);
    const auto channels = static_cast<std::size_t>(shape.channels);
    z = made_up(all, 1);
    x = made_up(all, 2);
    d = made_up(all, 3);
    kept = Buffer<float>(all);
    out = Buffer<float>(all);
    scale = made_up(channels, 4);
    shift = made_up(channels, 5);
    weights = made_up(9 * channels * channels, 6);
    packed = Buffer<float>(36 * channels * channels);
    sums = Buffer<float>(36 * channels * channels);
    scratch = Buffer<float>(std::max(forward_scratch(conv), backward_scratch(conv)));
    sum.resize(channels);
    product.resize(channels);
    k.transform_weights(shape.channels, weights.data(), packed.data());
  }
};

constexpr int kSlice = 16;
using Pass = void (*)(const Kernels&, Operands&, std::size_t);

void inside(const Kernels& k, Operands& o, std::size_t at) {
  k.forward(
      o.conv, kSlice,
      {.form = Activation::kNorm, .z = o.z.data() + at, .scale = o.scale.data(), .shift = o.shift.data()},
      o.packed.data(), {.z = o.out.data() + at, .sum = o.sum.data(), .square = o.product.data()},
      o.scratch.data());
}
void at_input(const Kernels& k, Operands& o, std::size_t at) {
  k.forward(o.conv, kSlice,
            {.form = Activation::kNormSkip,
             .z = o.z.data() + at,
             .scale = o.scale.data(),
             .shift = o.shift.data(),
             .other = o.x.data() + at,
             .keep = o.kept.data() + at},
            o.packed.data(), {.z = o.out.data() + at, .sum = o.sum.data(), .square = o.product.data()},
            o.scratch.data());
}
void predict(const Kernels& k, Operands& o, std::size_t at) {
  k.forward(o.conv, kSlice, {.z = o.z.data() + at}, o.packed.data(),
            {.z = o.out.data() + at, .bias = o.shift.data(), .skip = o.x.data() + at}, o.scratch.data());
}
Activation output_gradient(const Operands& o, std::size_t at) {
  return {.form = Activation::kGradient,
          .z = o.d.data() + at,
          .scale = o.scale.data(),
          .shift = o.shift.data(),
          .other = o.z.data() + at,
          .other_scale = o.shift.data()};
}
void back_inside(const Kernels& k, Operands& o, std::size_t at) {
  const Activation in{
      .form = Activation::kNorm, .z = o.x.data() + at, .scale = o.scale.data(), .shift = o.shift.data()};
  k.backward(o.conv, kSlice, output_gradient(o, at), in, o.packed.data(), o.sums.data(),
             {.z = o.x.data() + at,
              .mean = o.shift.data(),
              .scale = o.scale.data(),
              .shift = o.shift.data(),
              .d = o.out.data() + at,
              .sum = o.sum.data(),
              .product = o.product.data()},
             o.scratch.data());
}
void back_at_input(const Kernels& k, Operands& o, std::size_t at) {
  k.backward(o.conv, kSlice, output_gradient(o, at), {.z = o.x.data() + at}, o.packed.data(), o.sums.data(),
             {.skip = o.d.data() + at,
              .gate = o.x.data() + at,
              .z = o.kept.data() + at,
              .mean = o.shift.data(),
              .d = o.out.data() + at,
              .sum = o.sum.data(),
              .product = o.product.data()},
             o.scratch.data());
}

double fastest(const Kernels& k, Operands& o, Pass pass) {
  double best = 1e9;
  for (int turn = 0; turn < 5; ++turn) {
    const double start = thread_seconds();
    for (int first = 0; first + kSlice <= o.images; first += kSlice)
      pass(k, o, static_cast<std::size_t>(first) * o.size);
    best = std::min(best, thread_seconds() - start);
  }
  return best / o.images;
}

}  // namespace

int main(int argc, char** argv) {
  const int images = argc > 1 ? std::atoi(argv[1]) / kSlice * kSlice : 128;
  if (images < kSlice) {
    fmt::print(stderr,
               "bench_simd_kernels: `{}` images; the kernels take {} at a time, so give at least as many\n",
               argv[1], kSlice);
    return 2;
  }
  const Kernels& k = kernels_for(kernel_cpu());
  double peak = 0;
  for (int i = 0; i < 5; ++i) peak = std::max(peak, direct_peak(k));
  fmt::print("{}; direct products in cache: {:.1f} G multiply-adds per second\n", k.name, peak / 1e9);
  const struct {
    const char* name;
    Pass pass;
    double convolutions;
  } passes[] = {{"forward inside a block", inside, 1},
                {"forward at a block's input", at_input, 1},
                {"prediction", predict, 1},
                {"backward inside a block", back_inside, 2},
                {"backward at a block's input", back_at_input, 2}};
  for (const SameConv conv : {SameConv{32, 16}, SameConv{16, 32}, SameConv{8, 64}}) {
    Operands o(k, conv, images);
    fmt::print("{} channels, {}x{}\n", conv.channels, conv.side, conv.side);
    const double work = 9.0 * conv.channels * conv.channels * conv.side * conv.side;
    for (const auto& [name, pass, convolutions] : passes) {
      const double seconds = fastest(k, o, pass);
      fmt::print("  {:<28}{:>7.1f} us per image{:>8.2f} x direct\n", name, seconds * 1e6,
                 convolutions * work / peak / seconds);
    }
  }
}
