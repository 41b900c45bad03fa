#include "longtail/nn/amx/tile_backend.h"

#include <algorithm>

#include "longtail/data/layout.h"

namespace longtail::nn {
namespace amx {

TileBackend::TileBackend(const ResNetSpec& spec, int max_batch, int workers, AmxPrecision precision)
    : channels_(spec.channels),
      fine_(precision == AmxPrecision::kFine),
      max_batch_(max_batch),
      network_(spec) {
  for (int worker = 0; worker < workers; ++worker) scratch_.emplace_back(network_);
  forward_weights_ = Buffer<Bf16>(network_.forward_index.size());
  if (fine_) forward_low_weights_ = Buffer<Bf16>(network_.forward_index.size());
  backward_weights_ = Buffer<Bf16>(network_.backward_index.size());
}

void TileBackend::allocate_training() {
  if (activations_.size() > 0) return;
  const auto batch = static_cast<std::size_t>(max_batch_);
  std::size_t total = 0;
  const auto take = [&](int elements) {
    const std::size_t offset = total;
    total += batch * static_cast<std::size_t>(elements);
    return offset;
  };
  z_offset_.resize(network_.layers.size());
  const auto take_z = [&](const Layer& layer) {
    z_offset_[static_cast<std::size_t>(layer.unit.index)] = take(layer.out_elements());
  };
  take_z(network_.stem);
  for (const TileBlock& block : network_.blocks) {
    x_offset_.push_back(take(block.first.in_elements()));
    take_z(block.first);
    take_z(block.second);
    if (block.skip == Skip::kProjection) take_z(block.projection);
  }
  x_offset_.push_back(take(network_.blocks.back().second.out_elements()));
  activations_ = Buffer<Bf16>(total);
  if (fine_) lows_ = Buffer<LowBits>(total);
  stage_gradient_[0] = Buffer<Bf16>(batch * 1024 * 16);
  stage_gradient_[1] = Buffer<Bf16>(batch * 256 * 32);
  stage_gradient_[2] = Buffer<Bf16>(batch * 64 * 64);
}

void TileBackend::gather_input(int image, Scratch& s) {
  const void* pixels =
      static_cast<const std::byte*>(step_.images) +
      static_cast<std::size_t>(image) * data::bytes_per_image(input_layout(), {channels_, 32});
  if (fine_) {
    pad_float_input(channels_, static_cast<const float*>(pixels), s.padded.data(), s.padded_low.data());
    gather_neighbours(channels_, s.padded_low.data(), grid_low(ConvKind::kFirst, s));
  } else {
    pad_input(channels_, static_cast<const Bf16*>(pixels), s.padded.data());
  }
  gather_neighbours(channels_, s.padded.data(), s.grid(ConvKind::kFirst));
}
Bf16* TileBackend::z(const Layer& layer, int image) {
  return activations_.data() + z_offset_[static_cast<std::size_t>(layer.unit.index)] +
         static_cast<std::size_t>(image) * static_cast<std::size_t>(layer.out_elements());
}
Bf16* TileBackend::x(std::size_t b, int image) {
  const bool behind = b == network_.blocks.size();
  const int elements =
      behind ? network_.blocks.back().second.out_elements() : network_.blocks[b].first.in_elements();
  return activations_.data() + x_offset_[b] +
         static_cast<std::size_t>(image) * static_cast<std::size_t>(elements);
}

std::size_t TileBackend::weight_sums(const ConvUnit& unit) const {
  const Geometry& g = *layer_of(unit).geometry;
  const std::size_t columns =
      unit.kernel == 1 ? static_cast<std::size_t>(g.in_channels) / 16 : g.pair_column.size();
  return columns * static_cast<std::size_t>(g.out_channels / 16) * kTileFloats;
}

void TileBackend::on_worker(const std::function<void()>& body) {
  const TileScope tiles;
  body();
}

namespace {

constexpr std::size_t kPackPiece = 16 * kTileElements;
int pack_pieces_of(std::size_t size) { return static_cast<int>((size + kPackPiece - 1) / kPackPiece); }

}  // namespace

int TileBackend::pack_pieces(Packing packing) const {
  const int forward = pack_pieces_of(network_.forward_index.size());
  return packing == Packing::kPrediction ? forward : forward + pack_pieces_of(network_.backward_index.size());
}

void TileBackend::pack(Packing packing, int piece, int, std::span<const float> parameters) {
  const int forward_pieces = pack_pieces_of(network_.forward_index.size());
  const bool forward = piece < forward_pieces;
  const auto& from = forward ? network_.forward_index : network_.backward_index;
  Bf16* to = forward ? forward_weights_.data() : backward_weights_.data();
  const std::size_t first = static_cast<std::size_t>(forward ? piece : piece - forward_pieces) * kPackPiece;
  const std::size_t count = std::min(kPackPiece, from.size() - first);
  gather_bf16(count, from.data() + first, parameters.data(), to + first);
  if (fine_ && forward && packing == Packing::kTraining) {
    gather_bf16_low(count, from.data() + first, parameters.data(), forward_low_weights_.data() + first);
  }
}

}  // namespace amx

namespace {

template <AmxPrecision kPrecision>
std::unique_ptr<Backend<float>> make_tiles(const ResNetSpec& spec, int max_batch, int workers) {
  return std::make_unique<amx::TileBackend>(spec, max_batch, workers, kPrecision);
}

}  // namespace

std::unique_ptr<Backend<float>> make_amx_backend(const ResNetSpec& spec, int max_batch, int workers) {
  return make_tiles<AmxPrecision::kBf16>(spec, max_batch, workers);
}
std::unique_ptr<Backend<float>> make_amx_fine_backend(const ResNetSpec& spec, int max_batch, int workers) {
  return make_tiles<AmxPrecision::kFine>(spec, max_batch, workers);
}

}  // namespace longtail::nn
