// The backward passes of a training step. From the gradient at the output of a batch norm (through the ReLU,
// its sums known), a pass computes for every image the gradient at the convolution's output, its part of the
// weight gradient, and the gradient at the input through the ReLU there, with the sums for the next pass.
#include <algorithm>
#include <array>

#include "longtail/nn/amx/tile_backend.h"

namespace longtail::nn::amx {
namespace {

// Number of images whose weight gradients are summed together, so that the sums of 64 x 64 channels are not
// loaded and stored for every image.
int weight_group(const Geometry& g) { return g.out_channels == 64 ? Scratch::kGroup : 1; }

std::size_t pair_elements(const Geometry& g) {
  return static_cast<std::size_t>(g.pairs.positions * (g.kind == ConvKind::kFirst ? 32 : g.in_channels) * 2);
}

}  // namespace

void TileBackend::unpack_weights(const ConvUnit& unit, const float* sums, int first, int last,
                                 float* weights) {
  const auto size = static_cast<std::size_t>(unit.weight_size() / unit.out);
  const std::size_t from = static_cast<std::size_t>(first) * size;
  gather_floats(static_cast<std::size_t>(last - first) * size, layer_of(unit).gradient_index.data() + from,
                sums, weights + from);
}

void TileBackend::features_backward(const Slice<float>& slice, const float* gradients) {
  const RowRun all{0, 0, kStripPixels};
  for (int i = 0; i < slice.count(); ++i) {
    const int image = slice.image(i);
    fill_strip(gradients + std::ptrdiff_t{image} * kMaxChannels, 1.0f / kStripPixels,
               scratch(slice).sums.data());
    store_gradient(kMaxChannels, scratch(slice).sums.data(), &all, 1,
                   block_input_epilogue(network_.blocks.size(), image, slice));
  }
}

GridSource TileBackend::output_gradient(const Layer& layer, const Bf16* d, int image, Bf16* grid) {
  const Norm<float>& n = norm(layer);
  GridSource source{};
  source.form = GridSource::kBackward;
  source.channels = layer.unit.out;
  source.main = d;
  source.side = z(layer, image);
  source.main_scale = n.a;
  source.side_scale = n.b;
  source.main_shift = n.c;
  source.grid = grid;
  return source;
}

void TileBackend::transpose(const Layer& layer, const Bf16* grid, Bf16* transposed) const {
  const PixelOrder& order = layer.geometry->order;
  transpose_pixels(order.chunks(), order.first.data(), order.pair_distance, layer.unit.out, grid, transposed);
}

Bf16* TileBackend::block_gradient(std::size_t b, int image) {
  const auto i = static_cast<std::size_t>(image);
  if (b == network_.blocks.size()) return stage_gradient_[2].data() + i * 64 * 64;
  const TileBlock& block = network_.blocks[b];
  if (block.skip == Skip::kIdentity) return z(block.second, image);
  const std::size_t stage = block.first.geometry->kind == ConvKind::kDown16 ? 0 : 1;
  return stage_gradient_[stage].data() + i * static_cast<std::size_t>(block.first.in_elements());
}

void TileBackend::sum_weights(const Layer& layer, bool projection, int images, bool first,
                              const Slice<float>& slice) {
  const Geometry& g = *layer.geometry;
  const std::vector<std::int32_t>& columns = projection ? g.middle_column : g.pair_column;
  const WeightGradientShape shape{
      .chunk_offset = g.pair_chunk.data(),
      .chunks = g.order.chunks(),
      .column_offset = columns.data(),
      .columns = static_cast<int>(columns.size()),
      .row_tiles = g.out_channels / 16,
      .row_stride = g.pair_stride,
      .left_stride = layer.out_elements() * static_cast<std::ptrdiff_t>(sizeof(Bf16)),
      .right_stride = static_cast<std::ptrdiff_t>(pair_elements(g) * sizeof(Bf16))};
  const Buffer<Bf16>& left = projection ? scratch(slice).transposed_projection : scratch(slice).transposed;
  weight_gradient(shape, images, left.data(), scratch(slice).pair_grid(g.kind), first,
                  projection ? slice.projection_sums : slice.weight_sums);
}

void TileBackend::up_gradient(const TileBlock& block, const GradientEpilogue& epilogue, Scratch& scratch) {
  const Geometry& g = *block.first.geometry;
  const UpGeometry& up = network_.up(g.kind);
  const ConvKind grid = g.kind == ConvKind::kDown16 ? ConvKind::kSame32 : ConvKind::kSame64;
  const int taps = block.skip == Skip::kProjection ? 10 : 9;
  UpShape shape{.operand_offset = up.operand_offset.data(),
                .weight_tile = up.weight_tile.data(),
                .first_entry = {},
                .weight_tiles = taps * g.out_channels / 32,
                .column_tiles = g.in_channels / 16,
                .row_stride = network_.geometry(grid).row_stride};
  std::copy(std::begin(up.first_entry), std::end(up.first_entry), shape.first_entry);
  for (std::size_t strip = 0; strip < up.tile_offset.size(); ++strip) {
    const auto* operand = reinterpret_cast<const std::byte*>(scratch.grid(grid)) + up.tile_offset[strip];
    conv_up_strip(shape, operand, backward_weights_.data() + block.first.backward, scratch.sums.data());
    store_gradient(g.in_channels, scratch.sums.data(), up.row_runs[strip].data(),
                   static_cast<int>(up.row_runs[strip].size()), epilogue);
  }
}

// What is done with the gradient at the input of block b (or at the features), except for a skip connection.
GradientEpilogue TileBackend::block_input_epilogue(std::size_t b, int image, const Slice<float>& slice) {
  GradientEpilogue e{};
  const Layer& main = b == 0 ? network_.stem : network_.blocks[b - 1].second;
  e.mask = x(b, image);
  e.first = {z(main, image), norm(main).mean, slice.sums.sum[0], slice.sums.product[0]};
  if (b > 0 && network_.blocks[b - 1].skip == Skip::kProjection) {
    const Layer& side = network_.blocks[b - 1].projection;
    e.second = {z(side, image), norm(side).mean, slice.sums.sum[1], slice.sums.product[1]};
  }
  e.d = block_gradient(b, image);
  return e;
}

void TileBackend::second_backward(std::size_t b, const Slice<float>& slice) {
  const TileBlock& block = network_.blocks[b];
  const Layer& layer = block.second;
  const Geometry& g = *layer.geometry;
  const Norm<float>& n = norm(block.first);
  Scratch& s = scratch(slice);
  Bf16* grid = s.grid(g.kind);
  const auto elements = static_cast<std::size_t>(layer.out_elements());
  const int group = weight_group(g);
  for (int i = 0; i < slice.count(); ++i) {
    const int image = slice.image(i);
    const int place = i % group;
    const GridSource source = output_gradient(layer, block_gradient(b + 1, image), image, grid);
    const Bf16* z1 = z(block.first, image);
    GradientEpilogue e{};
    e.scale = n.scale;
    e.shift = n.shift;
    e.low = low(z1);
    e.first = {z1, n.mean, slice.sums.sum[0], slice.sums.product[0]};
    e.d = inner_gradient(block, image);
    ImageConv conv = image_conv(*layer.geometry, source, backward_weights_.data() + layer.backward);
    conv.prefetch = prefetch(slice, image, [&](int next) {
      return std::array{block_gradient(b + 1, next), z(layer, next), z(block.first, next)};
    });
    conv_gradient(conv, e);
    transpose(layer, grid, s.transposed.data() + static_cast<std::size_t>(place) * elements);
    interleave_normed(g.pairs.layout(), g.in_channels, z1, n.scale, n.shift,
                      s.pair_grid(g.kind) + static_cast<std::size_t>(place) * pair_elements(g));
    if (place + 1 < group && i + 1 < slice.count()) continue;
    sum_weights(layer, false, place + 1, i == place, slice);
  }
}

void TileBackend::first_backward(std::size_t b, const Slice<float>& slice) {
  const TileBlock& block = network_.blocks[b];
  const int group = weight_group(*block.first.geometry);
  for (int i = 0; i < slice.count(); ++i) {
    const int image = slice.image(i);
    const int place = i % group;
    first_image(b, image, place, slice);
    if (place + 1 < group && i + 1 < slice.count()) continue;
    const bool first = i == place;
    sum_weights(block.first, false, place + 1, first, slice);
    if (block.skip == Skip::kProjection) sum_weights(block.projection, true, place + 1, first, slice);
  }
}

void TileBackend::first_image(std::size_t b, int image, int place, const Slice<float>& slice) {
  const TileBlock& block = network_.blocks[b];
  const Layer& layer = block.first;
  const Geometry& g = *layer.geometry;
  const Geometry& out = *block.second.geometry;
  Scratch& s = scratch(slice);
  Bf16* grid = s.grid(out.kind);
  const std::size_t at = static_cast<std::size_t>(place) * static_cast<std::size_t>(layer.out_elements());
  const Bf16* d = block_gradient(b + 1, image);
  GridSource source = output_gradient(layer, inner_gradient(block, image), image, grid);
  GradientEpilogue e = block_input_epilogue(b, image, slice);
  if (block.skip == Skip::kIdentity) {
    e.skip = d;
    ImageConv conv = image_conv(*layer.geometry, source, backward_weights_.data() + layer.backward);
    conv.prefetch = prefetch(slice, image, [&](int next) {
      const GradientEpilogue to = block_input_epilogue(b, next, slice);
      return std::array{static_cast<const Bf16*>(inner_gradient(block, next)),
                        static_cast<const Bf16*>(z(layer, next)),
                        static_cast<const Bf16*>(block_gradient(b + 1, next)), to.mask, to.first.z};
    });
    conv_gradient(conv, e);
  } else {
    const int runs = static_cast<int>(out.grid.runs.size());
    source.runs = out.grid.runs.data();
    fill_grid(source, 0, runs);
    if (block.skip == Skip::kProjection) {
      Bf16* side_grid = grid + network_.grid_elements(out.kind);
      GridSource side = output_gradient(block.projection, d, image, side_grid);
      side.runs = source.runs;
      fill_grid(side, 0, runs);
      transpose(block.projection, side_grid, s.transposed_projection.data() + at);
    } else {
      pad_skip_gradient(g, d, s.skip_values.data());
      e.skip = s.skip_values.data();
    }
    up_gradient(block, e, s);
  }
  transpose(layer, grid, s.transposed.data() + at);
  interleave_pixels(g.pairs.layout(), g.in_channels, x(b, image),
                    s.pair_grid(g.kind) + static_cast<std::size_t>(place) * pair_elements(g));
}

void TileBackend::stem_backward(const Slice<float>& slice) {
  const Layer& layer = network_.stem;
  const Geometry& g = *layer.geometry;
  const Grid& to = network_.geometry(ConvKind::kSame16).grid;
  Scratch& s = scratch(slice);
  Bf16* grid = s.grid(ConvKind::kSame16);
  for (int i = 0; i < slice.count(); ++i) {
    const int image = slice.image(i);
    GridSource source = output_gradient(layer, block_gradient(0, image), image, grid);
    source.runs = to.runs.data();
    fill_grid(source, 0, static_cast<int>(to.runs.size()));
    transpose(layer, grid, s.transposed.data());
    gather_input(image, s);
    interleave_pixels(g.pairs.layout(), 32, s.grid(ConvKind::kFirst), s.pair_grid(ConvKind::kFirst));
    sum_weights(layer, false, 1, i == 0, slice);
  }
}

}  // namespace longtail::nn::amx
