// Times the kernels of the amx engine one by one, on one thread and one image at a time, and prints how far
// each is from the machine's limits: the tile peak and the read bandwidth of its caches, both measured in the
// same run.
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
#include "longtail/nn/amx/geometry.h"
#include "longtail/nn/amx/peak.h"
#include "longtail/nn/buffer.h"

namespace {

using namespace longtail::nn::amx;
using longtail::nn::Buffer;

// CPU time of this thread, so that other load on the machine counts less.
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
  fmt::print("{:38} {:9.2f} us {:8.0f} GFLOP/s {:4.0f}%  {:7.1f} GB/s {:4.0f}%\n", what, seconds * 1e6,
             flops / 1e9, 100 * flops / tile_peak, bytes / seconds / 1e9, 100 * bytes / seconds / l1_peak);
}

struct Data {
  Buffer<Bf16> a, b, c, d, e, grid, weights;
  Buffer<LowBits> low;
  Buffer<float> sums;
  std::vector<float> coefficients;
  std::vector<double> totals;
  Data()
      : a(1 << 19),
        b(1 << 19),
        c(1 << 19),
        d(1 << 19),
        e(1 << 19),
        grid(1 << 17),
        weights(1 << 18),
        low(1 << 19),
        sums(1 << 18),
        coefficients(64, 0.5f),
        totals(256) {
    for (Buffer<Bf16>* v : {&a, &b, &c, &d, &weights}) {
      for (std::size_t i = 0; i < v->size(); ++i) (*v)[i] = static_cast<Bf16>(0x3f00 + i % 97);
    }
  }
};

// Whether other work runs on this core (on its other hyperthread), and what keeping the tile instructions
// apart gains in that case: see tile.h.
void neighbours(const Data& data) {
  const TileScope tiles;
  constexpr long kChunks = 50;
  std::vector<double> times[2];
  for (int r = 0; r < 10 * rounds; ++r) {
    for (const bool apart : {false, true}) {
      const double start = now();
      tile_chunks(data.a.data(), kChunks, apart);
      times[apart].push_back((now() - start) / (12 * kChunks) * 1e9);
    }
  }
  for (auto& each : times) std::sort(each.begin(), each.end());
  const auto at = [&](int apart, double share) {
    return times[apart][static_cast<std::size_t>(share * static_cast<double>(times[apart].size() - 1))];
  };
  fmt::print(
      "a multiply with its share of loads, ns, least / median / 90th percentile: {:.1f} / {:.1f} / {:.1f} "
      "close together, {:.1f} / {:.1f} / {:.1f} apart\n",
      at(0, 0), at(0, 0.5), at(0, 0.9), at(1, 0), at(1, 0.5), at(1, 0.9));
}

const char* name(ConvKind kind) {
  static const char* const names[] = {"first 32x32", "16 ch 32x32", "16->32 /2",
                                      "32 ch 16x16", "32->64 /2",   "64 ch 8x8"};
  return names[static_cast<std::size_t>(kind)];
}

GridSource source_of(Data& data, const Geometry& g, GridSource::Form form) {
  GridSource source{};
  source.form = form;
  source.channels = g.in_channels;
  source.main = data.a.data();
  source.side = data.b.data();
  source.main_scale = source.main_shift = source.side_scale = source.side_shift = data.coefficients.data();
  source.image = form == GridSource::kNormSkip ? data.e.data() : nullptr;
  source.grid = data.grid.data();
  source.runs = g.grid.runs.data();
  return source;
}

GradientEpilogue epilogue_of(Data& data, bool at_block) {
  GradientEpilogue e{};
  const float* k = data.coefficients.data();
  e.skip = at_block ? data.b.data() : nullptr;
  e.mask = at_block ? data.c.data() : nullptr;
  e.scale = e.shift = k;
  e.first = {data.c.data(), k, data.totals.data(), data.totals.data() + 64};
  e.d = data.a.data();
  return e;
}

// A convolution of stride 1 with everything around it, as the passes of a training step call it.
void same_kind(Data& data, const Geometry& g) {
  const double products = 9.0 * g.in_channels * g.out_channels * g.out_pixels;
  const double image = 2.0 * g.out_pixels * g.out_channels;
  const auto conv = [&](GridSource::Form form) {
    return image_conv(g, source_of(data, g, form), data.weights.data());
  };
  double* totals = data.totals.data();
  const float* k = data.coefficients.data();
  line("  to the grid: bn, relu", best([&] {
         fill_grid(source_of(data, g, GridSource::kNorm), 0, static_cast<int>(g.grid.runs.size()));
       }),
       0, 2 * image);
  line("  forward: bn, relu; statistics",
       best([&] { conv_statistics(conv(GridSource::kNorm), data.d.data(), totals, totals + 64); }), products,
       2 * image);
  line("  forward: bn, skip, relu; statistics",
       best([&] { conv_statistics(conv(GridSource::kNormSkip), data.d.data(), totals, totals + 64); }),
       products, 4 * image);
  const auto fine = [&](GridSource::Form form) {
    ImageConv parts = conv(form);
    parts.source.main_low = data.low.data();
    parts.source.side_low = data.low.data() + (1 << 17);
    parts.source.image_low = data.low.data() + (2 << 17);
    parts.source.grid_low = data.grid.data() + (1 << 16);
    parts.low_weights = data.weights.data() + (1 << 17);
    return parts;
  };
  const auto fine_forward = [&](GridSource::Form form) {
    conv_statistics_parts(fine(form), data.d.data(), data.low.data() + (3 << 17), totals, totals + 64);
  };
  line("  the same in two parts: to the grid",
       best([&] { fill_grid(fine(GridSource::kNorm).source, 0, static_cast<int>(g.grid.runs.size())); }), 0,
       3.5 * image);
  line("  forward: bn, relu", best([&] { fine_forward(GridSource::kNorm); }), 3 * products, 3 * image);
  line("  forward: bn, skip, relu", best([&] { fine_forward(GridSource::kNormSkip); }), 3 * products,
       6 * image);
  line("  predict: bias, skip, relu",
       best([&] { conv_activation(conv(GridSource::kCopy), k, data.c.data(), data.d.data()); }), products,
       3 * image);
  line("  data gradient inside a block",
       best([&] { conv_gradient(conv(GridSource::kBackward), epilogue_of(data, false)); }), products,
       4 * image);
  line("  data gradient at a block's input",
       best([&] { conv_gradient(conv(GridSource::kBackward), epilogue_of(data, true)); }), products,
       6 * image);
}

void other_kind(Data& data, const Geometry& g) {
  const double products = 9.0 * g.in_channels * g.out_channels * g.out_pixels;
  const ConvShape shape{g.chunk_offset.data(), static_cast<int>(g.chunk_offset.size()), g.out_channels / 16,
                        g.row_stride};
  line("  forward: statistics", best([&] {
         for (int s = 0; s < g.strips(); ++s) {
           conv_strip(shape, data.grid.data(), g.tile_offset.data() + 4 * s, data.weights.data(), nullptr,
                      data.sums.data());
           store_statistics(g.out_channels, data.sums.data(), data.d.data() + s * 64 * g.out_channels,
                            nullptr, data.totals.data(), data.totals.data() + 64);
         }
       }),
       products, 2.0 * g.in_pixels * g.in_channels + 2.0 * g.out_pixels * g.out_channels);
}

void weight_gradients(Data& data, const Geometry& g) {
  const double products = 9.0 * g.in_channels * g.out_channels * g.out_pixels;
  const double in = 2.0 * g.in_pixels * g.in_channels, out = 2.0 * g.out_pixels * g.out_channels;
  const int channels = g.kind == ConvKind::kFirst ? 32 : g.in_channels;
  const WeightGradientShape shape{g.pair_chunk.data(),
                                  g.order.chunks(),
                                  g.pair_column.data(),
                                  static_cast<int>(g.pair_column.size()),
                                  g.out_channels / 16,
                                  g.pair_stride,
                                  static_cast<std::ptrdiff_t>(out),
                                  static_cast<std::ptrdiff_t>(4 * g.pairs.positions * channels)};
  const int group = g.out_channels == 64 ? 4 : 1;
  line("  weight gradient: tiles",
       best([&] { weight_gradient(shape, group, data.a.data(), data.b.data(), false, data.sums.data()); }) /
           group,
       products, in + out);
  line("  weight gradient: input in pairs",
       best([&] { interleave_pixels(g.pairs.layout(), channels, data.a.data(), data.b.data()); }), 0, 2 * in);
  if (g.kind != ConvKind::kFirst) {
    const float* k = data.coefficients.data();
    line("  the same with bn, relu",
         best([&] { interleave_normed(g.pairs.layout(), channels, data.a.data(), k, k, data.b.data()); }), 0,
         2 * in);
  }
  line("  weight gradient: channel-major", best([&] {
         transpose_pixels(g.order.chunks(), g.order.first.data(), g.order.pair_distance, g.out_channels,
                          data.grid.data(), data.b.data());
       }),
       0, 2 * out);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1) rounds = std::atoi(argv[1]);
  if (std::string why; !longtail::nn::amx_available(&why)) {
    fmt::print("the amx engine cannot run here: {}\n", why);
    return 0;
  }
  Data data;
  {
    const TileScope tiles;
    tile_peak = 4.0 * 2 * 16 * 16 * 32 * 1000 / best([&] { peak_multiplies(data.a.data(), 1000); });
  }
  neighbours(data);
  std::vector<char> memory(std::size_t{192} << 20, 1);
  const auto reading = [&](std::size_t bytes) {
    return static_cast<double>(bytes) / best([&] { peak_read(memory.data(), bytes); });
  };
  l1_peak = reading(16 << 10);
  fmt::print(
      "peaks of one thread: {:.0f} GFLOP/s in bf16 tiles; reading {:.0f} GB/s from L1, {:.0f} from L2, "
      "{:.0f} from 16 MB, "
      "{:.0f} from 192 MB\n",
      tile_peak / 1e9, l1_peak / 1e9, reading(1 << 20) / 1e9, reading(16 << 20) / 1e9,
      reading(memory.size()) / 1e9);
  fmt::print("per image; percent of the tile peak and of reading from L1\n");
  const TileScope tiles;
  for (int kind = 0; kind < kKinds; ++kind) {
    const Geometry g = make_geometry(static_cast<ConvKind>(kind));
    fmt::print("{}\n", name(g.kind));
    g.same() ? same_kind(data, g) : other_kind(data, g);
    weight_gradients(data, g);
  }
}
