// Prediction: batch norm folded into weights and biases; an image goes through the whole network on one
// worker, never leaving its cache.
#include <cstring>

#include "longtail/nn/amx/engine_impl.h"

namespace longtail::nn::amx {

// Multiplies every convolution's weights by its batch norm's scale and packs them; the shifts stay in the
// norms.
void AmxEngine::fold(std::span<const float> parameters, std::span<const float> buffers) {
  folded_.assign(parameters.begin(), parameters.end());
  const auto fold_layer = [&](const Layer& layer) {
    Norm& n = norm(layer);
    n.from_running(layer, parameters, buffers);
    const std::int64_t size = layer.unit.weight_size() / layer.unit.out;
    for (int out = 0; out < layer.unit.out; ++out) {
      float* w = folded_.data() + layer.unit.weight + out * size;
      for (std::int64_t i = 0; i < size; ++i) w[i] *= n.scale[out];
    }
  };
  fold_layer(network_.stem);
  for (const Block& block : network_.blocks) {
    fold_layer(block.first);
    fold_layer(block.second);
    if (block.skip == Skip::kProjection) fold_layer(block.projection);
  }
  begin(folded_, {});
}

void AmxEngine::predict_same(const Layer& layer, const Bf16* in, const Bf16* skip, Bf16* out,
                             Scratch& scratch) {
  GridSource source{};
  source.form = GridSource::kCopy;
  source.channels = layer.unit.in;
  source.a = in;
  source.grid = scratch.grid(layer.geometry->kind);
  conv_activation(image_conv(*layer.geometry, source, forward_weights_.data() + layer.forward),
                  norm(layer).shift, skip, out);
}

void AmxEngine::predict_other(const Layer& layer, const Bf16* grid, bool relu, Bf16* out, Scratch& scratch) {
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

void AmxEngine::predict_block(const Block& block, Bf16* x, Scratch& s) {
  Bf16* inner = s.values2.data();
  Bf16* side = s.values3.data();
  if (block.skip == Skip::kIdentity) {
    predict_same(block.first, x, nullptr, inner, s);
    predict_same(block.second, inner, x, x, s);
    return;
  }
  const Geometry& g = *block.first.geometry;
  GridSource source{};
  source.form = GridSource::kCopy;
  source.channels = g.in_channels;
  source.a = x;
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

void AmxEngine::predict_image(const Batch& batch, int image, std::span<const float> parameters, float* logits,
                              Scratch& s) {
  Bf16* x = s.values.data();
  gather_input(batch, image, s);
  predict_other(network_.stem, s.grid(Kind::kFirst), true, x, s);
  for (const Block& block : network_.blocks) predict_block(block, x, s);
  alignas(64) float features[kMaxChannels];
  mean_pixels(x, nullptr, features);
  linear_forward(spec_.classes, parameters.data() + network_.linear_weight,
                 parameters.data() + network_.linear_bias, features, logits);
}

void AmxEngine::predict(std::span<const float> parameters, std::span<const float> buffers, const Batch& batch,
                        std::span<float> logits) {
  check_batch(spec_, batch, max_batch_, false);
  fold(parameters, buffers);
  constexpr int kPiece = 4;
  pool_.run((batch.size + kPiece - 1) / kPiece, [&](int piece, int worker) {
    const TileScope tiles;
    Scratch& scratch = scratch_[static_cast<std::size_t>(worker)];
    for (int image = piece * kPiece; image < std::min(batch.size, (piece + 1) * kPiece); ++image) {
      predict_image(batch, image, parameters,
                    logits.data() + static_cast<std::size_t>(image) * static_cast<std::size_t>(spec_.classes),
                    scratch);
    }
  });
}

}  // namespace longtail::nn::amx
