#include "longtail/nn/amx/network.h"

namespace longtail::nn::amx {
namespace {

ConvKind kind_of(const ConvUnit& unit) {
  if (unit.in < 16) return ConvKind::kFirst;
  if (unit.stride == 2) return unit.in == 16 ? ConvKind::kDown16 : ConvKind::kDown32;
  return unit.in == 16 ? ConvKind::kSame16 : unit.in == 32 ? ConvKind::kSame32 : ConvKind::kSame64;
}

void append(std::vector<std::int32_t>& index, const std::vector<std::int32_t>& part, std::int64_t offset,
            std::size_t first, std::size_t count) {
  for (std::size_t i = first; i < first + count; ++i) {
    index.push_back(part[i] < 0 ? -1 : part[i] + static_cast<std::int32_t>(offset));
  }
}

}  // namespace

TileNetwork::TileNetwork(const ResNetSpec& spec) {
  for (int kind = 0; kind < kKinds; ++kind) {
    geometries_[static_cast<std::size_t>(kind)] = make_geometry(static_cast<ConvKind>(kind), spec.channels);
  }
  const bool projection = spec.shortcut == Shortcut::kProjection;
  up16_ = make_up_geometry(ConvKind::kDown16, projection,
                           static_cast<int>(grid_elements(ConvKind::kSame32) * sizeof(Bf16)));
  up32_ = make_up_geometry(ConvKind::kDown32, projection,
                           static_cast<int>(grid_elements(ConvKind::kSame64) * sizeof(Bf16)));

  const NetworkPlan plan = network_plan(spec);
  stem = layer(plan.stem, ConvKind::kFirst);
  for (const BlockPlan& b : plan.blocks) {
    TileBlock block;
    block.skip = b.skip;
    block.first = layer(b.first, kind_of(b.first));
    block.second = layer(b.second, kind_of(b.second));
    if (b.skip == Skip::kProjection) block.projection = layer(b.projection, kind_of(b.first));
    if (b.skip != Skip::kIdentity) append_up(block);
    blocks.push_back(std::move(block));
  }
  layers.resize(static_cast<std::size_t>(plan.units));
  const auto list = [this](const Layer& layer) {
    layers[static_cast<std::size_t>(layer.unit.index)] = &layer;
  };
  list(stem);
  for (const TileBlock& block : blocks) {
    list(block.first);
    list(block.second);
    if (block.skip == Skip::kProjection) list(block.projection);
  }
}

std::size_t TileNetwork::grid_elements(ConvKind kind) const {
  const Geometry& g = geometry(kind);
  return static_cast<std::size_t>(g.grid.positions) * (kind == ConvKind::kFirst ? 32 : g.in_channels);
}

Layer TileNetwork::layer(const ConvUnit& unit, ConvKind kind) {
  Layer layer;
  layer.unit = unit;
  layer.geometry = &geometry(kind);
  layer.forward = forward_index.size();
  layer.backward = backward_index.size();
  const auto forward = amx::forward_index(*layer.geometry, unit.kernel);
  append(forward_index, forward, unit.weight, 0, forward.size());
  if (kind == ConvKind::kSame16 || kind == ConvKind::kSame32 || kind == ConvKind::kSame64) {
    const auto backward = amx::backward_index(*layer.geometry);
    append(backward_index, backward, unit.weight, 0, backward.size());
  }
  layer.gradient_index = amx::gradient_index(*layer.geometry, unit.kernel);
  return layer;
}

// Tiles [input tile][3x3 taps, then the projection's].
void TileNetwork::append_up(TileBlock& block) {
  const Geometry& g = *block.first.geometry;
  block.first.backward = backward_index.size();
  const auto main = up_index(g, 3);
  const auto side = up_index(g, 1);
  const std::size_t columns = static_cast<std::size_t>(g.in_channels) / 16;
  for (std::size_t c = 0; c < columns; ++c) {
    append(backward_index, main, block.first.unit.weight, c * (main.size() / columns), main.size() / columns);
    if (block.skip != Skip::kProjection) continue;
    append(backward_index, side, block.projection.unit.weight, c * (side.size() / columns),
           side.size() / columns);
  }
}

}  // namespace longtail::nn::amx
