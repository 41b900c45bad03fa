#include "longtail/nn/amx/geometry.h"

#include <algorithm>

namespace longtail::nn::amx {
namespace {

// ---- grids ----

// A plain border around side x side pixels.
Grid plain_grid(int side) {
  Grid grid;
  const int pitch = side + 2;
  for (int y = 0; y < side; ++y) grid.runs.push_back({y * side, 1, (y + 1) * pitch + 1, 1, side});
  const int strip_rows = 4;
  for (int y = 0; y < side; y += strip_rows) grid.run_end.push_back(std::min(y + strip_rows + 1, side));
  grid.positions = pitch * pitch + 4;
  return grid;
}

// [9][even | odd][9][2] for 16x16 images: padded row r + 8h, padded column 2c + parity.
Grid down32_grid() {
  Grid grid;
  for (int r = 0; r < 9; ++r) {
    for (int h = 0; h < 2; ++h) {
      const int y = r + 8 * h - 1;
      if (y < 0 || y >= 16) continue;
      grid.runs.push_back({y * 16 + 1, 2, ((r * 2 + 0) * 9 + 1) * 2 + h, 2, 8});
      grid.runs.push_back({y * 16, 2, (r * 2 + 1) * 18 + h, 2, 8});
    }
  }
  grid.positions = 9 * 36;
  return grid;
}

// [6][10][2] for 8x8 images: padded row r + 4h.
Grid same64_grid() {
  Grid grid;
  grid.runs.push_back({interleaved8(3, 0), 2, 1 * 2 + 1, 2, 8});
  for (int r = 1; r < 5; ++r) grid.runs.push_back({(r - 1) * 16, 1, (r * 10 + 1) * 2, 1, 16});
  grid.runs.push_back({interleaved8(4, 0), 2, (5 * 10 + 1) * 2, 2, 8});
  grid.run_end = {static_cast<std::int32_t>(grid.runs.size())};
  grid.positions = 6 * 20;
  return grid;
}

// ---- pairs ----

// The first pixel of a row of the image, -1 outside.
int row_start(int y, int side, int first) { return y < 0 || y >= side ? -1 : y * side + first; }

PairGrid plain_pairs(int side) {
  PairGrid grid;
  const int pitch = side + 2, half = side / 2;
  for (int r = 0; r < half + 2; ++r) {
    grid.runs.push_back(
        {row_start(r - 1, side, 0), row_start(r - 1 + half, side, 0), 1, r * pitch + 1, 1, side});
  }
  grid.positions = (half + 2) * pitch;
  return grid;
}

// [5][even | odd][9][2] for 16x16 images: padded rows r + 4q and r + 4q + 8.
PairGrid down32_pairs() {
  PairGrid grid;
  for (int r = 0; r < 5; ++r) {
    for (int q = 0; q < 2; ++q) {
      const int y = r + 4 * q - 1;
      grid.runs.push_back(
          {row_start(y, 16, 1), row_start(y + 8, 16, 1), 2, ((r * 2 + 0) * 9 + 1) * 2 + q, 2, 8});
      grid.runs.push_back({row_start(y, 16, 0), row_start(y + 8, 16, 0), 2, (r * 2 + 1) * 18 + q, 2, 8});
    }
  }
  grid.positions = 5 * 36;
  return grid;
}

// [4][10][2] for 8x8 images: padded rows r + 2q and r + 2q + 4.
PairGrid same64_pairs() {
  PairGrid grid;
  const auto start = [](int y) { return y < 0 || y >= 8 ? -1 : interleaved8(y, 0); };
  for (int r = 0; r < 4; ++r) {
    for (int q = 0; q < 2; ++q) {
      const int y = r + 2 * q - 1;
      grid.runs.push_back({start(y), start(y + 4), 2, (r * 10 + 1) * 2 + q, 2, 8});
    }
  }
  grid.positions = 4 * 20;
  return grid;
}

PixelOrder order_of(int side) {
  PixelOrder order;
  if (side == 8) {
    for (int y = 0; y < 2; ++y) {
      for (int i = 0; i < 16; ++i) order.first.push_back(((y + 2 * (i % 2) + 1) * 10 + i / 2 + 1) * 2);
    }
    order.pair_distance = 1;
    return order;
  }
  const int pitch = side + 2;
  for (int y = 0; y < side / 2; ++y) {
    for (int x = 0; x < side; ++x) order.first.push_back((y + 1) * pitch + x + 1);
  }
  order.pair_distance = side / 2 * pitch;
  return order;
}

// ---- offsets of taps ----

// Positions from the start of a tile's window to tap (dy, dx).
int tap_position(ConvKind kind, int dy, int dx) {
  switch (kind) {
    case ConvKind::kFirst:
      return 0;
    case ConvKind::kSame16:
    case ConvKind::kDown16:
      return dy * 34 + dx;
    case ConvKind::kSame32:
      return dy * 18 + dx;
    case ConvKind::kDown32:
      return dy * 36 + (dx % 2) * 18 + (dx / 2) * 2;
    case ConvKind::kSame64:
      return dy * 20 + dx * 2;
  }
  return 0;
}

// Offsets of a Same kind: the chunks of one row of the kernel.
void set_same_offsets(Geometry& g) {
  const int pixel = 2 * g.in_channels;
  g.row_pitch = tap_position(g.kind, 1, 0) * pixel;
  if (g.kind == ConvKind::kSame16) {
    g.chunk_offset = {0, 64};
    g.row_stride = 64;
    g.outputs = 2;
    return;
  }
  for (int dx = 0; dx < 3; ++dx) {
    for (int half = 0; half < g.in_channels / 32; ++half) {
      g.chunk_offset.push_back(tap_position(g.kind, 0, dx) * pixel + half * 64);
    }
  }
  g.row_stride = pixel;
  g.outputs = g.out_channels / 16;
}

void set_conv_offsets(Geometry& g) {
  const int pixel = 2 * (g.kind == ConvKind::kFirst ? 32 : g.in_channels);
  for (int tile = 0; tile < g.out_pixels / 16; ++tile) {
    const int position = g.kind == ConvKind::kFirst    ? tile * 16
                         : g.kind == ConvKind::kDown16 ? tile * 2 * 34
                                                       : tile * 2 * 36;
    g.tile_offset.push_back(position * pixel);
  }
  g.row_stride = g.kind == ConvKind::kDown16 ? 2 * pixel : pixel;
  if (g.kind == ConvKind::kFirst) {
    g.chunk_offset = {0};
  } else if (g.in_channels == 16) {
    for (int dy = 0; dy < 3; ++dy) {
      for (int dx = 0; dx < 4; dx += 2) g.chunk_offset.push_back(tap_position(g.kind, dy, dx) * pixel);
    }
  } else {
    for (int tap = 0; tap < 9; ++tap) {
      g.chunk_offset.push_back(tap_position(g.kind, tap / 3, tap % 3) * pixel);
    }
  }
}

void set_pair_offsets(Geometry& g) {
  const int channels = g.kind == ConvKind::kFirst ? 32 : g.in_channels;
  const int pair = 64, plane = g.pairs.positions * pair;  // of sixteen channels
  for (int chunk = 0; chunk < g.order.chunks(); ++chunk) {
    int position = 0;
    switch (g.kind) {
      case ConvKind::kFirst:
        position = chunk * 16;
        break;
      case ConvKind::kSame16:
        position = (chunk / 2) * 34 + (chunk % 2) * 16;
        break;
      case ConvKind::kDown16:
        position = chunk * 2 * 34;
        break;
      case ConvKind::kSame32:
        position = chunk * 18;
        break;
      case ConvKind::kDown32:
        position = chunk * 2 * 36;
        break;
      case ConvKind::kSame64:
        position = chunk * 20;
        break;
    }
    g.pair_chunk.push_back(position * pair);
  }
  g.pair_stride = g.kind == ConvKind::kDown16 ? 2 * pair : pair;
  for (int tile = 0; tile < channels / 16; ++tile) {
    for (int tap = 0; tap < (g.kind == ConvKind::kFirst ? 1 : 9); ++tap) {
      g.pair_column.push_back(tap_position(g.kind, tap / 3, tap % 3) * pair + tile * plane);
    }
    g.middle_column.push_back(tap_position(g.kind, 1, 1) * pair + tile * plane);
  }
}

// The input channel and tap of element k of a chunk; tap -1 for a zero weight.
struct Element {
  int channel;
  int tap;
};
Element down_element(int channels, int chunk, int k) {
  if (channels == 32) return {k, chunk};
  const int dx = (chunk % 2) * 2 + k / 16;
  return {k % 16, dx > 2 ? -1 : (chunk / 2) * 3 + dx};
}
Element same_element(int channels, int output, int chunk, int row, int k) {
  if (channels == 16) {
    const int dx = 2 * chunk + k / 16 - output;
    return {k % 16, dx < 0 || dx > 2 ? -1 : row * 3 + dx};
  }
  const int halves = channels / 32;
  return {(chunk % halves) * 32 + k, row * 3 + chunk / halves};
}

// Calls visit(k, column) for the elements of a right operand tile, in their order in memory.
template <class Visit>
void each_element(const Visit& visit) {
  for (int pair = 0; pair < 16; ++pair) {
    for (int column = 0; column < 16; ++column) {
      for (int e = 0; e < 2; ++e) visit(2 * pair + e, column);
    }
  }
}

// The index of the tiles of a Same kind; weight(output channel, element) is the weight of an element.
template <class Weight>
std::vector<std::int32_t> same_index(const Geometry& g, const Weight& weight) {
  std::vector<std::int32_t> index;
  for (int output = 0; output < g.outputs; ++output) {
    for (std::size_t chunk = 0; chunk < g.chunk_offset.size(); ++chunk) {
      for (int row = 0; row < 3; ++row) {
        each_element([&](int k, int column) {
          const Element e = same_element(g.in_channels, output, static_cast<int>(chunk), row, k);
          const int channel = g.in_channels == 16 ? column : output * 16 + column;
          index.push_back(e.tap < 0 ? -1 : weight(channel, e));
        });
      }
    }
  }
  return index;
}

}  // namespace

Geometry make_geometry(ConvKind kind, int input_channels) {
  Geometry g;
  g.kind = kind;
  const auto shape = [&g](int in, int out, int in_side, int out_side) {
    g.in_channels = in;
    g.out_channels = out;
    g.in_pixels = in_side * in_side;
    g.out_pixels = out_side * out_side;
    g.order = order_of(out_side);
  };
  switch (kind) {
    case ConvKind::kFirst:
      shape(input_channels, 16, 32, 32);
      // Neighbourhoods are gathered pixel by pixel; the pairs have the order of the output.
      g.pairs.runs.push_back({0, 512, 1, 0, 1, 512});
      g.pairs.positions = 512;
      g.grid.positions = 1024;
      break;
    case ConvKind::kSame16:
      shape(16, 16, 32, 32);
      g.grid = plain_grid(32);
      g.pairs = plain_pairs(32);
      break;
    case ConvKind::kDown16:
      shape(16, 32, 32, 16);
      g.grid = plain_grid(32);
      g.pairs = plain_pairs(32);
      break;
    case ConvKind::kSame32:
      shape(32, 32, 16, 16);
      g.grid = plain_grid(16);
      g.pairs = plain_pairs(16);
      break;
    case ConvKind::kDown32:
      shape(32, 64, 16, 8);
      g.grid = down32_grid();
      g.pairs = down32_pairs();
      break;
    case ConvKind::kSame64:
      shape(64, 64, 8, 8);
      g.grid = same64_grid();
      g.pairs = same64_pairs();
      break;
  }
  if (g.in_pixels == g.out_pixels && kind != ConvKind::kFirst) {
    set_same_offsets(g);
  } else {
    set_conv_offsets(g);
  }
  set_pair_offsets(g);
  return g;
}

std::int32_t middle_chunk(const Geometry& g) { return tap_position(g.kind, 1, 1) * 2 * g.in_channels; }

ImageConv image_conv(const Geometry& g, const GridSource& source, const Bf16* weights) {
  ImageConv conv{.source = source,
                 .run_end = g.grid.run_end.data(),
                 .weights = weights,
                 .chunk_offset = g.chunk_offset.data(),
                 .chunks = static_cast<int>(g.chunk_offset.size()),
                 .outputs = g.outputs,
                 .groups = g.out_channels / 16,
                 .strips = g.row_strips(),
                 .row_stride = g.row_stride,
                 .row_pitch = g.row_pitch};
  conv.source.runs = g.grid.runs.data();
  return conv;
}

UpGeometry make_up_geometry(ConvKind kind, bool projection, std::int32_t second_grid) {
  UpGeometry up;
  const bool large = kind == ConvKind::kDown16;  // 32x32 from 16x16, else 16x16 from 8x8
  const ConvKind grid = large ? ConvKind::kSame32 : ConvKind::kSame64;
  const int channels = large ? 32 : 64;  // of the operand
  const int halves = channels / 32, pixel = channels * 2;
  // An even pixel 2y is reached by tap 1 from y; an odd one by tap 2 from y and by tap 0 from y + 1.
  const auto reach = [](int parity) { return parity == 0 ? std::vector<int>{1} : std::vector<int>{2, 0}; };
  const auto add = [&](int position, std::int32_t base, int tap) {
    for (int half = 0; half < halves; ++half) {
      up.operand_offset.push_back(base + position * pixel + half * 64);
      up.weight_tile.push_back(tap * halves + half);
    }
  };
  for (int parity = 0; parity < 4; ++parity) {
    up.first_entry[parity] = static_cast<std::int32_t>(up.weight_tile.size());
    for (const int dy : reach(parity / 2)) {
      for (const int dx : reach(parity % 2)) {
        add(tap_position(grid, 1 + (dy == 0), 1 + (dx == 0)), 0, dy * 3 + dx);
      }
    }
    if (parity == 0 && projection) add(tap_position(grid, 1, 1), second_grid, 9);
  }
  up.first_entry[4] = static_cast<std::int32_t>(up.weight_tile.size());
  const int strips = large ? 16 : 4;
  for (int strip = 0; strip < strips; ++strip) {
    up.tile_offset.push_back(tap_position(grid, strip, 0) * pixel);
    std::vector<RowRun> runs;
    if (large) {
      runs.push_back({0, strip * 64, 64});
    } else {
      for (int row = 0; row < 64; row += 2) {
        const int py = row / 32, x = row % 32 / 4, h = row % 4 / 2;
        runs.push_back({row, (2 * (strip + 4 * h) + py) * 16 + 2 * x, 2});
      }
    }
    up.row_runs.push_back(std::move(runs));
  }
  return up;
}

std::vector<std::int32_t> forward_index(const Geometry& g, int kernel) {
  if (g.same()) {
    return same_index(g, [&g](int out, Element e) { return (out * g.in_channels + e.channel) * 9 + e.tap; });
  }
  const int taps = kernel * kernel;
  const int chunks = kernel == 1 ? 1 : static_cast<int>(g.chunk_offset.size());
  std::vector<std::int32_t> index;
  for (int tile = 0; tile < g.out_channels / 16; ++tile) {
    for (int chunk = 0; chunk < chunks; ++chunk) {
      each_element([&](int k, int column) {
        const int out = tile * 16 + column;
        std::int32_t at = -1;
        if (g.kind == ConvKind::kFirst) {
          const int tap = k / g.in_channels, channel = k % g.in_channels;
          if (tap < 9) at = (out * g.in_channels + channel) * 9 + tap;
        } else if (kernel == 1) {
          if (k < g.in_channels) at = out * g.in_channels + k;
        } else if (const Element e = down_element(g.in_channels, chunk, k); e.tap >= 0) {
          at = (out * g.in_channels + e.channel) * taps + e.tap;
        }
        index.push_back(at);
      });
    }
  }
  return index;
}

std::vector<std::int32_t> backward_index(const Geometry& g) {
  // The gradient passes through the kernel rotated by 180 degrees.
  return same_index(g, [&g](int in, Element e) { return (e.channel * g.in_channels + in) * 9 + 8 - e.tap; });
}

std::vector<std::int32_t> up_index(const Geometry& g, int kernel) {
  const int taps = kernel * kernel;
  std::vector<std::int32_t> index;
  for (int tile = 0; tile < g.in_channels / 16; ++tile) {
    for (int tap = 0; tap < taps; ++tap) {
      for (int half = 0; half < g.out_channels / 32; ++half) {
        each_element([&](int k, int column) {
          index.push_back(((half * 32 + k) * g.in_channels + tile * 16 + column) * taps + tap);
        });
      }
    }
  }
  return index;
}

std::vector<std::int32_t> gradient_index(const Geometry& g, int kernel) {
  const int taps = kernel * kernel, row_tiles = g.out_channels / 16;
  std::vector<std::int32_t> index;
  for (int out = 0; out < g.out_channels; ++out) {
    for (int in = 0; in < g.in_channels; ++in) {
      for (int tap = 0; tap < taps; ++tap) {
        // The first layer's columns are the gathered values.
        const int value = g.kind == ConvKind::kFirst ? tap * g.in_channels + in : in;
        const int column = g.kind == ConvKind::kFirst ? value / 16 : in / 16 * taps + tap;
        index.push_back((column * row_tiles + out / 16) * kTileFloats + (out % 16) * 16 + value % 16);
      }
    }
  }
  return index;
}

}  // namespace longtail::nn::amx
