// A ResNet as the tiles see it: its convolutions with their geometry, where their packed weights lie
// and from which parameters they come.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "longtail/nn/amx/geometry.h"
#include "longtail/nn/resnet.h"

namespace longtail::nn::amx {

// A convolution and its batch norm.
struct Layer {
  ConvUnit unit;
  const Geometry* geometry = nullptr;  // for a projection, of the 3x3 convolution next to it
  std::size_t forward = 0;             // where its tiles begin in the packed arrays
  std::size_t backward = 0;
  std::vector<std::int32_t> gradient_index;  // from gradient_index() in geometry.h, for its weights

  int out_elements() const { return geometry->out_pixels * geometry->out_channels; }
  int in_elements() const { return geometry->in_pixels * geometry->in_channels; }
};

struct TileBlock {
  Layer first;
  Layer second;
  Layer projection;  // only with Skip::kProjection
  Skip skip = Skip::kIdentity;
};

class TileNetwork {
 public:
  explicit TileNetwork(const ResNetSpec& spec);
  TileNetwork(const TileNetwork&) = delete;
  TileNetwork& operator=(const TileNetwork&) = delete;

  const Geometry& geometry(ConvKind kind) const { return geometries_[static_cast<std::size_t>(kind)]; }
  const UpGeometry& up(ConvKind kind) const { return kind == ConvKind::kDown16 ? up16_ : up32_; }
  // Elements of the grid of a kind; the gradient of a projection lies on a second grid after it.
  std::size_t grid_elements(ConvKind kind) const;

  Layer stem;
  std::vector<TileBlock> blocks;
  std::vector<const Layer*> layers;  // by the index of their unit

  // For every element of the packed arrays its parameter, or -1.
  std::vector<std::int32_t> forward_index;
  std::vector<std::int32_t> backward_index;

 private:
  Layer layer(const ConvUnit& unit, ConvKind kind);
  void append_up(TileBlock& block);

  std::array<Geometry, kKinds> geometries_;
  UpGeometry up16_;
  UpGeometry up32_;
};

}  // namespace longtail::nn::amx
