// The forward passes of a training step.
#include <algorithm>
#include <array>
#include <cstring>

#include "longtail/nn/amx/tile_backend.h"

namespace longtail::nn::amx {

void TileBackend::convolve(const Layer& layer, const Bf16* grid, int image, int which,
                           const Slice<float>& slice) {
  const Geometry& g = *layer.geometry;
  const std::int32_t middle = middle_chunk(g);
  const bool small = layer.unit.kernel == 1;
  const ConvShape shape{
      .chunk_offset = small ? &middle : g.chunk_offset.data(),
      .chunks = small ? 1 : static_cast<int>(g.chunk_offset.size()),
      .column_tiles = g.out_channels / 16,
      .row_stride = g.row_stride,
      .low_operand = static_cast<std::ptrdiff_t>(network_.grid_elements(g.kind) * sizeof(Bf16))};
  Bf16* out = z(layer, image);
  float* sums = scratch(slice).sums.data();
  for (int strip = 0; strip < g.strips(); ++strip, out += kStripPixels * g.out_channels) {
    conv_strip(shape, grid, g.tile_offset.data() + 4 * strip, forward_weights_.data() + layer.forward,
               low_weights(layer), sums);
    store_statistics(g.out_channels, sums, out, low(out), slice.sums.sum[which], slice.sums.product[which]);
  }
}

void TileBackend::convolve_same(const Layer& layer, ImageConv& conv, int image, const Slice<float>& slice) {
  Bf16* out = z(layer, image);
  double* sum = slice.sums.sum[0];
  double* square = slice.sums.product[0];
  if (!fine_) return conv_statistics(conv, out, sum, square);
  conv.low_weights = low_weights(layer);
  conv.prefetch_low = lows(conv.prefetch);
  conv_statistics_parts(conv, out, low(out), sum, square);
}

void TileBackend::stem_forward(const Slice<float>& slice) {
  Bf16* grid = scratch(slice).grid(ConvKind::kFirst);
  for (int i = 0; i < slice.count(); ++i) {
    const int image = slice.image(i);
    gather_input(image, scratch(slice));
    convolve(network_.stem, grid, image, 0, slice);
  }
}

GridSource TileBackend::block_input(std::size_t b, int image, Scratch& scratch) {
  GridSource source{};
  const Layer& main = b == 0 ? network_.stem : network_.blocks[b - 1].second;
  source.form = GridSource::kNorm;
  source.channels = main.unit.out;
  source.main = z(main, image);
  source.main_low = low(source.main);
  source.main_scale = norm(main).scale;
  source.main_shift = norm(main).shift;
  source.image = x(b, image);
  source.image_low = low(source.image);
  if (b == 0) return source;
  const TileBlock& previous = network_.blocks[b - 1];
  if (previous.skip == Skip::kProjection) {
    source.form = GridSource::kNormNorm;
    source.side = z(previous.projection, image);
    source.side_low = low(source.side);
    source.side_scale = norm(previous.projection).scale;
    source.side_shift = norm(previous.projection).shift;
    return source;
  }
  source.form = GridSource::kNormSkip;
  source.side = x(b - 1, image);
  source.side_low = low(source.side);
  if (previous.skip == Skip::kPad) {
    pad_skip(*previous.first.geometry, source.side, Bf16{0}, scratch.skip_values.data());
    source.side = scratch.skip_values.data();
    if (!fine_) return source;
    pad_skip(*previous.first.geometry, source.side_low, kZeroLow, scratch.skip_values_low.data());
    source.side_low = scratch.skip_values_low.data();
  }
  return source;
}

void TileBackend::first_forward(std::size_t b, const Slice<float>& slice) {
  const TileBlock& block = network_.blocks[b];
  const Geometry& g = *block.first.geometry;
  for (int i = 0; i < slice.count(); ++i) {
    const int image = slice.image(i);
    GridSource source = block_input(b, image, scratch(slice));
    source.grid = scratch(slice).grid(g.kind);
    source.grid_low = grid_low(g.kind, scratch(slice));
    source.runs = g.grid.runs.data();
    if (g.same()) {
      ImageConv conv =
          image_conv(*block.first.geometry, source, forward_weights_.data() + block.first.forward);
      conv.prefetch = prefetch(slice, image, [&](int next) {
        const Layer& main = b == 0 ? network_.stem : network_.blocks[b - 1].second;
        const bool projected = b > 0 && network_.blocks[b - 1].skip == Skip::kProjection;
        const Bf16* side =
            projected ? z(network_.blocks[b - 1].projection, next) : x(b == 0 ? 0 : b - 1, next);
        return std::array<const Bf16*, 4>{z(main, next), side, x(b, next), z(block.first, next)};
      });
      convolve_same(block.first, conv, image, slice);
      continue;
    }
    fill_grid(source, 0, static_cast<int>(g.grid.runs.size()));
    convolve(block.first, source.grid, image, 0, slice);
    if (block.skip == Skip::kProjection) convolve(block.projection, source.grid, image, 1, slice);
  }
}

void TileBackend::second_forward(std::size_t b, const Slice<float>& slice) {
  const TileBlock& block = network_.blocks[b];
  const Layer& layer = block.second;
  const Norm<float>& n = norm(block.first);
  GridSource source{};
  source.form = GridSource::kNorm;
  source.channels = layer.unit.in;
  source.main_scale = n.scale;
  source.main_shift = n.shift;
  source.grid = scratch(slice).grid(layer.geometry->kind);
  source.grid_low = grid_low(layer.geometry->kind, scratch(slice));
  for (int i = 0; i < slice.count(); ++i) {
    const int image = slice.image(i);
    source.main = z(block.first, image);
    source.main_low = low(source.main);
    ImageConv conv = image_conv(*layer.geometry, source, forward_weights_.data() + layer.forward);
    conv.prefetch = prefetch(slice, image, [&](int next) {
      return std::array{z(block.first, next), z(layer, next)};
    });
    convolve_same(layer, conv, image, slice);
  }
}

void TileBackend::features_forward(const Slice<float>& slice, float* features) {
  const PixelRun all{0, 1, 0, 1, kStripPixels};
  const std::size_t behind = network_.blocks.size();
  for (int i = 0; i < slice.count(); ++i) {
    const int image = slice.image(i);
    GridSource source = block_input(behind, image, scratch(slice));
    source.grid = scratch(slice).values.data();
    if (fine_) source.grid_low = scratch(slice).inner_values.data();
    source.runs = &all;
    fill_grid(source, 0, 1);
    mean_pixels(x(behind, image), low(x(behind, image)), features + std::ptrdiff_t{image} * kMaxChannels);
  }
}

namespace {

// The even pixels of the large image and their places in the small one, where the channels of the large image
// lie in the middle, with added channels on both sides.
template <class Visit>
void each_kept_pixel(const Geometry& g, const Visit& visit) {
  const int side = g.kind == ConvKind::kDown16 ? 16 : 8;
  const int first_channel = (g.out_channels - g.in_channels) / 2;
  for (int y = 0; y < side; ++y) {
    for (int x = 0; x < side; ++x) {
      const int small = side == 8 ? interleaved8(y, x) : y * side + x;
      visit((2 * y * 2 * side + 2 * x) * g.in_channels, small * g.out_channels + first_channel);
    }
  }
}

}  // namespace

template <class Value>
void pad_skip(const Geometry& g, const Value* x, Value zero, Value* skip) {
  std::fill_n(skip, g.out_pixels * g.out_channels, zero);
  const std::size_t bytes = static_cast<std::size_t>(g.in_channels) * sizeof(Value);
  each_kept_pixel(g, [&](int large, int small) { std::memcpy(skip + small, x + large, bytes); });
}
template void pad_skip(const Geometry& g, const Bf16* x, Bf16 zero, Bf16* skip);
template void pad_skip(const Geometry& g, const LowBits* x, LowBits zero, LowBits* skip);

void pad_skip_gradient(const Geometry& g, const Bf16* d, Bf16* gradient) {
  std::memset(gradient, 0, static_cast<std::size_t>(g.in_pixels * g.in_channels) * sizeof(Bf16));
  const std::size_t bytes = static_cast<std::size_t>(g.in_channels) * sizeof(Bf16);
  each_kept_pixel(g, [&](int large, int small) { std::memcpy(gradient + large, d + small, bytes); });
}

}  // namespace longtail::nn::amx
