// Times the kernels of the amx engine one by one, on one thread and one image at a time, and says how far each is from what the
// machine can do: the tile peak and the reading speed of its caches, both measured in the same run.
//
//   build/bench/bench_amx_kernels [rounds]
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "longtail/nn/amx/amx_engine.h"
#include "longtail/nn/amx/buffer.h"
#include "longtail/nn/amx/geometry.h"
#include "longtail/nn/amx/peak.h"

namespace {

using namespace longtail::nn::amx;

// CPU time of this thread: what others run on the machine counts less.
double now() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

int rounds = 30;

// Seconds of the fastest of many short runs.
double best(const std::function<void()>& work) {
  double time = 1e9;
  for (int r = 0; r < rounds; ++r) {
    int repeats = 1;
    for (;;) {
      const double start = now();
      for (int i = 0; i < repeats; ++i) work();
      const double elapsed = now() - start;
      if (elapsed > 2e-4) {
        time = std::min(time, elapsed / repeats);
        break;
      }
      repeats *= 2;
    }
  }
  return time;
}

double tile_peak = 1, l1_peak = 1;

void line(const std::string& what, double seconds, double products, double bytes) {
  const double flops = 2 * products / seconds;
  fmt::print("{:34} {:9.2f} us {:8.0f} GFLOP/s {:4.0f}%  {:7.1f} GB/s {:4.0f}%\n", what, seconds * 1e6, flops / 1e9,
             100 * flops / tile_peak, bytes / seconds / 1e9, 100 * bytes / seconds / l1_peak);
}

struct Data {
  Buffer<Bf16> a, b, c, d, weights;
  Buffer<float> sums;
  std::vector<float> coefficients;
  std::vector<double> totals;
  Data() : a(1 << 19), b(1 << 19), c(1 << 19), d(1 << 19), weights(1 << 18), sums(1 << 18), coefficients(64, 0.5f),
           totals(256) {
    for (Buffer<Bf16>* v : {&a, &b, &c, &d, &weights}) {
      for (std::size_t i = 0; i < v->size(); ++i) (*v)[i] = static_cast<Bf16>(0x3f00 + i % 97);
    }
  }
};

const char* name(Kind kind) {
  static const char* const names[] = {"first 32x32", "16 ch 32x32", "16->32 /2", "32 ch 16x16", "32->64 /2", "64 ch 8x8"};
  return names[static_cast<std::size_t>(kind)];
}

void convolutions(Data& data, Kind kind) {
  const Geometry g = make_geometry(kind);
  const ConvShape shape{g.chunk_offset.data(), static_cast<int>(g.chunk_offset.size()), g.out_channels / 16,
                        g.row_stride};
  const double products = 9.0 * g.in_channels * g.out_channels * g.out_pixels;
  const double in_bytes = 2.0 * g.in_pixels * g.in_channels, out_bytes = 2.0 * g.out_pixels * g.out_channels;
  const auto tile_scope = std::make_unique<TileScope>();
  line(fmt::format("convolution {}", name(kind)), best([&] {
         for (int s = 0; s < g.strips(); ++s) {
           conv_strip(shape, data.a.data(), g.tile_offset.data() + 4 * s, data.weights.data(), data.sums.data());
         }
       }),
       products, in_bytes + 4.0 * g.out_pixels * g.out_channels);
  line(fmt::format("  + statistics"), best([&] {
         for (int s = 0; s < g.strips(); ++s) {
           conv_strip(shape, data.a.data(), g.tile_offset.data() + 4 * s, data.weights.data(), data.sums.data());
           store_statistics(g.out_channels, data.sums.data(), data.b.data() + s * 64 * g.out_channels,
                            data.totals.data(), data.totals.data() + 64);
         }
       }),
       products, in_bytes + out_bytes);
  const WeightGradientShape weights{g.pair_chunk.data(),
                                    g.order.chunks(),
                                    g.pair_column.data(),
                                    static_cast<int>(g.pair_column.size()),
                                    g.out_channels / 16,
                                    g.pair_stride,
                                    static_cast<std::ptrdiff_t>(out_bytes),
                                    static_cast<std::ptrdiff_t>(4 * g.pairs.positions * g.in_channels)};
  const int group = g.out_channels == 64 ? 4 : 1;
  line("  weight gradient", best([&] {
         weight_gradient(weights, group, data.a.data(), data.b.data(), false, data.sums.data());
       }) / group,
       products, in_bytes + out_bytes);
}

void layouts(Data& data, Kind kind) {
  const Geometry g = make_geometry(kind);
  const double in_bytes = 2.0 * g.in_pixels * g.in_channels, out_bytes = 2.0 * g.out_pixels * g.out_channels;
  if (kind != Kind::kFirst) {
    line(fmt::format("to the grid {}", name(kind)), best([&] {
           copy_pixels(g.grid.runs.data(), static_cast<int>(g.grid.runs.size()), g.in_channels, data.a.data(),
                       data.b.data());
         }),
         0, 2 * in_bytes);
    line("  in pairs", best([&] {
           interleave_pixels(g.pairs.runs.data(), static_cast<int>(g.pairs.runs.size()), g.in_channels, data.a.data(),
                             data.b.data());
         }),
         0, 2 * in_bytes);
  }
  line("  channel-major", best([&] {
         transpose_pixels(g.order.chunks(), g.order.first.data(), g.order.pair_distance, g.out_channels, data.a.data(),
                          data.b.data());
       }),
       0, 2 * out_bytes);
}

void norms(Data& data, int pixels, int channels) {
  const double bytes = 2.0 * pixels * channels;
  const float* k = data.coefficients.data();
  const std::string what = fmt::format("{} ch", channels);
  line("bn + relu " + what, best([&] { bn_relu(pixels, channels, data.a.data(), k, k, data.b.data()); }), 0, 2 * bytes);
  line("bn + skip + relu " + what,
       best([&] { bn_add_relu(pixels, channels, data.a.data(), k, k, data.c.data(), data.b.data()); }), 0, 3 * bytes);
  line("bn backward " + what,
       best([&] { bn_backward(pixels, channels, data.a.data(), data.c.data(), k, k, k, data.b.data()); }), 0, 3 * bytes);
  const auto epilogue = [&](bool mask) {
    GradientEpilogue e{};
    e.skip = mask ? data.b.data() : nullptr;
    e.mask = mask ? data.c.data() : nullptr;
    e.scale = e.shift = k;
    e.first = {data.a.data(), k, data.totals.data(), data.totals.data() + 64};
    e.d = data.d.data();
    for (int s = 0; s < pixels / 64; ++s) {
      const RowRun run{0, 64 * s, 64};
      store_gradient(channels, data.sums.data(), &run, 1, e);
    }
  };
  line("gradient epilogue inner " + what, best([&] { epilogue(false); }), 0, 2 * bytes);
  line("gradient epilogue skip " + what, best([&] { epilogue(true); }), 0, 4 * bytes);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1) rounds = std::atoi(argv[1]);
  if (std::string why; !longtail::nn::amx_available(&why)) {
    fmt::print("the amx engine cannot run here: {}\n", why);
    return 0;
  }
  {
    const TileScope tiles;
    tile_peak = 4.0 * 2 * 16 * 16 * 32 * 1000 / best([] { peak_multiplies(1000); });
  }
  std::vector<char> memory(std::size_t{192} << 20, 1);
  const auto reading = [&](std::size_t bytes) {
    return static_cast<double>(bytes) / best([&] { peak_read(memory.data(), bytes); });
  };
  l1_peak = reading(16 << 10);
  fmt::print("peaks of one thread: {:.0f} GFLOP/s in bf16 tiles; reading {:.0f} GB/s from L1, {:.0f} from L2, {:.0f} from 16 MB, "
             "{:.0f} from 192 MB\n",
             tile_peak / 1e9, l1_peak / 1e9, reading(1 << 20) / 1e9, reading(16 << 20) / 1e9,
             reading(memory.size()) / 1e9);
  fmt::print("per image; percent of the tile peak and of reading from L1\n");
  Data data;
  for (int kind = 0; kind < kKinds; ++kind) convolutions(data, static_cast<Kind>(kind));
  for (int kind = 0; kind < kKinds; ++kind) layouts(data, static_cast<Kind>(kind));
  norms(data, 1024, 16);
  norms(data, 256, 32);
  norms(data, 64, 64);
}
