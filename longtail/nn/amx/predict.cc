// Prediction: batch norm folded into weights and biases; an image goes through the whole network on one
// worker, never leaving its cache.
#include "longtail/nn/amx/tile_backend.h"

namespace longtail::nn::amx {

void TileBackend::predict_same(const Layer& layer, const Bf16* in, const Bf16* skip, Bf16* out,
                               Scratch& scratch) {
  GridSource source{};
  source.form = GridSource::kCopy;
  source.channels = layer.unit.in;
  source.main = in;
  source.grid = scratch.grid(layer.geometry->kind);
  conv_activation(image_conv(*layer.geometry, source, forward_weights_.data() + layer.forward),
                  norm(layer).shift, skip, out);
}

void TileBackend::predict_other(const Layer& layer, const Bf16* grid, bool relu, Bf16* out,
                                Scratch& scratch) {
  const Geometry& g = *layer.geometry;
  const std::int32_t middle = middle_chunk(g);
  const bool small = layer.unit.kernel == 1;
  const ConvShape shape{.chunk_offset = small ? &middle : g.chunk_offset.data(),
                        .chunks = small ? 1 : static_cast<int>(g.chunk_offset.size()),
                        .column_tiles = g.out_channels / 16,
                        .row_stride = g.row_stride};
  for (int strip = 0; strip < g.strips(); ++strip) {
    conv_strip(shape, grid, g.tile_offset.data() + 4 * strip, forward_weights_.data() + layer.forward,
               nullptr, scratch.sums.data());
    store_activation(g.out_channels, scratch.sums.data(), norm(layer).shift, relu,
                     out + strip * kStripPixels * g.out_channels);
  }
}

void TileBackend::predict_block(std::size_t b, const Slice<float>& slice) {
  const TileBlock& block = network_.blocks[b];
  Scratch& s = scratch(slice);
  Bf16* x = s.values.data();
  Bf16* inner = s.inner_values.data();
  Bf16* side = s.skip_values.data();
  if (block.skip == Skip::kIdentity) {
    predict_same(block.first, x, nullptr, inner, s);
    predict_same(block.second, inner, x, x, s);
    return;
  }
  const Geometry& g = *block.first.geometry;
  GridSource source{};
  source.form = GridSource::kCopy;
  source.channels = g.in_channels;
  source.main = x;
  source.grid = s.grid(g.kind);
  source.runs = g.grid.runs.data();
  fill_grid(source, 0, static_cast<int>(g.grid.runs.size()));
  predict_other(block.first, source.grid, true, inner, s);
  if (block.skip == Skip::kProjection) {
    predict_other(block.projection, source.grid, false, side, s);
  } else {
    pad_skip(g, x, Bf16{0}, side);
  }
  predict_same(block.second, inner, side, x, s);
}

void TileBackend::predict_stem(const Slice<float>& slice) {
  Scratch& s = scratch(slice);
  gather_input(slice.first, s);
  predict_other(network_.stem, s.grid(ConvKind::kFirst), true, s.values.data(), s);
}

void TileBackend::predict_features(const Slice<float>& slice, float* features) {
  mean_pixels(scratch(slice).values.data(), nullptr, features + std::ptrdiff_t{slice.first} * kMaxChannels);
}

}  // namespace longtail::nn::amx
